"""Every cached call of the app: small frozen arguments in, arrays and frozen results out, never figures.

They live here, for the attention page in `cached_heads` and for paged runs in `cached_paged`, because two page scripts
with equal source would share one cache entry.
"""

from __future__ import annotations

import streamlit as st

from viz_core.attention import rescaling
from viz_core.attention.precision import Error, drawn_for, errors
from viz_core.attention.tiled import assemble, tiled
from viz_core.figures.cells import MOST
from viz_core.figures.visible import visible
from viz_core.model.capture import Capture
from viz_core.model.counts import Counts, Tally
from viz_core.model.journey import Journey, journey
from viz_core.model.library import Model
from viz_core.model.paged import placed
from viz_core.paging.workloads import Beside
from viz_core.paging.workloads import memory_shares as paged_memory
from viz_core.proofs import Proof, flash_attention, kv_cache, paging
from viz_core.ui import models


@st.cache_resource(max_entries=2, show_spinner=False)
def model(name: str) -> Model:
    """A loaded model by its spec (see `models.spec`), shared by all readers."""
    return models.load(name)


def context(name: str) -> int:
    """How many tokens a model can read."""
    return model(name).llama.config.context


@st.cache_data(max_entries=256, show_spinner=False)
def tokens(name: str, prompt: str) -> tuple[int, ...]:
    """The prompt's token ids, start token first."""
    return tuple(model(name).tokenizer.encode(prompt))


def room(name: str, prompt: str) -> int:
    """How many tokens still fit behind a prompt."""
    return context(name) - len(tokens(name, prompt))


@st.cache_data(max_entries=256, show_spinner=False)
def labels(name: str, ids: tuple[int, ...]) -> tuple[str, ...]:
    """The visible form of each token."""
    tokenizer = model(name).tokenizer
    return tuple(visible(tokenizer.piece(i), "plain" if tokenizer.is_special(i) else tokenizer.scheme) for i in ids)


@st.cache_data(max_entries=64, show_spinner=False)
def cache_proof(name: str, prompt: str) -> Proof:
    """Cached = uncached on this prompt."""
    return kv_cache.cached_equals_uncached(model(name).llama, tokens(name, prompt))


def shown(name: str, prompt: str) -> tuple[int, ...]:
    """The tokens that a figure can show: the first ones. Nothing looks ahead, so they attend as in the whole prompt."""
    return tokens(name, prompt)[:MOST]


@st.cache_resource(max_entries=4, show_spinner=False)
def capture(name: str, prompt: str) -> Capture:
    """q, k and v of every layer on a prompt's shown tokens, from which any head is recomputed."""
    kept = Capture()
    model(name).llama.forward(shown(name, prompt), capture=kept, last_only=True)
    return kept


@st.cache_data(max_entries=512, show_spinner=False)
def prefill(name: str, n: int) -> Counts:
    """What a prefill of n tokens does, counted by running it; which tokens they are does not matter to the count."""
    tally, llama = Tally(), model(name).llama
    llama.forward([i % llama.config.vocab for i in range(n)], counts=tally, last_only=True)
    return tally.now


@st.cache_resource(max_entries=32, show_spinner=False)
def way(name: str, prompt: str, position: int) -> Journey:
    """One token's way through cache, block table and quantizer."""
    return journey(capture(name, prompt), tokens(name, prompt), position)


@st.cache_data(max_entries=128, show_spinner=False)
def rescale_count(spread: int, tau: int) -> int:
    """How often rows are rescaled when they grow by 2^tau."""
    return rescaling.rescale_count(spread, tau)


@st.cache_data(max_entries=32, show_spinner=False)
def stale_proof(tau: int) -> Proof:
    """A stale maximum changes nothing."""
    return flash_attention.stale_equals_dense(tau)


@st.cache_data(max_entries=4, show_spinner=False)
def rounding(data: str) -> dict[str, Error]:
    """Errors of two algorithms at two precisions on drawn data."""
    return errors(*drawn_for(data), (64, 64))


@st.cache_data(max_entries=4, show_spinner=False)
def reorder_proof(data: str) -> Proof:
    """Tiled float32 is dense attention on the same data."""
    q, k, v = drawn_for(data)
    return flash_attention.tiled_equals_dense(assemble(tiled(q, k, v, (64, 64))), q, k, v)


@st.cache_data(max_entries=32, show_spinner=False)
def memory_shares(work: str, requests: int, block_size: int) -> Beside:
    """Shares of KV memory under contiguous and paged allocation."""
    return paged_memory(work, requests, block_size)


@st.cache_data(max_entries=64, show_spinner=False)
def paged_proof(name: str, prompt: str, size: int) -> Proof:
    """Attention through a block table equals attention in one piece, on this prompt."""
    return paging.paged_equals_contiguous(capture(name, prompt), placed(tokens(name, prompt), size))
