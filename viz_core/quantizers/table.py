"""Grids that are lists of levels: NF4, FP4, IQ4's non-linear levels, the dynamic 8-bit map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf
from typing import Literal

import numpy as np

from viz_core.quantizers.grid import Grid
from viz_core.quantizers.pieces import scratch, spans


@dataclass(frozen=True)
class Table(Grid):
    """Levels by code, in any order; a number goes to the nearest level and a tie to the lower one (or the upper).

    `midpoints` may be given where a reference places its borders otherwise.
    """

    name: str
    table: tuple[float, ...]
    ties: Literal["lower", "upper"] = "lower"
    stray: int | None = None
    midpoints: tuple[float, ...] | None = None
    dtype = np.dtype(np.uint8)

    @property
    def bits(self) -> float:  # type: ignore[override]
        """log2 of the number of codes, whole bits."""
        return (len(self.table) - 1).bit_length()

    @cached_property
    def by_code(self) -> np.ndarray:
        """Level of each code, float32."""
        return np.array(self.table, np.float32)

    @cached_property
    def order(self) -> np.ndarray:
        """Codes by ascending level, uint8."""
        return np.argsort(self.by_code, kind="stable").astype(np.uint8)

    @cached_property
    def _ascending(self) -> bool:
        return bool((self.order == np.arange(len(self.order))).all())

    @cached_property
    def levels(self) -> np.ndarray:
        """Every finite number, ascending float32."""
        return self.by_code[self.order]

    @cached_property
    def borders(self) -> np.ndarray:
        """The numbers that separate neighbouring levels, float32, one fewer than levels."""
        if self.midpoints is not None:
            return np.array(self.midpoints, np.float32)
        return (self.levels[1:] + self.levels[:-1]) / np.float32(2)

    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf) -> None:
        """Codes of the nearest levels of `y` into `out`."""
        if len(self.table) > 32:
            out[...] = np.searchsorted(self.borders, y, side="left" if self.ties == "lower" else "right")
        else:
            count_above(y, self.borders, [self.ties == "upper"] * len(self.borders), out)
        if not self._ascending:
            out[...] = np.take(self.order, out, mode="clip")

    def decode(self, codes: np.ndarray, out: np.ndarray) -> None:
        """Numbers of `codes` into `out`."""
        look_up(self.by_code, codes, out)


def count_above(y: np.ndarray, borders: np.ndarray, at: list[bool], out: np.ndarray) -> None:
    """How many borders each `y` lies above (or at, where `at`): compares outrun a binary search tenfold."""
    hit = scratch(y.shape, 1, np.bool_)
    for i, (border, inclusive) in enumerate(zip(borders, at, strict=True)):
        above = np.greater_equal if inclusive else np.greater
        above(y, border, out=hit if i else out.view(np.bool_))
        if i:
            np.add(out, hit.view(np.uint8), out=out)


def look_up(by_code: np.ndarray, codes: np.ndarray, out: np.ndarray) -> None:
    """Numbers of uint8 codes; with 16 or fewer levels two at a time, from a table of all pairs of codes."""
    if len(by_code) > 16 or codes.shape[-1] % 2 or not (codes.flags.c_contiguous and out.flags.c_contiguous):
        np.take(by_code, codes, mode="clip", out=out)
        return
    np.take(_pairs(by_code.tobytes()), codes.view(np.uint16), mode="clip", out=out.view(np.uint64))


def look_up_half(by_upper_half: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Codes of float32 `y` into contiguous `out` by 16 bits of each, of a grid with at most five fraction bits.

    Any lower bit that is set also sets the lowest of the sixteen, which alone never tips a rounding. This takes a fifth
    of the time of rounding by arithmetic; strips of 16,384 keep `take`, whose indices are 8 bytes each, in the cache.
    """
    word, codes, low = np.ascontiguousarray(y).view(np.uint32).reshape(-1), out.reshape(-1), np.uint32(0xFFFF)
    for strip in spans(word.size, 1, 1 << 14):
        hinted = np.bitwise_and(word[strip], low, out=scratch(word[strip].shape, 1, np.uint32))
        hinted += low
        hinted |= word[strip]
        half = np.right_shift(hinted, 16, out=scratch(hinted.shape, 2, np.intp), casting="unsafe")
        np.take(by_upper_half, half, mode="clip", out=codes[strip])


@lru_cache(maxsize=32)
def _pairs(levels: bytes) -> np.ndarray:
    """The float32 pair, as one uint64, of every two codes read as one little-endian uint16."""
    by_code = np.frombuffer(levels, np.float32)
    pair = np.arange(1 << 12)
    low, high = np.minimum(pair & 255, len(by_code) - 1), np.minimum(pair >> 8, len(by_code) - 1)
    return np.ascontiguousarray(np.stack([by_code[low], by_code[high]], axis=1)).view(np.uint64)[:, 0]
