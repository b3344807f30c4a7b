"""The cached calls of the quantized KV cache: runs of the workbench's prompt, and of held-out text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from viz_core.i18n import Lang
from viz_core.model.capture import Capture
from viz_core.model.held_out import held_out
from viz_core.model.kv_quantized import KvChoice, read
from viz_core.model.one_pass import fold
from viz_core.model.quantized import Predictions, log_softmax
from viz_core.ui import cached
from viz_core.ui.quantizing_model import original


@dataclass(frozen=True)
class KvRun:
    """A prompt read through a cache: one layer's attention (heads, n, n), log-probabilities (n, V), its bytes."""

    weights: np.ndarray
    log: np.ndarray
    token_bytes: int
    all_bytes: int


@st.cache_resource(max_entries=12, show_spinner=False)
def kv_run(model: str, prompt: str, layer: int, choice: KvChoice) -> KvRun:
    """The workbench's prompt in one pass through a cache of that kind."""
    kept = Capture([layer])
    logits, cache = read(cached.model(model).llama, cached.tokens(model, prompt), choice, kept)
    weights = kept.weights(layer)
    return KvRun(fold(weights) if choice.recent else weights, log_softmax(logits), cache.bytes_per_token, cache.nbytes)


@dataclass(frozen=True, slots=True)
class Heads:
    """How many layers a model has, query heads in each, and how many channels a head has."""

    layers: int
    heads: int
    width: int


def heads(model: str) -> Heads:
    """A model's layers and heads."""
    config = cached.model(model).llama.config
    return Heads(len(config.layers), config.heads, config.d_head)


@st.cache_data(max_entries=32, show_spinner=False)
def most_changed(model: str, prompt: str, choice: KvChoice) -> tuple[int, int]:
    """The (layer, head) whose attention a cache changes most, by largest single weight; looked for in two passes."""
    kept = [Capture(), Capture()]
    for capture, one in zip(kept, (KvChoice(), choice), strict=True):
        read(cached.model(model).llama, cached.tokens(model, prompt), one, capture)
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
    logs = [read(loaded.llama, loaded.encode(text), choice)[0][:-1] for text in held_out(lang)]
    return Predictions(log_softmax(np.concatenate(logs)), original("bundled", lang).target).perplexity
