"""What attention can be run on; everything else is a Problem."""

from __future__ import annotations

import numpy as np

from viz_core.attention.paged import Keys
from viz_core.i18n import Problem

LARGEST = float(np.finfo(np.float32).max) / 2


def fit(q: Keys, k: Keys, v: Keys, scale: float | None = None) -> float:
    """The scale of q (n, d), k (m, d), v (m, dv): the given one, else 1/√d.

    Raises Problem for sides that do not fit, for NaN or ±∞, and for products beyond float32.
    """
    if {len(q.shape), len(k.shape), len(v.shape)} != {2} or q.shape[1] != k.shape[1] or len(k) != len(v):
        raise Problem("attention_shapes", q=_shape(q), k=_shape(k), v=_shape(v))
    if not (len(q) and len(k) and q.shape[1] and v.shape[1]):
        raise Problem("attention_empty", n=len(q), m=len(k), d=q.shape[1])
    tops = []
    for name, a in (("q", q), ("k", k), ("v", v)):
        whole = np.asarray(a[:])
        if not np.isfinite(whole).all():
            raise Problem("attention_not_finite", name=name, count=int((~np.isfinite(whole)).sum()))
        tops.append(float(np.abs(whole).max()))
    scale = q.shape[1] ** -0.5 if scale is None else scale
    if not np.isfinite(scale) or tops[0] * tops[1] * q.shape[1] * max(1.0, abs(scale)) > LARGEST:
        raise Problem("attention_overflow")
    return scale


def groups(heads: int, kv_heads: int) -> int:
    """Query heads that share one KV head; Problem unless they divide evenly."""
    if kv_heads < 1 or heads < 1 or heads % kv_heads:
        raise Problem("attention_heads", heads=heads, kv_heads=kv_heads)
    return heads // kv_heads


def _shape(a: Keys) -> str:
    return " × ".join(map(str, a.shape))
