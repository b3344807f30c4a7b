"""Attention without a trace, for the model: the same function as `dense`, in another order of additions.

Prefill walks tiles of 384 queries × 512 keys, whose scores stay in the L2 cache, with three tricks that save passes
over them: exp2 with log2 e folded into q; −m as one more column of the product q kᵀ, and the row sums as one more
column of p v. A reference m is kept until a row's sum passes 2²⁰ (FlashAttention-4's stale maximum); only then is a
tile redone. Decoding is four calls. Left out: threads; a process that serves many people does best with one a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.bias import window as window_bias
from viz_core.attention.rules import LOG2E
from viz_core.attention.state import finite

ROWS, COLS, EDGE = 384, 512, 128
LIMIT = 2.0**20
Tile = tuple[int, int, int, Floats | None]  # keys first … last, the first query that sees any, their bias in log2


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
    scaled scores of every head. scale: 1/√d unless given. count: told how many (query, key) pairs were computed, masked
    ones in a visited tile included, all heads together. A fully masked row gives 0.
    """
    (heads, n, d), (kv_heads, m, _) = q.shape, k.shape
    c = q.dtype.type(LOG2E * (d**-0.5 if scale is None else scale))
    if n == 1 and bias is None:
        k, v = (k, v) if window is None or window >= m else (k[:, -window:], v[:, -window:])
        if count is not None:
            count(heads * k.shape[1])
        return _one(q.reshape(kv_heads, heads // kv_heads, d) * c, k, v).reshape(heads, 1, -1)
    out, ones = np.empty((heads, n, v.shape[-1]), q.dtype), np.ones((m, 1), q.dtype)
    buffer = np.empty(min(n, ROWS) * min(m, COLS), q.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # a stale m that overflows is seen, and its tile done again
        for g in range(kv_heads):
            k1, v1 = np.hstack([k[g], ones]), np.hstack([v[g], ones])
            for i in range(0, n, ROWS):
                tiles = list(_tiles(i, min(i + ROWS, n), n, m, causal, window, bias))
                if count is not None:
                    pairs = sum((last - first) * (min(ROWS, n - i) - seen) for first, last, seen, _ in tiles)
                    count(heads // kv_heads * pairs)
                for h in range(g * heads // kv_heads, (g + 1) * heads // kv_heads):
                    rows = q[h, i : i + ROWS].T
                    q1 = np.zeros((d + 1, rows.shape[1]), q.dtype)
                    np.multiply(rows, c, out=q1[:-1])
                    acc = _columns(q1, k1, v1, tiles, buffer)
                    np.divide(acc[:-1].T, np.where(acc[-1:] == 0, 1, acc[-1:]).T, out=out[h, i : i + ROWS])
    return out


def _one(q: Floats, k: Floats, v: Floats) -> Floats:
    """One query a head: q (H_kv, g, d) scaled, k (H_kv, m, d), v (H_kv, m, dv) → (H_kv, g, dv)."""
    s = np.ascontiguousarray((k @ q.swapaxes(1, 2)).swapaxes(1, 2))  # this product reads K in its own order
    s -= np.maximum.reduce(s, 2, keepdims=True)
    p = np.exp2(s, out=s)
    out = p @ v
    out /= np.add.reduce(p, 2, keepdims=True)
    return out


def _columns(q1: Floats, k1: Floats, v1: Floats, tiles: list[Tile], buffer: Floats) -> Floats:
    """Up to ROWS queries of one head, one a column, for scores (keys, queries) are the faster way round.

    q1 (d + 1, r) with a last row for −m; k1 (m, d + 1) and v1 (m, dv + 1) with a last column of ones. Returns Σ p v
    and, as its last row, Σ p: (dv + 1, r).
    """
    acc, m, settled = np.zeros((v1.shape[1], q1.shape[1]), q1.dtype), np.full(q1.shape[1], -np.inf, q1.dtype), False
    for first, last, seen, bias in tiles:
        mine, ref, q2, k2, v2 = acc[:, seen:], m[seen:], q1[:, seen:], k1[first:last], v1[first:last].T
        s = buffer[: (last - first) * len(ref)].reshape(-1, len(ref))
        if settled:
            part = v2 @ np.exp2(_scores(q2, k2, bias, s), out=s)
            if part[-1].max() <= LIMIT:  # False for NaN too
                mine += part
                continue
            q2[-1] = 0
        new = np.maximum(ref, np.maximum.reduce(_scores(q2, k2, bias, s), 0))
        safe = finite(new)
        s -= safe
        mine *= np.exp2(ref - safe)
        mine += v2 @ np.exp2(s, out=s)
        ref[:], settled = new, bool(np.isfinite(m).all())
        q1[-1] = -m if settled else 0
    return acc


def _scores(q1: Floats, k1: Floats, bias: Floats | None, out: Floats) -> Floats:
    """k1 q1 + biasᵀ (c, r), into `out`."""
    s = np.matmul(k1, q1, out=out)
    return s if bias is None else np.add(s, bias.T, out=s)


def _tiles(i: int, stop: int, n: int, m: int, causal: bool, window: int | None, bias: Bias | None) -> Iterator[Tile]:
    """The keys that queries i … stop − 1 see: first those that all of them see, in whole tiles, then the edges."""
    masked = causal or window is not None
    hi = min(m, max(0, stop + m - n)) if masked else m
    lo = 0 if window is None else min(hi, max(0, i + m - n - window + 1))
    free_hi = min(hi, max(lo, i + m - n + 1)) if masked else hi
    free_lo = lo if window is None else min(free_hi, max(lo, stop + m - n - window))
    for a, b, size in ((free_lo, free_hi, COLS), (lo, free_lo, COLS), (free_hi, hi, EDGE)):
        for first in range(a, b, size):
            last, ahead = min(first + size, b), i + m - n - first
            seen = max(0, -ahead) if a == free_hi else 0
            edge = (a, b) != (free_lo, free_hi)
            mask = _edge(stop - i - seen, last - first, ahead + seen, window) if edge else None
            if bias is not None:
                given = bias(np.arange(i + seen, stop), np.arange(first, last)) * np.float32(LOG2E)
                mask = given if mask is None else given + mask
            yield first, last, seen, mask


@lru_cache(maxsize=8)
def _edge(rows: int, cols: int, ahead: int, window: int | None) -> Floats:
    """The mask of a tile whose first query's own key is column `ahead`; the same for every tile along a diagonal."""
    whole = window_bias(1, 1, None if window is None else window - 1)
    return np.asfortranarray(whole(np.arange(rows) + ahead, np.arange(cols)))
