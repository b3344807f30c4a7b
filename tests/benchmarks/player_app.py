"""The page that bench_player drives: a button that brings one player, its trace made beforehand."""

import streamlit as st

from tests.benchmarks.bench_player import trace
from viz_core.ui.player import player

steps, cells = int(st.query_params["steps"]), int(st.query_params["cells"])
made = st.cache_resource(trace)(steps, cells)
if st.button("show"):
    player(made, lang="en", key="bench")
