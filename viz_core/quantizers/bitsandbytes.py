"""The 4-bit data types and double quantization of QLoRA (arXiv 2305.14314 §3), by bitsandbytes 0.50.2 on a CPU.

NF4's levels are quantiles of a normal distribution, so that each code is used equally often. FP4 here is bitsandbytes'
own floating-point table, not OCP's E2M1. Double quantization stores the block scales in 8 bits: their mean is taken
away, blocks of 256 scales share one float32, and the codes are those of a table whose levels thin out by powers of ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from viz_core.quantizers.direct import ONE, TINY
from viz_core.quantizers.fit import Absmax
from viz_core.quantizers.layout import Layout
from viz_core.quantizers.peaks import absmax
from viz_core.quantizers.quantized import Quantized
from viz_core.quantizers.table import Table

if TYPE_CHECKING:
    from viz_core.quantizers.format import Format

# fmt: off
NF4 = Table("NF4", (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
), stray=7)
# fmt: on
_FP4 = tuple(float(np.float32(level) / np.float32(12)) for level in (0, 0.0625, 8, 12, 4, 6, 2, 3))
FP4 = Table("FP4", _FP4 + tuple(-level or 0.0 for level in _FP4))  # code 8 reads +0


def quantiles(bits: int = 4, offset: float = 0.9677083) -> list[float]:
    """NF4's levels from their definition: equally spaced normal quantiles on each side of zero, scaled to ±1."""
    from statistics import NormalDist

    half = 1 << (bits - 1)
    normal = NormalDist()
    upper = [normal.inv_cdf(offset + (0.5 - offset) * i / half) for i in range(half)]
    lower = [-normal.inv_cdf(offset + (0.5 - offset) * i / (half - 1)) for i in range(half - 1)]
    return sorted(value / upper[0] for value in [*lower, 0.0, *upper])


def _linspace(steps: int) -> np.ndarray:
    """torch.linspace(0.1, 1, steps) in float32: from both ends, each with one rounding."""
    low, high = np.float32(0.1), ONE
    step = np.float64((high - low) / np.float32(steps - 1))
    i = np.arange(steps)
    return np.where(i < steps // 2, low + step * i, high - step * (steps - 1 - i)).astype(np.float32)


@cache
def dynamic_levels(signed: bool = True) -> tuple[float, ...]:
    """The 256 levels of the dynamic 8-bit map: seven decades, each with twice as many levels as the one below."""
    levels = [0.0, 1.0]
    for decade in range(7):
        edges = _linspace((1 << decade) * (1 if signed else 2) + 1)
        means = (edges[:-1] + edges[1:]) / np.float32(2) * np.float32(10.0 ** (decade - 6))
        levels += [*means.tolist(), *(-means).tolist()] if signed else means.tolist()
    return tuple(sorted(levels + [0.0] * (256 - len(levels))))


class LookedUp(Table):
    """Nearest level by a table of 65,536 cells over −1..1, as the CPU kernel does: 0.3 % of codes are one off."""

    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf) -> None:
        """Codes of the nearest levels of `y` into `out`."""
        cells = np.arange(65536, dtype=np.float32) / np.float32(65535) * np.float32(2) - ONE
        nearest = np.searchsorted(self.borders, cells, side="left").astype(np.uint8)
        index = (np.clip(y, -1, 1) + ONE) * np.float32(0.5) * np.float32(65535) + np.float32(0.5)
        out[...] = nearest[np.nan_to_num(index, nan=0).astype(np.int32)]


DYNAMIC8 = Table("dynamic 8-bit", dynamic_levels())
DYNAMIC8_LUT = LookedUp("dynamic 8-bit (table)", dynamic_levels())


@dataclass(frozen=True)
class Peak(Absmax):
    """Largest magnitude to ±1; the reciprocal is taken of at least the smallest normal number."""

    top: float = 1
    floor: float = float(TINY)


@dataclass(frozen=True)
class Peak8(Peak):
    """The 8-bit kernel does not guard its reciprocal: a block of zeros becomes 0 · ∞, and NaN the lowest code."""

    floor: float = 0

    def divisor(self, scale: np.ndarray) -> np.ndarray:
        """The scale that values are divided by."""
        return np.where(scale == 0, np.float32(np.nan), scale)


def lane_sum(x: np.ndarray) -> np.float32:
    """torch's float32 sum on a CPU with 8-wide vectors: 4 × 8 lanes down the array, vectors added, then lanes."""
    whole = x.size // 32 * 32
    lanes = np.zeros((4, 8), np.float32)
    for row in x[:whole].reshape(-1, 4, 8):
        lanes += row
    vector = lanes[0].copy()
    for other in lanes[1:]:
        vector += other
    total = np.float32(0)
    for value in (*vector, *x[whole:]):
        total += value
    return total


@dataclass(frozen=True)
class Centred:
    """Block scales minus their mean, in blocks with a peak of their own: the inner level of double quantization."""

    def __call__(self, form: Format, x: np.ndarray, layout: Layout) -> Quantized:
        """`x` in `form`."""
        assert form.scale is not None
        centre = lane_sum(x.reshape(-1)) / np.float32(x.size)
        blocks = layout.split(x - centre)
        peak = absmax(blocks)
        codes = np.empty(blocks.shape, form.grid.dtype)
        form.grid.encode(blocks * (ONE / np.maximum(peak, TINY))[:, None], codes)
        return Quantized(form, layout, codes, form.scale.quantize(peak.reshape(layout.grid)), centre=np.float32(centre))
