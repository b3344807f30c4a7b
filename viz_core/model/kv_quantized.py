"""Reading a text through a quantized KV cache, and what that did to SmolLM2: a reference that was measured once.

`kv_reference.json` is written by `python -m tests.benchmarks.bench_kv` (SmolLM2-135M, the bundled English text) and
computed again by tests/conformance/test_kv_quantized.py where that model has been fetched.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.capture import Capture
from viz_core.model.llama import Llama
from viz_core.model.one_pass import OnePass
from viz_core.model.probes import losses
from viz_core.model.quantized_cache import Axis, QuantizedCache, Side

PATH = Path(__file__).parent / "kv_reference.json"
WHOLE = Side()


@dataclass(frozen=True, slots=True)
class KvChoice:
    """How the cache keeps K and V, and how many of the newest tokens it leaves as they are."""

    k: Side = WHOLE
    v: Side = WHOLE
    recent: int = 0


def read(
    llama: Llama, ids: Sequence[int], choice: KvChoice, capture: Capture | None = None
) -> tuple[np.ndarray, QuantizedCache]:
    """A text through such a cache in one pass: logits (n, V) and the cache, full.

    Without a residual the pass sees all of the text in codes; with one each token sees its own newest ones exactly.
    A Problem for a residual in a model with sliding windows.
    """
    c = llama.config
    if choice.recent and any(layer.window is not None for layer in c.layers):
        raise Problem("kv_recent_window")
    kind = OnePass if choice.recent else QuantizedCache
    cache = kind(len(c.layers), c.kv_heads, len(ids), c.d_head, choice.k, choice.v, choice.recent)
    bias = cache.bias if isinstance(cache, OnePass) else None
    return llama.forward(ids, cache, capture=capture, bias=bias), cache


def perplexity(llama: Llama, ids: Sequence[int], choice: KvChoice) -> float:
    """exp of the mean −ln p of every token but the first."""
    return float(np.exp(losses(read(llama, ids, choice)[0][:-1], list(ids[1:])).mean(dtype=np.float64)))


@dataclass(frozen=True, slots=True)
class Reference:
    """Perplexities of SmolLM2 on `tokens` tokens: as it is, and with K or V alone in `bits` bits."""

    tokens: int
    bits: int
    base: float
    alone: dict[tuple[str, Axis, int], float]

    def choice(self, side: str, axis: Axis, group: int) -> KvChoice:
        """The cache that one of `alone` was measured with: "K" or "V", the axis, the values a group."""
        few = Side(self.bits, axis, group)
        return KvChoice(k=few) if side == "K" else KvChoice(v=few)


@cache
def reference() -> Reference:
    """What was measured."""
    found = json.loads(PATH.read_text(encoding="utf-8"))
    alone = {(row["side"], row["axis"], row["group"]): row["perplexity"] for row in found["alone"]}
    return Reference(found["tokens"], found["bits"], found["base"], alone)
