"""The page that bench_player drives: a button that brings one player, its trace made beforehand."""

import streamlit as st

from tests.benchmarks.bench_player import TRACES
from viz_core.trace import Trace
from viz_core.ui.player import player


@st.cache_resource
def made(kind: str, steps: int, cells: int) -> Trace:
    """The trace, made once."""
    return TRACES[kind](steps, cells)


asked = st.query_params
shown = made(asked["kind"], int(asked["steps"]), int(asked["cells"]))
if st.button("show"):
    player(shown, lang="en", key="bench")
