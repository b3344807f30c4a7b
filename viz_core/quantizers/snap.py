"""One block under the glass: every value, its code, and the arithmetic that leads back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.quantizers.errors import outer_bounds
from viz_core.quantizers.quantized import Quantized


def in_steps(x: np.ndarray, q: Quantized) -> np.ndarray:
    """Blocks of `x` (blocks, n) in units of their scale, where the grid's levels stand still.

    0 for a scale of 0, and NaN for one that is not finite: nothing can be measured in it.
    """
    scale = q.steps[:, None]
    offset = 0 if q.offset is None else q.offset.values.reshape(-1, 1)
    zero = 0 if q.zero is None else q.zero[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(scale != 0, (q.layout.split(x) - offset) / scale + zero, np.float32(0))
        return np.where(np.isfinite(scale), found, np.float32(np.nan))


@dataclass(frozen=True, slots=True)
class Snapped:
    """One block of n values; arrays (n,), and what the block's values share.

    value = (level − zero) · scale + offset.
    """

    before: np.ndarray
    codes: np.ndarray
    levels: np.ndarray
    after: np.ndarray
    points: np.ndarray
    scale: float
    offset: float
    zero: float
    clipped: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """after − before, (n,)."""
        return self.after - self.before

    @property
    def step(self) -> float:
        """The least distance of neighbouring points."""
        return float(np.diff(self.points).min()) if self.points.size > 1 else 0.0

    def formula(self, i: int) -> str:
        """The arithmetic of value i with its numbers, such as (−3 − 0) × 0.0125 + 0.5 = 0.4625."""
        return arithmetic(self.levels[i], self.zero, self.scale, self.offset, self.after[i])


def arithmetic(level: float, zero: float, scale: float, offset: float, value: float) -> str:
    """How one value follows from its level, with the numbers in it."""
    text = f"({_number(level)} − {_number(zero)})" if zero else _number(level)
    text += f" × {_number(scale)}"
    if offset:
        text += f" {'−' if offset < 0 else '+'} {_number(abs(offset))}"
    return f"{text} = {_number(value)}"


def _number(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{float(value) or 0.0:.4g}".replace("-", "−").replace("inf", "∞")  # −0 reads as 0


def snapped(x: np.ndarray, q: Quantized, block: int) -> Snapped:
    """Block number `block` of `q`, which `x` was quantized to; padding is left out."""
    n = int(q.layout.lengths()[block])
    codes = q.codes[block, :n]
    levels = np.empty(codes.shape, np.float32)
    q.format.grid.decode(np.ascontiguousarray(codes), levels)
    before, after = (q.layout.split(side)[block, :n] for side in (x, q.values))
    low, high = (ends[0] for ends in outer_bounds(q, slice(block, block + 1)))
    offset = 0.0 if q.offset is None else float(q.offset.values.reshape(-1)[block])
    zero = 0.0 if q.zero is None else float(q.zero[block])
    return Snapped(
        before, codes, levels, after, q.points(block),
        float(q.steps[block]), offset, zero, (before < low) | (before > high),
    )  # fmt: skip


def alike(x: np.ndarray, q: Quantized, start: int, count: int) -> Snapped:
    """`count` values from number `start` on (fewer at the end) of a format without scales: the whole tensor is one
    block then, whose points are the grid.
    """
    at = slice(start, min(start + count, x.size))
    codes = q.layout.join(q.codes).reshape(-1)[at]
    levels = np.empty(codes.shape, np.float32)
    q.format.grid.decode(np.ascontiguousarray(codes), levels)
    before, after = (side.reshape(-1)[at] for side in (x, q.values))
    low, high = (ends[0] for ends in outer_bounds(q, slice(0, 1)))
    return Snapped(
        before, codes, levels, after, q.points(0), 1.0, 0.0, 0.0, (before < low) | (before > high)
    )
