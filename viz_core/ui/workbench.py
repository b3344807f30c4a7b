"""The workbench: the model, the prompt and the seed that the reader carries from page to page."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from viz_core.i18n import Lang, Problem, t
from viz_core.model.notes import shown
from viz_core.ui import cached, controls, link, models
from viz_core.ui.hosted import limits
from viz_core.ui.params import Choice, Fixed, Line, Whole
from viz_core.ui.scene import Bench

GOOD = "workbench.good"
NAMES = ("model", "prompt", "seed", models.PRECISION.name, models.WHERE.name)


def _model() -> Choice:
    return Choice("model", models.options(), models.options()[0], listed=True)


def _more(lang: Lang) -> tuple[Fixed, ...]:
    return (
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
    _tell_missing(lang)  # before the controls drop what they do not know
    st.markdown(f"**{t('workbench.title', lang)}**")
    draw(lang, "side")
    if limits().hosted:
        st.caption(t("workbench.privacy", lang))


def draw(lang: Lang, scope: str) -> None:
    """The workbench's controls; on a phone they also open from the page."""
    scope = f"bench.{scope}"
    option = controls.draw(_model(), lang, scope)
    if option == models.PATH:
        controls.draw(models.WHERE, lang, scope)
    if option != "bundled":
        controls.draw(models.PRECISION, lang, scope)
        models.panel(option, lang)
    for param in _more(lang):
        controls.draw(param, lang, scope)


def current(lang: Lang) -> tuple[Bench, Problem | None]:
    """The workbench in use; with a bad prompt the last good one, and what is wrong with the new one."""
    model = models.spec(*(controls.value_of(p) for p in (_model(), models.PRECISION, models.WHERE)))
    prompt, seed = (controls.value_of(p) for p in _more(lang))
    bench = Bench(model, prompt, seed, lang)
    try:
        check(bench)
    except Problem as problem:
        first = Bench(models.options()[0], t("workbench.prompt", lang), seed, lang)
        return _nearest(bench, st.session_state.get(GOOD, first)), problem
    st.session_state[GOOD] = bench
    return bench, None


def _tell_missing(lang: Lang) -> None:
    """Say, for a moment, that the link names a model that this server does not offer."""
    named = link.text("model")
    if named is not None and _model().parse(named) is None:
        st.toast(t("workbench.model_missing", lang, name=shown(named)), icon=":material/info:", duration="long")


def _nearest(bench: Bench, good: Bench) -> Bench:
    """What of a bad bench can be used: its prompt with the last good model, or its model with the last good prompt."""
    for candidate in (replace(bench, model=good.model), replace(bench, prompt=good.prompt)):
        try:
            check(candidate)
        except Problem:
            continue
        return candidate
    return good
