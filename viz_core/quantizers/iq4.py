"""IQ4_NL and IQ4_XS: sixteen unequally spaced levels, and a search over scales around the block's extreme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz_core.quantizers.direct import ONE, Direct, Measured
from viz_core.quantizers.ggml_fit import Found, SuperBlocks, columns
from viz_core.quantizers.ggml_search import SMALLEST, ZERO, best_scale, nearest
from viz_core.quantizers.peaks import extreme
from viz_core.quantizers.table import Table

if TYPE_CHECKING:
    from viz_core.quantizers.format import Format

NONLINEAR = Table("IQ4", (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113), ties="upper")


def _nonlinear(y: np.ndarray) -> np.ndarray:
    """Codes of the nearest IQ4 levels; NaN falls through the C function's binary search to the highest."""
    codes = np.empty(y.shape, np.uint8)
    NONLINEAR.encode(y, codes)
    codes[np.isnan(y)] = 15
    return codes


def _scale(x: np.ndarray, tries: int) -> tuple[np.ndarray, np.ndarray]:
    """Scales (b,) of blocks (n, b), and the first try's reciprocal; `tries` on each side of the extreme."""
    peak = extreme(np.ascontiguousarray(x.T))
    lowest = NONLINEAR.by_code[0]
    first = ONE / ((-peak if tries > 0 else peak) / lowest)
    others = [(np.float32(i) + lowest) / peak for i in range(-tries, tries + 1)]
    weight = x * x
    scale, _ = best_scale(
        x, weight, [first, *others], lambda y: NONLINEAR.by_code[_nonlinear(y)], lambda q: weight * q * x, 0
    )
    return np.where(np.abs(peak) < SMALLEST, ZERO, scale), first


@dataclass(frozen=True)
class Nonlinear(Direct):
    """IQ4_NL: 15 tries around the extreme; `tries` −1 is the reference function, which keeps its first codes."""

    tries: int = 7

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        return Measured(_scale(columns(x), self.tries)[0])

    def _encode(self, form: Format, x: np.ndarray, measured: Measured, out: np.ndarray) -> None:
        scale = measured.scale if self.tries > 0 else extreme(x) / NONLINEAR.by_code[0]
        inverse = np.where(measured.scale != 0, ONE / scale, ZERO)
        out[...] = _nonlinear(inverse[:, None] * x)


@dataclass(frozen=True)
class NonlinearSuper(SuperBlocks):
    """IQ4_XS: 6-bit signed sub-scales; codes are found with the sub-scale as stored and the super-scale as computed."""

    def search(self, x: np.ndarray) -> Found:
        """Codes and scales of whole super-blocks."""
        scales = _scale(columns(x), 7)[0].reshape(x.shape[:2])
        d = -extreme(scales) / np.float32(32)
        inverse = np.where(d != 0, ONE / d, ZERO)[:, None]
        sub = np.clip(nearest(inverse * scales), -32, 31).astype(np.float32)
        step = d[:, None] * sub
        y = np.where(step != 0, ONE / step, ZERO)[..., None] * x
        return Found(_nonlinear(y), sub, d)
