"""Players for the browser tests: ?trace=, ?lang=, ?back= (start at the reported step), buttons for new data."""

import streamlit as st

from tests.traces import blocks, cache, recorded
from viz_core.i18n import as_lang
from viz_core.ui.player import player

TRACES = {
    "cache": cache,
    "blocks": blocks,
    "long": lambda: blocks(512, 10_000),
    "recorded": recorded,
    "huge": lambda: blocks(16_384, 400),
    "odd": lambda: cache("\x00<\u202e&\u200d\x1b"),
}

lang = as_lang(st.query_params.get("lang", "en"))
name = st.query_params.get("trace", "cache")
trace = cache("春眠不觉晓处") if st.button("other data") else TRACES[name]()
if st.button("to step 1"):
    st.session_state.reported = 1
start = st.session_state.get("reported", 0) if "back" in st.query_params else 0
player(trace, lang=lang, key="it", start=start, on_step=lambda step: st.session_state.update(reported=step))
st.text(f"reported {st.session_state.get('reported')}")
