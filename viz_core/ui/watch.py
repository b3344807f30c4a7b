"""A component of no size that tells Python what a rerun needs: the theme in use and whether the window is narrow.

A change of theme or of width causes no rerun by itself, but figures carry explicit colours and a phone wants other
figures than a desk.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from viz_core.figures.theme import Mode

_SCRIPT = (Path(__file__).parent / "watch.js").read_text(encoding="utf-8")
_component = st.components.v2.component("infersight_watch", js=_SCRIPT, html="<span></span>")


def watch() -> None:
    """Mount the watcher; its values are read by `mode()` and `narrow()`."""
    _component(key="watch", data={"mode": mode(), "narrow": narrow()}, height=1,
               on_mode_change=lambda: None, on_narrow_change=lambda: None)


def _seen(name: str) -> object:
    return (st.session_state.get("watch") or {}).get(name)


def mode() -> Mode:
    """`light` or `dark`, as the browser shows it now."""
    return "dark" if (_seen("mode") or st.context.theme.type) == "dark" else "light"


def narrow() -> bool:
    """Whether the window is narrower than 640 px: measured, or before that guessed from the browser's name."""
    seen = _seen("narrow")
    return seen == "yes" if seen else "Mobile" in (st.context.headers.get("User-Agent") or "")
