"""The cached calls of the quantized KV cache: runs of the workbench's prompt, and of held-out text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from viz_core.i18n import Lang
from viz_core.model.capture import Capture
from viz_core.model.held_out import held_out
from viz_core.model.quantized import Predictions, log_softmax
from viz_core.model.quantized_cache import QuantizedCache, Side
from viz_core.ui import cached
from viz_core.ui.quantizing_model import original


@dataclass(frozen=True, slots=True)
class KvChoice:
    """How the cache keeps K and V."""

    k: Side
    v: Side


@dataclass(frozen=True)
class KvRun:
    """A prompt read through a cache: one layer's attention (heads, n, n), log-probabilities (n, V), bytes a token."""

    weights: np.ndarray
    log: np.ndarray
    token_bytes: int


@st.cache_resource(max_entries=12, show_spinner=False)
def kv_run(model: str, prompt: str, layer: int, choice: KvChoice) -> KvRun:
    """The workbench's prompt in one pass through a cache of that kind."""
    llama, kept = cached.model(model).llama, Capture([layer])
    ids, c = cached.tokens(model, prompt), llama.config
    cache = QuantizedCache(len(c.layers), c.kv_heads, len(ids), c.d_head, choice.k, choice.v, residual=False)
    logits = llama.forward(ids, cache, capture=kept)
    return KvRun(kept.weights(layer), log_softmax(logits), cache.bytes_per_token)


@dataclass(frozen=True, slots=True)
class Heads:
    """How many layers a model has, and query heads in each."""

    layers: int
    heads: int


def heads(model: str) -> Heads:
    """The loaded model's layers and heads."""
    config = cached.model(model).llama.config
    return Heads(len(config.layers), config.heads)


@st.cache_data(max_entries=32, show_spinner=False)
def most_changed(model: str, prompt: str, choice: KvChoice) -> tuple[int, int]:
    """The (layer, head) whose attention a cache changes most, by largest single weight; looked for in two passes."""
    llama, ids = cached.model(model).llama, cached.tokens(model, prompt)
    c, kept = llama.config, [Capture(), Capture()]
    for capture, sides in zip(kept, ((Side(), Side()), (choice.k, choice.v)), strict=True):
        cache = QuantizedCache(len(c.layers), c.kv_heads, len(ids), c.d_head, *sides, residual=False)
        llama.forward(ids, cache, capture=capture, last_only=True)
    change = [np.abs(kept[1].weights(i) - kept[0].weights(i)).max(axis=(1, 2)) for i in kept[0].layers]
    layer, head = np.unravel_index(int(np.argmax(change)), np.shape(change))
    return int(layer), int(head)


@st.cache_resource(max_entries=12, show_spinner=False)
def kv_arrays(model: str, prompt: str, layer: int) -> tuple[np.ndarray, np.ndarray]:
    """K and V of one layer on the prompt, (kv_heads, n, d) each."""
    kept = cached.capture(model, prompt)
    return kept.k[layer], kept.v[layer]


@st.cache_data(max_entries=64, show_spinner=False)
def kv_perplexity(lang: Lang, choice: KvChoice) -> float:
    """Perplexity of the bundled model on the held-out texts when it reads them through such a cache."""
    loaded = cached.model("bundled")
    c, logs = loaded.llama.config, []
    for text in held_out(lang):
        ids = loaded.encode(text)
        cache = QuantizedCache(len(c.layers), c.kv_heads, len(ids), c.d_head, choice.k, choice.v, residual=False)
        logs.append(loaded.llama.forward(ids, cache)[:-1])
    return Predictions(log_softmax(np.concatenate(logs)), original("bundled", lang).target).perplexity
