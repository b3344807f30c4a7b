"""Every cached call of the attention page; what `cached` says of such calls holds here too."""

from __future__ import annotations

import numpy as np
import streamlit as st

from viz_core.figures.mosaic import pool
from viz_core.i18n import Problem
from viz_core.model import contribution, streaming
from viz_core.model.probes import Induction, Probes, best_place, induction, mean_loss, most_moved, probe
from viz_core.model.rewrite import one_changed
from viz_core.proofs import Proof, attention
from viz_core.ui.cached import capture, model, shown, tokens

SEEN = 64  # tokens on which every head is tried where all of them would take too long
READ = 192  # tokens of a text on which perplexity is measured: rows of that length were seen in the bundled training


@st.cache_data(max_entries=64, show_spinner=False)
def rows_proof(name: str, prompt: str, layer: int) -> Proof:
    """Every row of a layer's heads sums to 1."""
    return attention.layer_rows_sum_to_one(capture(name, prompt), layer)


@st.cache_data(max_entries=64, show_spinner=False)
def used_proof(name: str, prompt: str, layer: int) -> Proof:
    """The maps shown give the outputs that the model used."""
    return attention.shown_equals_used(capture(name, prompt), layer)


@st.cache_data(max_entries=64, show_spinner=False)
def sum_proof(name: str, prompt: str, layer: int, head: int) -> Proof:
    """The weighted values of a head add up to what it writes."""
    return attention.values_add_up(model(name).llama, capture(name, prompt), layer, head)


@st.cache_data(max_entries=8, show_spinner=False)
def window_proof(name: str) -> Proof:
    """A window over the whole text changes nothing, on a few tokens."""
    llama = model(name).llama
    n = min(24, llama.config.context)
    return attention.window_of_everything(llama, [i % llama.config.vocab for i in range(1, n + 1)])


@st.cache_data(max_entries=16, show_spinner=False)
def probes(name: str, prompt: str) -> Probes:
    """What every head does on a prompt; a Problem where it is too short to say."""
    return probe(capture(name, prompt))


@st.cache_data(max_entries=8, show_spinner=False)
def repeated(name: str) -> Induction:
    """What every head does on a random sequence shown twice."""
    return induction(model(name).llama)


@st.cache_data(max_entries=8, show_spinner=False)
def tiles(name: str, prompt: str, side: int) -> np.ndarray:
    """Every head's map pooled to at most `side` cells a side, float32 (layers · heads, side, side), NaN = masked."""
    kept = capture(name, prompt)
    future = ~np.tri(*kept.shape(0), dtype=bool)
    layers = (np.where(future, np.float32(np.nan), kept.weights(layer)) for layer in kept.layers)
    return np.concatenate([pool(weights, side) for weights in layers])


@st.cache_data(max_entries=64, show_spinner=False)
def changed(name: str, prompt: str) -> str:
    """The prompt with one token replaced by the one that the model expected there."""
    return one_changed(model(name), shown(name, prompt))


@st.cache_data(max_entries=64, show_spinner=False)
def moved_place(name: str, prompt: str) -> tuple[int, int]:
    """The head whose weights move most between a prompt and its changed form; the first one where it has none."""
    try:
        other = changed(name, prompt)
    except Problem:
        return 0, 0
    return most_moved(capture(name, prompt), capture(name, other))


@st.cache_data(max_entries=64, show_spinner=False)
def short_place(name: str, prompt: str) -> tuple[int, int]:
    """The head whose weight on the first token says most too much of what it takes there, by the first SEEN tokens."""
    return best_place(contribution.overstated(model(name).llama, capture(name, prompt), SEEN))


@st.cache_data(max_entries=64, show_spinner=False)
def longest(name: str, prompt: str, layer: int) -> float:
    """The longest single contribution a_ij ‖v_j W_O‖ of any head of a layer."""
    kept, llama = capture(name, prompt), model(name).llama
    return max(float(contribution.taken(llama, kept, layer, head).max()) for head in range(llama.config.heads))


@st.cache_data(max_entries=512, show_spinner=False)
def loss(name: str, prompt: str, silent: tuple[int, int] | None = None) -> float:
    """Mean nats a token on the first SEEN tokens, perhaps with one head silenced; NaN where nothing is predicted."""
    llama = model(name).llama
    return mean_loss(llama if silent is None else contribution.silenced(llama, *silent), shown(name, prompt)[:SEEN])


def read(name: str, text: str) -> tuple[int, ...]:
    """The tokens of a text on which perplexity is measured: few, so that a model read rows as long in its training."""
    return tokens(name, text)[:READ]


@st.cache_data(max_entries=256, show_spinner=False)
def perplexity(name: str, text: str, window: int | None, kept: int, first: int) -> float:
    """Perplexity of the tokens read of a text after position `first`, in a window with kept tokens or without."""
    return streaming.perplexity(model(name).llama, read(name, text), window=window, kept=kept, first=first)
