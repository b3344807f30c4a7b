"""Floating-point grids of few bits: FP16, BF16, the FP8s, FP6, FP4 (OCP OFP8 and MX v1.0).

A code is sign | exponent | fraction. Rounding is done on the bits of the float32 number, so every tie rule is exact and
subnormal numbers need no case of their own. Bit-equal to ml_dtypes 0.6.0 (`overflow="nan"`) and torch 2.13.0
(`overflow="saturate"`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Literal

import numpy as np

from viz_core.quantizers.grid import Grid, Ties
from viz_core.quantizers.pieces import scratch
from viz_core.quantizers.table import count_above, look_up, look_up_half

Special = Literal["ieee", "fn", "fnuz", "finite"]
"""ieee: infinities and NaN; fn: NaN only, all-ones; fnuz: NaN at −0; finite: neither."""
Overflow = Literal["saturate", "nan"]
"""Beyond the largest number: that number; or infinity where the grid has it, else NaN."""
INFINITY = 0x7F800000
"""The bits of float32 infinity; anything above is NaN."""


@dataclass(frozen=True)
class Minifloat(Grid):
    """sign, `exponent` bits, `fraction` bits; `bias` defaults to 2^(exponent−1) − 1."""

    name: str
    exponent: int
    fraction: int
    special: Special = "ieee"
    ties: Ties = "even"
    overflow: Overflow = "saturate"

    @property
    def bits(self) -> float:  # type: ignore[override]
        """Sign, exponent and fraction."""
        return 1 + self.exponent + self.fraction

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """uint8, or uint16 above 8 bits."""
        return np.dtype(np.uint8 if self.bits <= 8 else np.uint16)

    @property
    def bias(self) -> int:
        """What the exponent field exceeds the exponent by."""
        return (1 << (self.exponent - 1)) - (self.special != "fnuz")

    @cached_property
    def top_code(self) -> int:
        """Code of the largest finite number."""
        codes = 1 << (self.exponent + self.fraction)
        return codes - 1 - {"ieee": 1 << self.fraction, "fn": 1, "fnuz": 0, "finite": 0}[self.special]

    @cached_property
    def top(self) -> float:
        """The largest finite number."""
        return float(self.by_code[self.top_code])

    @cached_property
    def by_code(self) -> np.ndarray:
        """The number of every code, float32."""
        codes = np.arange(1 << int(self.bits))
        magnitude = codes & ((1 << (self.exponent + self.fraction)) - 1)
        field, fraction = magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1)
        significand = np.where(field > 0, (1 << self.fraction) + fraction, fraction).astype(np.float64)
        values = np.ldexp(significand, np.maximum(field, 1) - self.bias - self.fraction)
        values = np.where(codes != magnitude, -values, values)
        if self.special == "fnuz":
            values[len(codes) // 2] = np.nan
        elif self.special == "fn":
            values[magnitude > self.top_code] = np.nan
        elif self.special == "ieee":
            values[magnitude > self.top_code] = np.where(fraction, np.nan, np.copysign(np.inf, values))[
                magnitude > self.top_code
            ]
        return values.astype(np.float32)

    @cached_property
    def levels(self) -> np.ndarray:
        """Every finite number, ascending float32."""
        finite = self.by_code[np.isfinite(self.by_code)]
        return np.unique(finite)

    def decode(self, codes: np.ndarray, out: np.ndarray) -> None:
        """Numbers of `codes` into `out`."""
        look_up(self.by_code, codes, out)

    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf) -> None:
        """Codes of the nearest levels of `y` into `out`."""
        if self.bits <= 4 and self.ties != "up":
            self._by_compares(y, out)
        elif self.bits <= 8 and self.fraction <= 5 and out.flags.c_contiguous:
            look_up_half(self._codes_by_upper_half, y, out)
        else:
            self._by_bits(y, out)

    def _by_compares(self, y: np.ndarray, out: np.ndarray) -> None:
        """Few levels: count the midpoints below |y|. A tie is at an odd code's upper border to reach an even one."""
        sign = np.uint8(1 << (int(self.bits) - 1))
        negative = np.signbit(y, out=scratch(y.shape, 2, np.bool_))
        count_above(np.abs(y, out=y), self._borders, self._at, out)
        marks = negative.view(np.uint8)
        out |= np.multiply(marks, sign, out=marks)
        if np.isnan(y.max()):  # no NaN to give: ml_dtypes answers zero with the inverted sign
            unknown = np.isnan(y)
            out[unknown] = sign - marks[unknown]

    @cached_property
    def _borders(self) -> np.ndarray:
        """The midpoints of neighbouring magnitudes."""
        magnitudes = self.by_code[: self.top_code + 1]
        return (magnitudes[1:] + magnitudes[:-1]) / np.float32(2)

    @cached_property
    def _at(self) -> list[bool]:
        """Whether a number at a midpoint goes up."""
        return [bool(code % 2) if self.ties == "even" else self.ties == "away" for code in range(len(self._borders))]

    @cached_property
    def _codes_by_upper_half(self) -> np.ndarray:
        """Code of every float32 whose lower sixteen bits are zero."""
        codes = np.empty(1 << 16, self.dtype)
        self._by_bits((np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)).view(np.float32), codes)
        return codes

    def _by_bits(self, y: np.ndarray, out: np.ndarray) -> None:
        word = np.ascontiguousarray(y).view(np.int32)
        magnitude = word & 0x7FFFFFFF
        field = np.maximum(magnitude >> 23, 1)
        significand = (magnitude & 0x7FFFFF) | ((magnitude >= 1 << 23).astype(np.int32) << 23)
        below = 128 - self.bias - field  # exponents below the smallest normal number
        shift = np.clip(below, 0, 2 + self.fraction) + (23 - self.fraction)
        code = self._round(significand, shift) + (np.maximum(-below, 0) << self.fraction)
        self._specials(code, magnitude)
        sign = (word < 0).astype(np.int32) << (self.exponent + self.fraction)
        if self.special == "fnuz":
            sign[(code == 0) | (code == self._nan_code)] = 0
        elif self.special == "finite":
            sign[magnitude > INFINITY] ^= 1 << (self.exponent + self.fraction)
        out[...] = code | sign

    def _round(self, significand: np.ndarray, shift: np.ndarray) -> np.ndarray:
        half = np.left_shift(1, shift - 1, dtype=np.int32)
        if self.ties == "even":
            half += ((significand >> shift) & 1) - 1
        elif self.ties == "zero":
            half -= 1
        return (significand + half) >> shift

    @property
    def _nan_code(self) -> int:
        if self.special == "finite":
            return 0
        if self.special == "fnuz":
            return 1 << (self.exponent + self.fraction)
        return self.top_code + (1 if self.special == "fn" else 1 + (1 << (self.fraction - 1)))

    def _specials(self, code: np.ndarray, magnitude: np.ndarray) -> None:
        """Overflow, infinity and NaN, in place."""
        code[code > self.top_code] = self._overflow_code
        code[magnitude > INFINITY] = self._nan_code

    @property
    def _overflow_code(self) -> int:
        if self.special == "fnuz":  # both references answer NaN
            return self._nan_code
        return self.top_code if self.overflow == "saturate" or self.special == "finite" else self.top_code + 1


BF16 = Minifloat("BF16", 8, 7, overflow="nan")
E4M3 = Minifloat("E4M3", 4, 3, "fn")
E5M2 = Minifloat("E5M2", 5, 2, overflow="nan")
E2M3 = Minifloat("E2M3", 2, 3, "finite")
E3M2 = Minifloat("E3M2", 3, 2, "finite")
E2M1 = Minifloat("E2M1", 2, 1, "finite")
