"""The workbench: the model, the prompt and the seed that the reader carries from page to page."""

from __future__ import annotations

import streamlit as st

from viz_core.i18n import Lang, Problem, t
from viz_core.ui import cached, controls
from viz_core.ui.hosted import limits
from viz_core.ui.params import Choice, Fixed, Line, Whole
from viz_core.ui.scene import Bench

GOOD = "workbench.good"
NAMES = ("model", "prompt", "seed")


def params(lang: Lang) -> tuple[Fixed, ...]:
    """The workbench's controls; the default prompt is in the reader's first language."""
    return (
        Choice("model", cached.model_names(), cached.model_names()[0]),
        Line("prompt", t("workbench.prompt", lang), longest=limits().prompt_chars, rows=3),
        Whole("seed", 0, 99, 0),
    )


def check(bench: Bench) -> None:
    """Problem where the prompt is empty or longer than the model can read."""
    if not bench.prompt.strip():
        raise Problem("prompt_empty")
    n, most = len(cached.tokens(bench.model, bench.prompt)), cached.context(bench.model)
    if n > most:
        raise Problem("prompt_long", tokens=n, most=most)


def sidebar(lang: Lang) -> None:
    """The controls in the sidebar, with the line on privacy where the server is public."""
    st.markdown(f"**{t('workbench.title', lang)}**")
    draw(lang, "side")
    if limits().hosted:
        st.caption(t("workbench.privacy", lang))


def draw(lang: Lang, scope: str) -> None:
    """The workbench's controls; on a phone they also open from the page."""
    for param in params(lang):
        controls.draw(param, lang, f"bench.{scope}")


def current(lang: Lang) -> tuple[Bench, Problem | None]:
    """The workbench in use; with a bad prompt the last good one, and what is wrong with the new one."""
    model, prompt, seed = (controls.value_of(p) for p in params(lang))
    bench = Bench(model, prompt, seed)
    try:
        check(bench)
    except Problem as problem:
        first = Bench(cached.model_names()[0], t("workbench.prompt", lang), seed)
        return st.session_state.get(GOOD, first), problem
    st.session_state[GOOD] = bench
    return bench, None
