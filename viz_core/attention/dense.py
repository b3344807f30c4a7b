"""Attention written out whole: three-pass safe softmax, scores and weights kept.

The reference for every other order, and what the heatmaps show. A fully masked row gives output 0 and lse −∞.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.attention.bias import Bias, Floats


@dataclass(frozen=True, slots=True)
class Dense:
    """out (…, n, dv); lse (…, n), natural log of the biased scores' sum; scores (…, n, m) biased; weights (…, n, m)."""

    out: Floats
    lse: Floats
    scores: Floats
    weights: Floats


def softmax(scores: Floats) -> tuple[Floats, Floats]:
    """Weights and lse of the last axis: maximum, sum of exponentials, division. A row of −∞ gives weights 0, lse −∞."""
    m = scores.max(-1, keepdims=True, initial=-np.inf)
    p = np.exp(scores - np.where(np.isneginf(m), 0, m))
    total = p.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):  # ln 0 = −∞ is the lse of a fully masked row
        lse = m + np.log(total)
    return p / np.where(total == 0, 1, total), lse[..., 0]


def dense(q: Floats, k: Floats, v: Floats, bias: Bias | Floats | None = None, scale: float | None = None) -> Dense:
    """softmax(scale · q kᵀ + bias) v with all its steps, in q's precision (float16 is computed in float32).

    q (…, n, d), k (…, m, d), v (…, m, dv), one set of leading axes; with q (H, n, d) and k, v (H_kv, m, ·) query head h
    reads KV head h // (H / H_kv). bias: a Bias, or an array that broadcasts to (…, n, m). scale: 1/√d unless given.
    """
    dtype = np.result_type(q, np.float32)
    q, k, v = (np.asarray(x, dtype) for x in (q, k, v))
    if q.ndim > 2 and q.shape[-3] != k.shape[-3]:
        k, v = (np.repeat(x, q.shape[-3] // k.shape[-3], axis=-3) for x in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = (q * dtype.type(scale)) @ k.swapaxes(-1, -2)
    if bias is not None:
        scores += bias.whole(q.shape[-2], k.shape[-2]) if isinstance(bias, Bias) else bias
    weights, lse = softmax(scores)
    return Dense(weights @ v, lse, scores, weights)
