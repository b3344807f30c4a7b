"""Half-quadratic quantization (HQQ, mobiusml 2023; `hqq/core/optimize.py`): the zero point is moved, not the scale.

Splitting the error into an outlier part (shrunk by an l_p norm with p < 1) and a rest gives a closed form for the zero
point; a few rounds of both suffice, and no data is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz_core.quantizers.layout import Layout
from viz_core.quantizers.quantized import Quantized

if TYPE_CHECKING:
    from viz_core.quantizers.format import Format


@dataclass(frozen=True)
class HalfQuadratic:
    """Codes 0..top; a float zero point a block.

    Attributes:
        norm, beta, kappa: the l_p norm, its weight, and what the weight grows by each round.
        rounds: most rounds; they stop when the mean error no longer falls.
    """

    top: int = 15
    norm: float = 0.7
    beta: float = 10.0
    kappa: float = 1.01
    rounds: int = 20

    def __call__(self, form: Format, x: np.ndarray, layout: Layout) -> Quantized:
        """`x` in `form`."""
        assert form.scale is not None and form.zero is not None
        w = layout.split(x)
        low, high = w.min(-1, keepdims=True), w.max(-1, keepdims=True)
        inverse = np.where(high > low, np.float32(self.top) / (high - low), 1).clip(max=2e4).astype(np.float32)
        zero = self._moved(w, inverse, np.rint(-low * inverse))
        codes = self._codes(w, inverse, zero)
        scale = form.scale.quantize((1 / inverse).reshape(layout.grid))
        return Quantized(form, layout, codes.astype(form.grid.dtype), scale, zero=form.zero.round(zero)[:, 0])

    def _codes(self, w: np.ndarray, inverse: np.ndarray, zero: np.ndarray) -> np.ndarray:
        return np.clip(np.rint(w * inverse + zero), 0, self.top)

    def _moved(self, w: np.ndarray, inverse: np.ndarray, zero: np.ndarray) -> np.ndarray:
        best, beta = float("inf"), self.beta
        for _ in range(self.rounds):
            codes = self._codes(w, inverse, zero)
            error = w - (codes - zero) / inverse
            size = np.abs(error)
            if size.mean() >= best:
                break
            best = float(size.mean())
            kept = np.maximum(size - np.where(size > 0, size, 1) ** (self.norm - 1) / np.float32(beta), 0)
            outlier = np.sign(error) * kept
            zero = (codes - (w - outlier) * inverse).mean(axis=-1, keepdims=True, dtype=np.float32)
            beta *= self.kappa
        return zero
