"""The shell around every page: page config, language, navigation, workbench, and the page itself.

While a `pages/` folder exists, Streamlit runs a page script by itself when a link leads to it on a cold server (and in
AppTest). So a page asks `active()`; where the shell does not run yet, the page runs it, and the shell runs the page.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from viz_core.i18n import Lang, t
from viz_core.ui import language, link, style, watch, workbench
from viz_core.ui.registry import PAGES

ROOT = Path(__file__).resolve().parents[2]
MARKER = "shell.active"


def active() -> bool:
    """Whether this run is inside the shell."""
    return bool(st.session_state.get(MARKER))


def main() -> None:
    """Run the app: what app.py does, and what a page does that was opened without it."""
    st.session_state[MARKER] = True
    link.begin()
    try:
        _run()
    finally:
        st.session_state[MARKER] = False
        link.end()


def pages(lang: Lang) -> list[StreamlitPage]:
    """The registry as Streamlit's pages, titled in the reader's language."""
    return [
        st.Page(ROOT / page.script, title=t(f"page.{page.id}.title", lang), icon=page.icon, url_path=page.url,
                default=page is PAGES[0])
        for page in PAGES
    ]


def _run() -> None:
    lang = language.current()
    st.set_page_config(page_title=t("app.name", lang), page_icon=str(ROOT / "viz_core/ui/icon.png"), layout="wide",
                       initial_sidebar_state="collapsed" if style.presenting() else "auto")
    style.apply()
    chosen = st.navigation(pages(lang), position="top")
    watch.watch()
    with st.sidebar:
        language.switch(lang)
        workbench.sidebar(lang)
        style.switch(lang)
    chosen.run()
