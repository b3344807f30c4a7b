"""What quantizing did to a tensor: error measures, and which values were clipped or became zero."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log10, sqrt

import numpy as np

from viz_core.quantizers.quantized import Quantized


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of `values` against `x`, in the tensor's own unit but for the last two.

    Where a finite value came back infinite or NaN there is no end to the error: ∞, ∞, −∞ dB and a cosine of 0.

    Attributes:
        rmse: root of the mean squared error.
        maximum: largest |value − x|.
        sqnr: signal power over noise power, dB; ∞ where nothing changed.
        cosine: cosine of the angle between the two, 1 where both are zero.
    """

    rmse: float
    maximum: float
    sqnr: float
    cosine: float


PIECE = 1 << 17
"""Values that are looked at in float64 at once."""


def errors(x: np.ndarray, values: np.ndarray) -> Errors:
    """Error measures in float64 over the values of `x` that are finite, piece by piece: no copy of all is made."""
    x, values = x.reshape(-1), values.reshape(-1)
    sums, maximum, count = np.zeros(4), 0.0, 0
    for start in range(0, x.size, PIECE):
        cut = slice(start, start + PIECE)
        before, after = x[cut].astype(np.float64), values[cut].astype(np.float64)
        finite = np.isfinite(before)
        if not finite.all():
            before, after = before[finite], after[finite]
        if not np.isfinite(after).all():
            return Errors(inf, inf, -inf, 0.0)
        noise = after - before
        sums += before @ before, noise @ noise, after @ after, before @ after
        maximum, count = max(maximum, float(np.abs(noise).max(initial=0))), count + before.size
    if not count:
        return Errors(0.0, 0.0, inf, 1.0)
    signal, error, stored, both = sums.tolist()
    length = sqrt(signal) * sqrt(stored)
    cosine = both / length if length else float(error == 0)
    return Errors(sqrt(error / count), maximum, decibels(signal, error), cosine)


def decibels(signal: float, noise: float) -> float:
    """10 log10(signal / noise); ∞ without noise, −∞ without signal."""
    if noise == 0:
        return inf
    return 10 * log10(signal / noise) if signal > 0 else -inf


@dataclass(frozen=True, slots=True)
class Fates:
    """Masks over a tensor, its shape.

    Attributes:
        clipped: beyond the outermost point of its block by more than half a step; nothing where the step is 0.
        zeroed: not zero before, zero after.
    """

    clipped: np.ndarray
    zeroed: np.ndarray


def fates(x: np.ndarray, q: Quantized) -> Fates:
    """Which values of `x` were clipped, and which became zero."""
    low, high = outer_bounds(q)
    blocks = q.layout.split(x)
    clipped = q.layout.join((blocks < low[:, None]) | (blocks > high[:, None]))
    return Fates(clipped, (x != 0) & (q.values.reshape(x.shape) == 0))


def outer_bounds(q: Quantized, which: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
    """The numbers, (blocks,) each, beyond which a value of the block is clipped: half a step outside the points.

    ∓∞ where the step is 0. `which` blocks are asked for.
    """
    levels, blocks = q.format.grid.levels.astype(np.float64), q.codes[which].shape[:1]
    if levels.size < 2:
        return np.broadcast_to(-np.inf, blocks), np.broadcast_to(np.inf, blocks)
    cast = q.scale is None and q.offset is None and q.zero is None  # the same bounds for all blocks
    steps = np.ones((1, 1)) if cast else q.steps[which, None].astype(np.float64)
    ends = np.array([1.5 * levels[0] - 0.5 * levels[1], 1.5 * levels[-1] - 0.5 * levels[-2]])
    zero = 0 if q.zero is None else q.zero[which, None]
    offset = 0 if q.offset is None else q.offset.values.reshape(-1, 1)[which]
    with np.errstate(invalid="ignore", over="ignore"):
        bounds = (ends - zero) * steps + offset
    none = steps[:, 0] == 0
    low, high = np.where(none, -np.inf, bounds.min(axis=1)), np.where(none, np.inf, bounds.max(axis=1))
    return np.broadcast_to(low, blocks), np.broadcast_to(high, blocks)
