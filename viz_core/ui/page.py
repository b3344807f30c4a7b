"""A page: its scenes as steps, one at a time, addressable in the link (`?scene=ID`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pandas as pd
import streamlit as st

from viz_core.i18n import Lang, t, terms
from viz_core.ui import language, link, shell, style, watch, workbench
from viz_core.ui.registry import PAGES, page_of
from viz_core.ui.render import body
from viz_core.ui.scene import Scene

GLOBAL = ("lang", "scene", *workbench.NAMES, style.PRESENT.name)


def show(script: str, scenes: list[Scene]) -> None:
    """What every page script calls, with its own `__file__` and its scenes."""
    if not shell.active():
        shell.main()
        return
    page = page_of(script)
    lang = language.current()
    index = _chosen(page.id, [s.id for s in scenes])
    scene = scenes[index]
    bench, problem = workbench.current(lang)
    common = shared(scenes)
    link.carry(common)
    link.prune((*GLOBAL, *common, *(p.name for p in scene.params)))
    _heading(scene, scenes, index, lang)
    if problem is not None and scene.bench:
        st.warning(problem.text(lang), icon=":material/error:")
        st.text(t("shell.showing", lang, model=bench.model, prompt=_short(bench.prompt)))
    body(scene, lang, bench)
    if page is PAGES[0]:
        _pages(lang)


def shared(scenes: Iterable[Scene]) -> tuple[str, ...]:
    """Names of the controls that several scenes have: they stay in the link while others are shown, so that a walk
    past those does not lose them.
    """
    counts = Counter(name for scene in scenes for name in {param.name for param in scene.params})
    return tuple(name for name, count in counts.items() if count > 1)


def _pages(lang: Lang) -> None:
    """From Home on: every other page with one line on what it shows."""
    st.subheader(t("shell.pages", lang), anchor=False)
    for place, other in list(zip(shell.pages(lang), PAGES, strict=True))[1:]:
        st.page_link(place, label=f"**{place.title}**", icon=other.icon)
        st.caption(t(f"page.{other.id}.help", lang))
    with st.expander(t("shell.terms", lang)):
        columns = {language.NAMES[code]: [getattr(term, code) for term in terms()] for code in ("zh", "en")}
        st.dataframe(pd.DataFrame(columns), hide_index=True, width="content", key="terms")


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _chosen(page: str, ids: list[str]) -> int:
    """The scene of the link, else the one last seen on this page, else the first."""
    memory = f"scene.{page}"
    asked = link.text("scene")
    name = asked if asked in ids else st.session_state.get(memory, ids[0])
    index = ids.index(name) if name in ids else 0
    _go(page, ids, index)
    return index


def _go(page: str, ids: list[str], index: int) -> None:
    st.session_state[f"scene.{page}"] = ids[index]
    link.put("scene", ids[index], None if len(ids) > 1 else ids[0])


def _turn(page: str, ids: list[str], index: int) -> None:
    link.drop_step()
    _go(page, ids, index)


def _heading(scene: Scene, scenes: list[Scene], index: int, lang: Lang) -> None:
    """Title, step k / n, the two arrows; on a phone also the prompt, whose sidebar is out of sight there."""
    with st.container(key="heading", horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(t(f"{scene.table}.title", lang), anchor=False, width="content")
        with st.container(key="steps", horizontal=True, vertical_alignment="center", width="content", gap="small"):
            if len(scenes) > 1:
                _steps(scene, [s.id for s in scenes], index, lang)
            if scene.bench and watch.narrow():
                with st.popover(t("workbench.open", lang), icon=":material/edit:"):
                    workbench.draw(lang, "page")


def _steps(scene: Scene, ids: list[str], index: int, lang: Lang) -> None:
    st.markdown(t("shell.step", lang, k=index + 1, n=len(ids)), width="content")
    for name, icon, to in (("back", "chevron_left", index - 1), ("next", "chevron_right", index + 1)):
        st.button("", key=f"scene.{name}", icon=f":material/{icon}:", help=t(f"shell.{name}", lang),
                  disabled=not 0 <= to < len(ids), on_click=_turn, args=(scene.page, ids, to))


