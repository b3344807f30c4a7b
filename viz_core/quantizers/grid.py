"""Grids: codes ↔ numbers, with no scale. Integers, fixed-point numbers and plain float32."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Literal

import numpy as np

from viz_core.quantizers.pieces import scratch

Ties = Literal["even", "away", "up", "zero"]
"""Where a number half-way between two levels goes: to the even code, away from zero, up, or towards zero."""


class Grid(ABC):
    """Codes of `dtype`, `bits` bits each, and the numbers they stand for."""

    name: str
    bits: float
    dtype: np.dtype[Any]
    stray: int | None = None
    """The code of numbers that are not finite, where a reference has one; None leaves them to `encode`."""

    @abstractmethod
    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf) -> None:
        """Codes of the nearest levels of `y` (float32, overwritten) into `out` (same shape, `dtype`).

        `reach` is a bound of |y| that the caller vouches for; integers are clipped faster below it.
        """

    @abstractmethod
    def decode(self, codes: np.ndarray, out: np.ndarray) -> None:
        """Numbers of `codes` into `out` (same shape, float32)."""

    @property
    @abstractmethod
    def levels(self) -> np.ndarray:
        """Every finite number of the grid, ascending, float32."""


@dataclass(frozen=True)
class Integers(Grid):
    """The integers lo..hi; a code is the integer itself.

    References cast what is not finite after scaling to an integer, which leaves the lowest code in types with unsigned
    storage and zero elsewhere: `stray`.
    """

    lo: int
    hi: int
    ties: Ties = "even"
    stray: int = 0
    bits: float = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", self.bits or (self.hi - self.lo).bit_length())

    @property
    def name(self) -> str:  # type: ignore[override]
        """The range, such as −8..7."""
        return f"{self.lo}..{self.hi}".replace("-", "−")

    @cached_property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """int8 or uint8, int32 for wide ranges."""
        if self.lo >= -128 and self.hi <= 127:
            return np.dtype(np.int8)
        return np.dtype(np.uint8) if self.lo >= 0 and self.hi <= 255 else np.dtype(np.int32)

    @cached_property
    def levels(self) -> np.ndarray:
        """Every finite number, ascending float32."""
        return np.arange(self.lo, self.hi + 1, dtype=np.float32)

    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf, zero: np.ndarray | None = None) -> None:
        """Codes of the nearest levels of `y` into `out`; `zero`, a column of codes, is added after rounding."""
        shift = self.lo if self.ties == "up" else 0
        furthest = reach + 0.5 - shift + (0 if zero is None else max(self.hi, -self.lo))
        if furthest < 128:  # every rounded value is an int8, and clipping bytes costs a quarter
            byte = out.view(np.int8)
            self._round_to_bytes(y, byte)
            if zero is not None:
                byte += zero.astype(np.int8)
            if furthest - 0.5 > min(self.hi, -self.lo) - shift:
                np.clip(byte, self.lo - shift, self.hi - shift, out=byte)
        else:
            self._round(y)
            if zero is not None:
                np.add(np.trunc(y, out=y), zero.astype(np.float32), out=y)
            np.clip(y, self.lo - shift, self.hi - shift + 0.5, out=y)
            out[...] = y
        if shift:
            out += self.dtype.type(shift)

    def _round_to_bytes(self, y: np.ndarray, byte: np.ndarray) -> None:
        """What `_round` does, and the cast to int8, for numbers that fit."""
        if self.ties == "even":
            np.rint(y, out=byte, casting="unsafe")
        elif self.ties == "up":
            np.add(y, np.float32(0.5 - self.lo), out=byte, casting="unsafe")
        elif self.ties == "away":  # with n = trunc(y), trunc(2 y) is 2 n, and one more from the half on
            byte[...] = y
            twice = scratch(y.shape, 1, np.int16)
            np.add(y, y, out=twice, casting="unsafe")
            np.subtract(twice, byte, out=byte, casting="unsafe")
        else:
            self._round(y)
            byte[...] = y

    def _round(self, y: np.ndarray) -> None:
        """`y` to numbers whose integer part is the code, in place; "up" counts from the lowest code."""
        if self.ties == "even":
            np.rint(y, out=y)
        elif self.ties == "up":  # trunc(y + ½ − lo): the float32 sum is part of ggml's rule
            y += np.float32(0.5 - self.lo)
        elif self.ties == "away":  # the float32 just below ½ makes trunc(y ± ½) exact
            y += np.copysign(np.nextafter(np.float32(0.5), np.float32(0)), y, out=scratch(y.shape, 1))
        else:
            np.copysign(np.ceil(np.abs(y) - np.float32(0.5)), y, out=y)

    def decode(self, codes: np.ndarray, out: np.ndarray) -> None:
        """Numbers of `codes` into `out`."""
        out[...] = codes


@dataclass(frozen=True)
class FixedPoint(Integers):
    """Integers in units of 2^−`fraction`: MXINT8's element has six fractional bits."""

    fraction: int = 6

    @property
    def name(self) -> str:  # type: ignore[override]
        """The range of codes and the unit."""
        return f"{self.lo}..{self.hi} / {1 << self.fraction}".replace("-", "−")

    @cached_property
    def levels(self) -> np.ndarray:
        """Every finite number, ascending float32."""
        return np.arange(self.lo, self.hi + 1, dtype=np.float32) / np.float32(1 << self.fraction)

    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf, zero: np.ndarray | None = None) -> None:
        """Codes of the nearest levels of `y` into `out`."""
        y *= np.float32(1 << self.fraction)
        Integers.encode(self, y, out, reach * (1 << self.fraction), zero)

    def decode(self, codes: np.ndarray, out: np.ndarray) -> None:
        """Numbers of `codes` into `out`."""
        np.divide(codes, np.float32(1 << self.fraction), out=out)


@dataclass(frozen=True)
class Single(Grid):
    """float32 itself: the scale that is stored without loss."""

    name: str = "FP32"
    bits: float = 32
    dtype = np.dtype(np.float32)

    @property
    def levels(self) -> np.ndarray:
        """Every finite number, ascending float32."""
        return np.empty(0, np.float32)  # too many to list

    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf) -> None:
        """Codes of the nearest levels of `y` into `out`."""
        out[...] = y

    def decode(self, codes: np.ndarray, out: np.ndarray) -> None:
        """Numbers of `codes` into `out`."""
        out[...] = codes
