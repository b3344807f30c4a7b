"""Attention in FP8 as FlashAttention-3 does it (arXiv 2407.08608 §3.3): E4M3 Q, K, V and weights.

A scale for every block of rows instead of one for a tensor; Q and K rotated by the same random orthogonal matrix, which
leaves their product alone and spreads outliers over the head. The sum stays in float32. Left out: the order of the
kernel's work and its in-register layouts, which do not change the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.attention.dense import dense
from viz_core.quantizers.format import Format
from viz_core.quantizers.layout import BlockSize
from viz_core.quantizers.minifloat import E4M3
from viz_core.quantizers.registry import scaled
from viz_core.quantizers.rescale import random_signs, rotate

CAST = Format(name="E4M3", grid=E4M3)


@dataclass(frozen=True, slots=True)
class Fp8:
    """Rows that share a scale (None: the whole tensor), and whether Q and K are rotated first."""

    block: int | None = None
    rotated: bool = False


WAYS = {"tensor": Fp8(), "block": Fp8(128), "rotated": Fp8(None, True), "both": Fp8(128, True)}
"""A scale a tensor (the baseline), a scale a block, rotation, and both together: FlashAttention-3."""
PRINTED = {"tensor": 2.4e-2, "block": 2.4e-2, "rotated": 9.3e-3, "both": 9.1e-3}
"""What the paper's table 3 prints for each, its rows "baseline FP8", "no incoherent processing", "no block
quantization", "FlashAttention-3 FP8"; it names neither the length nor the head size."""


def rounded(x: np.ndarray, block: int | None) -> np.ndarray:
    """`x` (n, d) in E4M3 with one float32 scale for `block` rows."""
    size: BlockSize = "tensor" if block is None else block * int(x.shape[1])
    return scaled(E4M3, size).round(x.reshape(-1)).reshape(x.shape)


def attend_fp8(q: np.ndarray, k: np.ndarray, v: np.ndarray, how: Fp8) -> np.ndarray:
    """Attention of q (n, d) over k, v (m, d) with FP8 operands, float32 (n, d)."""
    if how.rotated:
        signs = random_signs(q.shape[1])
        q, k = rotate(q, signs), rotate(k, signs)
    q, k, v = (rounded(x, how.block) for x in (q, k, v))
    scores = (q @ k.T) * np.float32(q.shape[1] ** -0.5)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return CAST.round(weights) @ v / weights.sum(axis=1, keepdims=True)


def outlier_input(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The paper's test data: N(0, 1) plus N(0, 100) on one number in a thousand; q, k, v (n, d) float32."""
    rng = np.random.default_rng(seed)

    def draw() -> np.ndarray:
        return (rng.standard_normal((n, d)) + 10 * rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.001)).astype(
            "f4"
        )

    return draw(), draw(), draw()


@dataclass(frozen=True)
class Compared:
    """FP8 attention four ways on one draw of the test data.

    Attributes:
        q, rotated: Q (n, d) as it was drawn, and as rotation hands it to the grid.
        errors: output − float64 attention of the same data, float64 (n, d), by way (the keys of `WAYS`).
    """

    q: np.ndarray
    rotated: np.ndarray
    errors: dict[str, np.ndarray]

    @property
    def rmse(self) -> dict[str, float]:
        """Root mean squared error of each way."""
        return {name: float(np.sqrt(np.mean(error**2))) for name, error in self.errors.items()}


def compare_fp8(n: int = 1024, d: int = 128, seed: int = 0) -> Compared:
    """All of `WAYS` on n tokens of width d."""
    q, k, v = outlier_input(n, d, seed)
    exact = dense(q.astype(np.float64), k.astype(np.float64), v.astype(np.float64)).out
    errors = {name: attend_fp8(q, k, v, how) - exact for name, how in WAYS.items()}
    return Compared(q, rotate(q, random_signs(d)), errors)
