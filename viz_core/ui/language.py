"""The reader's language: `?lang=`, else the browser's locale, else English."""

from __future__ import annotations

import streamlit as st

from viz_core.i18n import LANGS, Lang, as_lang, t
from viz_core.ui import link

MEMORY = "language.kept"
NAMES: dict[Lang, str] = {"zh": "中文", "en": "English"}


def _parse(raw: str) -> Lang | None:
    return as_lang(raw) if raw.lower()[:2] in LANGS else None


def current() -> Lang:
    """The language of this run. It always stands in the link, so that a link shows what its sender saw."""
    asked = link.text("lang")
    lang = (_parse(asked) if asked else None) or st.session_state.get(MEMORY) or as_lang(st.context.locale)
    st.session_state[MEMORY] = lang
    link.put("lang", lang, None)
    return lang


def _chosen() -> None:
    code = st.session_state["language"]
    if code in LANGS:
        link.pin("prompt")  # the default prompt is in the reader's language, but a reader's prompt stays
        link.put("lang", code, None)


def switch(lang: Lang) -> None:
    """The two names, side by side."""
    st.session_state["language"] = lang
    st.segmented_control(
        t("control.lang", lang), LANGS, format_func=NAMES.__getitem__, required=True, key="language",
        on_change=_chosen, label_visibility="collapsed",
    )
