"""MX blocks (OCP MX v1.0 §6.3) and NVFP4, by the rules of torchao 0.18.0 (`to_mx`, `nvfp4_quantize`) and ggml 0.13.1.

An MX scale is a power of two. Its exponent follows from the block's largest magnitude by one of four rules; they decide
whether the largest value is clipped or a bit of range is left unused. Left out: swizzled scale layouts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

import numpy as np

from viz_core.quantizers.direct import ONE, Direct, Measured
from viz_core.quantizers.grid import FixedPoint
from viz_core.quantizers.layout import Layout
from viz_core.quantizers.minifloat import E2M1, E4M3, Minifloat
from viz_core.quantizers.peaks import absmax, magnitude_bits
from viz_core.quantizers.pieces import spans
from viz_core.quantizers.quantized import Quantized

if TYPE_CHECKING:
    from viz_core.quantizers.format import Format

ScaleRule = Literal["floor", "ceil", "even", "rceil"]
"""floor: 2^(⌊log2 max⌋ − e_max), the specification's; ceil: rounds that exponent up; even: rounds it to nearest as the
element would be; rceil: the least power of two at which nothing is clipped."""


@dataclass(frozen=True)
class PowerScale(Direct):
    """The E8M0 scale of a block for elements of `grid`."""

    rule: ScaleRule = "floor"
    exponent: int = 2
    fraction: int = 1
    top: float = 6.0
    floor: float = 2.0**-126

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        word = magnitude_bits(x)
        most = word.view(np.float32)
        if self.rule == "rceil":
            word = (most / np.float32(self.top)).view(np.int32)
            field = (word >> 23) + ((word & 0x7FFFFF) > 0)
            field = np.where(word < 1 << 23, word > 1 << 22, field)  # 2^−127 is a subnormal float32
        else:
            if self.rule == "even":
                word = word + (1 << (22 - self.fraction))
            field = (word >> 23) - self.exponent
            if self.rule == "ceil":
                field += (word & 0x7FFFFF) > 0
        field = np.clip(field, 0, 254).astype(np.int32)
        scale = np.maximum(field << 23, 1 << 22).view(np.float32)  # field 0 is the subnormal 2^−127
        scale[~np.isfinite(most)] = np.nan
        return Measured(scale)

    def divisor(self, scale: np.ndarray) -> np.ndarray:
        """The scale that values are divided by."""
        if self.rule == "rceil":  # torchao encodes a block of the smallest scale unscaled
            return np.where(scale == np.float32(2.0**-127), ONE, scale)
        return np.maximum(scale, np.float32(self.floor))


def power_scale(grid: Minifloat | FixedPoint, rule: ScaleRule = "floor") -> PowerScale:
    """The MX scale rule for elements of `grid`."""
    if isinstance(grid, FixedPoint):
        return PowerScale(rule=rule, exponent=0, fraction=grid.fraction, top=float(grid.levels[-1]))
    return PowerScale(rule=rule, exponent=int(np.log2(grid.top)), fraction=grid.fraction, top=grid.top)


@dataclass(frozen=True)
class OneLevel(Direct):
    """NVFP4 without a tensor scale: E4M3 scales max |x| / 6, at least 2⁻⁶; values are divided by the stored scale."""

    seen: Literal["exact", "stored"] = "stored"
    inverse: Literal["reciprocal", "division"] = "division"

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        return Measured(np.clip(absmax(x) / np.float32(E2M1.top), LEAST, np.float32(E4M3.top)))


LEAST = np.float32(2.0**-6)
"""The smallest normal E4M3 number, torchao's least scale."""


@dataclass(frozen=True)
class TwoLevel:
    """NVFP4: E4M3 block scales in units of a float32 tensor scale, max |x| / (448 · 6)."""

    def __call__(self, form: Format, x: np.ndarray, layout: Layout) -> Quantized:
        """`x` in `form`."""
        blocks = layout.split(x)
        most = np.concatenate([absmax(blocks[part]) for part in spans(*blocks.shape)])
        tensor = most.max() / np.float32(E4M3.top * E2M1.top)
        unit = tensor if most.any() else ONE
        scale = self._scales(form, most, tensor, unit, layout)
        factor = (ONE / unit) / np.maximum(scale.levels, LEAST)
        codes = np.empty(blocks.shape, form.grid.dtype)
        for part in spans(*blocks.shape):
            form.grid.encode(blocks[part] * factor[part, None], codes[part])
        return Quantized(form, layout, codes, scale)

    @staticmethod
    def _scales(form: Format, most: np.ndarray, tensor: np.float32, unit: np.float32, layout: Layout) -> Quantized:
        assert form.scale is not None and form.scale.scale is not None
        wanted = np.clip((most / np.float32(E2M1.top)) / unit, LEAST, np.float32(E4M3.top))
        inner = Layout.of(layout.grid, "tensor")
        codes = np.empty((1, most.size), form.scale.grid.dtype)
        form.scale.grid.encode(wanted[None].copy(), codes)
        return Quantized(form.scale, inner, codes, form.scale.scale.quantize(np.array([[tensor]])))


@dataclass(frozen=True)
class FirstMinimum(Direct):
    """ggml's search in E2M1: the first code of least |level · d − x|, so that a tie goes to the smaller magnitude.

    `power` picks MXFP4's scale, 2^(⌊log2 max⌋ − 2), else NVFP4's, max / 6 as unsigned E4M3.
    """

    seen: Literal["exact", "stored"] = "stored"
    power: bool = True

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        most = absmax(x)
        if not self.power:
            return Measured(most / np.float32(E2M1.top))
        log = np.floor(np.log2(most.astype(np.float64)).astype(np.float32))
        code = np.where(np.isfinite(log), log + 125, 0).astype(np.int32) & 255
        return Measured(np.ldexp(ONE, code - 127).astype(np.float32))

    def _encode(self, form: Format, x: np.ndarray, measured: Measured, out: np.ndarray) -> None:
        half = measured.scale[:, None] * np.float32(0.5)
        best = np.abs(x)
        best[np.isnan(best)] = 0  # no error is less than NaN: the first code stays
        out[...] = 0
        for code, level in enumerate(E2M1.by_code * np.float32(2)):
            error = np.abs(level * half - x)
            np.copyto(out, code, where=error < best)
            np.fmin(best, error, out=best)


@dataclass(frozen=True)
class UnsignedE4M3(Minifloat):
    """ggml's UE4M3: no sign; halves round up, subnormals stop at 7, and anything from 256 on is 448."""

    name: str = "UE4M3"
    exponent: int = 4
    fraction: int = 3
    special: Literal["fn"] = "fn"

    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf) -> None:
        """Codes of the nearest levels of `y` into `out`."""
        word = np.ascontiguousarray(y).view(np.int32)
        field = (word >> 23) - 120
        code = ((word + (1 << 19)) >> 20) - (120 << 3)
        small = np.minimum(y * np.float32(512) + np.float32(0.5), np.float32(7))
        code = np.where(field <= 0, np.where(small >= 1, small, 0).astype(np.int32), code)
        code = np.where((field >= 15) | (code >= 15 << 3), 0x7E, code)
        out[...] = np.where(y > 0, code, 0)


UE4M3 = UnsignedE4M3()
