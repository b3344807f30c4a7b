"""The app's one static style sheet, and presentation mode. No data ever enters it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from viz_core.i18n import Lang
from viz_core.ui import controls
from viz_core.ui.params import Switch

FOLDER = Path(__file__).parent
PRESENT = Switch("present")


def presenting() -> bool:
    """Whether the reader projects the page: type × 1.5."""
    return bool(controls.value_of(PRESENT))


def apply() -> None:
    """Put the style sheet (and, when presenting, the larger type) on the page."""
    sheets = [FOLDER / "style.css", *([FOLDER / "present.css"] if presenting() else [])]
    st.html("<style>" + "\n".join(s.read_text(encoding="utf-8") for s in sheets) + "</style>")


def switch(lang: Lang) -> None:
    """The control of presentation mode."""
    controls.draw(PRESENT, lang, "shell")
