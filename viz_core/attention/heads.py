"""Heads that share keys: packed grouped-query attention and absorbed multi-head latent attention, as plain walks."""

from __future__ import annotations

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.check import groups


def pack(q: Floats) -> Floats:
    """The g query heads of one KV head as one stack of queries: q (g, n, d) → (n · g, d), row = token · g + head.

    The group's K and V are then loaded once for all its heads (flash-attn's PackGQA).
    """
    g, n, d = q.shape
    return q.swapaxes(0, 1).reshape(n * g, d)


def unpack(out: Floats, g: int) -> Floats:
    """The heads of a packed result, (n · g, dv) → (g, n, dv)."""
    return out.reshape(-1, g, out.shape[-1]).swapaxes(0, 1)


def packed(bias: Bias, g: int) -> Bias:
    """The bias of packed rows: all g heads of a token see what the token sees."""
    return Bias(lambda rows, cols: bias(rows // g, cols))


def of_group(q: Floats, kv_heads: int) -> Floats:
    """q (H, n, d) → (H_kv, g, n, d): query head h reads KV head h // g. Problem unless the heads divide evenly."""
    return q.reshape(kv_heads, groups(len(q), kv_heads), *q.shape[1:])


def absorb(q: Floats, q_rope: Floats, w_uk: Floats, c: Floats, k_rope: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Absorbed MLA (DeepSeek-V2, arXiv 2405.04434): all heads read one cached latent, never expanded to keys.

    q (H, n, d), q_rope (H, n, r), w_uk (H, c, d), latent c (m, c), k_rope (m, r) → packed queries (n · H, c + r),
    keys (m, c + r), values (m, c) = the keys' first c columns (`v_in_k`), and the expanded heads' scale 1/√(d + r).
    """
    scale = (q.shape[-1] + q_rope.shape[-1]) ** -0.5
    queries = np.concatenate([q @ w_uk.swapaxes(1, 2), q_rope], -1)
    return pack(queries), np.concatenate([c, k_rope], -1), c, scale


def expand(out: Floats, w_uv: Floats) -> Floats:
    """Absorbed output (n · H, c) through w_uv (H, c, dv) → (H, n, dv)."""
    return unpack(out, len(w_uv)) @ w_uv
