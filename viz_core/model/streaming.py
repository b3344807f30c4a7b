"""Attention through a sliding window that keeps the first tokens (StreamingLLM: Xiao et al. 2023, arXiv 2309.17453).

The cache would hold `kept + window` tokens; here the rest is masked, so that one pass measures every position.
Positions are those of the text, not those within the cache as in the paper, which matters beyond the trained context.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viz_core.attention.bias import Bias
from viz_core.i18n import Problem
from viz_core.model.llama import Llama
from viz_core.model.probes import losses


def window_with_sinks(n: int, window: int, kept: int = 0) -> Bias:
    """Query i of n sees the last `window` keys, itself included, and the first `kept`; combine it with causality."""
    if window < 1 or kept < 0:
        raise Problem("model_window", window=window, kept=kept)

    def of(rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
        near = np.subtract.outer(rows, cols) < window
        return np.where(near | (cols < kept), np.float32(0), np.float32(-np.inf))

    return Bias(of)


def perplexity(
    model: Llama, ids: Sequence[int], *, window: int | None = None, kept: int = 0, first: int = 100
) -> float:
    """exp of the mean −ln p of the tokens after position `first`; the whole context is seen where window is None.

    A Problem where no token comes after `first`.
    """
    if len(ids) < first + 2:
        raise Problem("model_perplexity_short", tokens=len(ids), least=first + 2)
    bias = None if window is None else window_with_sinks(len(ids), window, kept)
    logits = model.forward(ids, bias=bias)
    return float(np.exp(losses(logits[first:-1], list(ids[first + 1 :])).mean()))
