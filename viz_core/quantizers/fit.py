"""How a scale follows from a block: its extreme, its range, its mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz_core.quantizers.direct import ONE, TINY, Direct, Measured
from viz_core.quantizers.peaks import (
    INFINITY,
    absmax,
    extreme,
    magnitude_bits,
    range_with_zero,
    running_sum,
    value_range,
)

if TYPE_CHECKING:
    from viz_core.quantizers.format import Format


@dataclass(frozen=True)
class Absmax(Direct):
    """scale = max |x| / top; `least` bounds the scale that is stored (torchao's eps)."""

    top: float = 127
    least: float = 0

    @property
    def reach(self) -> float:
        """Nothing exceeds the block's largest magnitude."""
        return self.top

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        scale = absmax(x) / np.float32(self.top)
        return Measured(np.maximum(scale, np.float32(self.least)) if self.least else scale)


@dataclass(frozen=True)
class Given(Direct):
    """A scale settled beforehand: static quantization, as torch's per-tensor int8."""

    scale: float = 1

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        return Measured(np.full(len(x), self.scale, np.float32))


@dataclass(frozen=True)
class LastAbsmax(Absmax):
    """ggml's MAX(amax, |x|): NaN replaces the maximum, the next value replaces NaN, and larger ones wrap around."""

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        most = magnitude_bits(x).view(np.float32)
        for block in np.flatnonzero(np.isnan(most)):
            last = np.flatnonzero(np.isnan(x[block]))[-1]
            most[block] = np.abs(x[block, last + 1 :]).max(initial=0) if last + 1 < x.shape[1] else np.nan
        return Measured(most / np.float32(self.top))

    def _encode(self, form: Format, x: np.ndarray, measured: Measured, out: np.ndarray) -> None:
        Absmax._encode(self, form, x, measured, out)
        if self.top == 127 and np.isnan(x.max()):
            torn = np.flatnonzero(magnitude_bits(x) > INFINITY)
            y = x[torn] * (ONE / measured.scale[torn])[:, None]
            rounded = np.trunc(y + np.copysign(np.nextafter(np.float32(0.5), np.float32(0)), y))
            out[torn] = np.nan_to_num(rounded, nan=0, posinf=0, neginf=0).astype(np.int64).astype(np.int8)


@dataclass(frozen=True)
class SignedExtreme(Direct):
    """scale = the value of largest magnitude / lowest level: that value is met exactly, whatever its sign."""

    lowest: float = -8

    @property
    def reach(self) -> float:
        """Nothing exceeds the block's largest magnitude."""
        return -self.lowest

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        return Measured(extreme(x) / np.float32(self.lowest))


@dataclass(frozen=True)
class MinMax(Direct):
    """scale = (max − min) / steps, offset = min: the block's own range, zero or not."""

    steps: int = 15

    @property
    def reach(self) -> float:
        """The range ends at the last code, or half a step on where the step is tiny."""
        return self.steps + 1

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        low, high = value_range(x)
        if np.isnan(low).any():
            low, high = np.fmin.reduce(x, axis=-1), np.fmax.reduce(x, axis=-1)
        if not low.all():  # of +0 and −0 the one that comes first
            first = np.take_along_axis(x, x.argmin(axis=-1)[:, None], axis=-1)[:, 0]
            low = np.where((low == 0) & (first == 0), first, low)
            high = np.where(high == low, low, high)
        return Measured((high - low) / np.float32(self.steps), low)


@dataclass(frozen=True)
class ZeroPoint(Direct):
    """Asymmetric integers lo..hi: the range always holds 0, and 0 has a code of its own, the zero point."""

    lo: int = 0
    hi: int = 15
    least: float = float(TINY)

    @property
    def reach(self) -> float:
        """The zero point is rounded too, so that an end may lie one step outside."""
        return max(self.hi, -self.lo) + 1

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        low, high = range_with_zero(x)
        scale = np.maximum((high - low) / np.float32(self.hi - self.lo), np.float32(self.least))
        zero = self.lo - np.rint(low / scale)
        return Measured(scale, None, np.clip(zero, self.lo, self.hi).astype(np.int32))


@dataclass(frozen=True)
class NoClipping(Direct):
    """Symmetric integers lo..hi whose scale is the larger of min / lo and max / hi: neither end is clipped."""

    lo: int = -8
    hi: int = 7
    least: float = float(TINY)

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        low, high = range_with_zero(x)
        scale = np.maximum(low / np.float32(self.lo), high / np.float32(self.hi))
        return Measured(np.maximum(scale, np.float32(self.least)))


@dataclass(frozen=True)
class MeanMagnitude(Direct):
    """scale = mean |x|, summed from left to right in float32 where `in_order` (ggml), else in float64 (BitNet)."""

    in_order: bool = False

    def measure(self, x: np.ndarray) -> Measured:
        """Scales of blocks (b, n), by the rule above."""
        if not self.in_order:
            return Measured(np.abs(x).mean(axis=-1, dtype=np.float64).astype(np.float32))
        return Measured(running_sum(np.abs(x).T) / np.float32(x.shape[1]))


@dataclass(frozen=True)
class Signs(MeanMagnitude):
    """One bit a value: its sign, with +0 and −0 positive; the scale has no say in it."""

    in_order: bool = True

    def _encode(self, form: Format, x: np.ndarray, measured: Measured, out: np.ndarray) -> None:
        np.greater_equal(x, 0, out=out.view(np.bool_))
