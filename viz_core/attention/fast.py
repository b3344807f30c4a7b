"""Attention without a trace, for the model: tiles of queries, GQA by reshape, one step of decoding in four calls.

Exact: the same function as `dense`, in another order of additions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.bias import window as window_bias

ROWS, COLS = 256, 512  # a tile of scores stays in L2: 512 KiB of float32


def attend(
    q: Floats,
    k: Floats,
    v: Floats,
    *,
    causal: bool = False,
    window: int | None = None,
    bias: Bias | None = None,
    scale: float | None = None,
    count: Callable[[int], None] | None = None,
) -> Floats:
    """out (H, n, dv) of q (H, n, d), k (H_kv, m, d), v (H_kv, m, dv); query head h reads KV head h // (H / H_kv).

    causal: the last query sees the last key. window: that many keys, self included (implies causal). bias: added to the
    scaled scores of every head. scale: 1/√d unless given. count: told how many (query, key) pairs were
    computed, masked ones in a visited tile included, all heads together. A fully masked row gives 0.
    """
    heads, n, d = q.shape
    kv_heads, m, _ = k.shape
    scale = d**-0.5 if scale is None else scale
    if n == 1 and bias is None:
        k, v = (k, v) if window is None or window >= m else (k[:, -window:], v[:, -window:])
        if count is not None:
            count(heads * k.shape[1])
        return _one(q.reshape(kv_heads, heads // kv_heads, d) * q.dtype.type(scale), k, v).reshape(heads, 1, -1)
    mask = window_bias(n, m, None if window is None else window - 1) if causal or window is not None else None
    bias = mask if bias is None else bias if mask is None else bias + mask
    out = np.empty((heads, n, v.shape[-1]), q.dtype)
    for i in range(0, n, ROWS):
        rows, hi, lo = np.arange(i, min(i + ROWS, n)), m, 0
        if mask is not None:
            hi = max(0, rows[-1] + m - n + 1)
            lo = 0 if window is None else min(hi, max(0, i + m - n - window + 1))
        added = None if bias is None else bias(rows, np.arange(lo, hi))  # once for all heads
        if count is not None:
            count(heads * len(rows) * (hi - lo))
        for h in range(heads):
            g = h // (heads // kv_heads)
            out[h, rows] = _rows(q[h, rows] * q.dtype.type(scale), k[g, lo:hi], v[g, lo:hi], added)
    return out


def _one(q: Floats, k: Floats, v: Floats) -> Floats:
    """One query a head: q (H_kv, g, d) scaled, k (H_kv, m, d), v (H_kv, m, dv) → (H_kv, g, dv)."""
    s = k @ q.swapaxes(1, 2)  # (H_kv, m, g): K in its own order is read once, in a row
    s -= s.max(1, keepdims=True)
    p = np.exp(s, out=s)
    p /= p.sum(1, keepdims=True)
    return p.swapaxes(1, 2) @ v


def _rows(q: Floats, k: Floats, v: Floats, added: Floats | None) -> Floats:
    """Rows of one head by online softmax: q (r, d) scaled, k (m, d), v (m, dv), added (r, m) or none → (r, dv)."""
    m = np.full((len(q), 1), -np.inf, q.dtype)
    total, o = np.zeros_like(m), np.zeros((len(q), v.shape[-1]), q.dtype)
    for j in range(0, len(k), COLS):
        s = q @ k[j : j + COLS].T
        if added is not None:
            s += added[:, j : j + COLS]
        new = np.maximum(m, s.max(1, keepdims=True))
        ref = np.where(np.isneginf(new), 0, new)
        p, a = np.exp(s - ref), np.exp(m - ref)
        total, o, m = total * a + p.sum(1, keepdims=True), o * a + p @ v[j : j + COLS], new
    return o / np.where(total == 0, 1, total)
