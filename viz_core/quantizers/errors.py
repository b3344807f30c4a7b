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


def errors(x: np.ndarray, values: np.ndarray) -> Errors:
    """Error measures in float64 over the values of `x` that are finite."""
    x, values = x.reshape(-1).astype(np.float64), values.reshape(-1).astype(np.float64)
    finite = np.isfinite(x)
    x, values = x[finite], values[finite]
    if not x.size:
        return Errors(0.0, 0.0, inf, 1.0)
    if not np.isfinite(values).all():
        return Errors(inf, inf, -inf, 0.0)
    noise = values - x
    signal_power, noise_power = float(x @ x), float(noise @ noise)
    length = sqrt(signal_power) * sqrt(float(values @ values))
    cosine = float(x @ values) / length if length else float(noise_power == 0)
    return Errors(sqrt(noise_power / x.size), float(np.abs(noise).max()), decibels(signal_power, noise_power), cosine)


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
    levels, steps = q.format.grid.levels.astype(np.float64), q.steps[which, None].astype(np.float64)
    if levels.size < 2:
        return np.full(len(steps), -np.inf), np.full(len(steps), np.inf)
    ends = np.array([1.5 * levels[0] - 0.5 * levels[1], 1.5 * levels[-1] - 0.5 * levels[-2]])
    zero = 0 if q.zero is None else q.zero[which, None]
    offset = 0 if q.offset is None else q.offset.values.reshape(-1, 1)[which]
    with np.errstate(invalid="ignore", over="ignore"):
        bounds = (ends - zero) * steps + offset
    none = steps[:, 0] == 0
    return np.where(none, -np.inf, bounds.min(axis=1)), np.where(none, np.inf, bounds.max(axis=1))
