"""How far 16 and 32 bits lead away from float64, standard and tiled: exact means reordered, not bit-identical.

Emulated in NumPy: inputs rounded to the type, products added up in float32 as tensor cores do. Standard attention
rounds S and P to 16 bits on their way through HBM; tiled attention keeps S in registers and rounds P alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.dense import dense, softmax
from viz_core.attention.rules import Rule
from viz_core.attention.tiled import assemble, tiled

HALF = Rule("fp16 weights", p_as=np.float16)


@dataclass(frozen=True, slots=True)
class Error:
    """Against dense float64 on the same (rounded) inputs: the largest error and the root mean square."""

    worst: float
    rms: float


def errors(q: Floats, k: Floats, v: Floats, tile: tuple[int, int], bias: Bias | None = None) -> dict[str, Error]:
    """Keys standard_fp32, tiled_fp32, standard_fp16, tiled_fp16; q (n, d), k (m, d), v (m, dv)."""
    half = [x.astype(np.float16).astype(np.float32) for x in (q, k, v)]
    full = [x.astype(np.float32) for x in (q, k, v)]
    exact32, exact16 = (_exact(xs[0], xs[1], xs[2], bias) for xs in (full, half))
    return {
        "standard_fp32": _error(dense(full[0], full[1], full[2], bias).out, exact32),
        "tiled_fp32": _error(assemble(tiled(full[0], full[1], full[2], tile, bias=bias)).out, exact32),
        "standard_fp16": _error(standard_fp16(half[0], half[1], half[2], bias), exact16),
        "tiled_fp16": _error(assemble(tiled(half[0], half[1], half[2], tile, bias=bias, rule=HALF)).out, exact16),
    }


def standard_fp16(q: Floats, k: Floats, v: Floats, bias: Bias | None = None) -> Floats:
    """S and P pass through float16; the softmax itself runs in float32. Inputs float32 holding float16 values."""
    with np.errstate(over="ignore"):  # a score beyond 65,504 is ±∞ in float16, as it would be there
        s = ((q * np.float32(q.shape[1] ** -0.5)) @ k.T).astype(np.float16).astype(np.float32)
    weights, _ = softmax(s if bias is None else s + bias.whole(len(q), len(k)))
    return weights.astype(np.float16).astype(np.float32) @ v


def outliers(n: int, d: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """q, k, v ~ N(0, 1) + N(0, 100) · Bernoulli(0.001), FlashAttention-3's error test (arXiv 2407.08608)."""
    rng = np.random.default_rng(seed)

    def draw() -> Floats:
        rare = rng.random((n, d)) < 0.001
        return (rng.normal(size=(n, d)) + 10 * rng.normal(size=(n, d)) * rare).astype(np.float32)

    return draw(), draw(), draw()


def drawn_for(data: str, n: int = 512, d: int = 64) -> tuple[Floats, Floats, Floats]:
    """q, k, v (n, d) for the comparison: `outliers`, or standard normal."""
    if data == "outliers":
        return outliers(n, d)
    q, k, v = np.random.default_rng(0).normal(size=(3, n, d)).astype(np.float32)
    return q, k, v


def _exact(q: Floats, k: Floats, v: Floats, bias: Bias | None) -> Floats:
    return dense(q.astype(np.float64), k.astype(np.float64), v.astype(np.float64), bias).out


def _error(got: Floats, want: Floats) -> Error:
    off = got.astype(np.float64) - want
    return Error(float(np.abs(off).max()), float(np.sqrt((off**2).mean())))
