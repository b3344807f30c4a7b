"""How far a value may move: half a step, and what the rounding of its scale adds.

Codes are found with one scale and read with another: the one that was stored. In between a value of level n moves by n
times the distance of the two, which is nothing for a scale in float32, little for FP16, and up to a step where scales
themselves have few bits (double quantization) or were raised to a least one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viz_core.quantizers.direct import Direct
from viz_core.quantizers.errors import outer_bounds
from viz_core.quantizers.grid import Grid
from viz_core.quantizers.quantized import Quantized


class Found(NamedTuple):
    """What codes were found with, (blocks,) float64 each.

    Attributes:
        scale: magnitude of the scale.
        apart: its distance from the stored one, or a bound of it.
        offset: distance of the offset from the stored one.
        sound: whether the scale has a reciprocal in float32; without one codes say nothing.
    """

    scale: np.ndarray
    apart: np.ndarray
    offset: np.ndarray
    sound: np.ndarray


def allowance(x: np.ndarray, q: Quantized) -> np.ndarray:
    """How far each value of `x` may move in `q`, float64 (blocks, values a block).

    NaN where nothing is promised: values outside the grid or not finite, and blocks with a scale of 0 or without a
    reciprocal.
    """
    blocks, after, stored = q.layout.split(x), q.blocks, np.abs(q.steps.astype(np.float64))
    low, high = outer_bounds(q)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        found = _found(blocks, q)
        half = np.abs(np.diff(q.format.grid.levels.astype(np.float64))).max(initial=0) / 2
        step = half * np.maximum(found.scale, stored) + found.offset + _zero(q) * stored
        allowed = step[:, None] + _levels(q) * found.apart[:, None] + _arithmetic(blocks, after, q)
        promised = (blocks >= low[:, None]) & (blocks <= high[:, None]) & np.isfinite(after)
        promised &= (found.sound & (half * stored > 0))[:, None]
    return np.where(promised, allowed, np.nan)


def _found(blocks: np.ndarray, q: Quantized) -> Found:
    stored, fit, same = np.abs(q.steps.astype(np.float64)), q.format.fit, np.zeros(len(blocks))
    if q.scale is None:
        return Found(stored, same, same, same == 0)
    if not isinstance(fit, Direct):
        return Found(stored, _rounding(q.scale), same if q.offset is None else _rounding(q.offset), _normal(q.scale))
    scale, offset = fit.found_with(blocks, q)
    sound = np.isfinite(1 / scale.astype(np.float32)) | (fit.inverse == "division")
    moved = same if offset is None or q.offset is None else np.abs(offset - q.offset.values.reshape(-1).astype(float))
    return Found(np.abs(scale.astype(np.float64)), np.abs(scale.astype(np.float64) - q.steps), moved, sound)


def _rounding(part: Quantized) -> np.ndarray:
    """How far each number of `part` may lie from the one that was stored for it; its own codes are taken as meant."""
    if part.scale is None:
        return _half_gap(part.format.grid, part.values.reshape(-1))
    levels = np.abs(part.layout.split(part.levels)).astype(np.float64)
    return part.layout.join(levels * _rounding(part.scale)[:, None]).reshape(-1)


def _half_gap(grid: Grid, values: np.ndarray) -> np.ndarray:
    """Half the wider gap beside each value of a grid."""
    levels = grid.levels.astype(np.float64)
    if levels.size < 2:
        return np.spacing(np.abs(values.astype(np.float32))).astype(np.float64) / 2
    gaps = np.pad(np.diff(levels), 1, mode="edge")
    at = np.searchsorted(levels, values)
    return np.maximum(gaps[at.clip(max=len(gaps) - 1)], gaps[(at + 1).clip(max=len(gaps) - 1)]) / 2


def _normal(scale: Quantized) -> np.ndarray:
    """Whether the scale of each block, and what it is a multiple of, has a reciprocal in float32."""
    own = np.isfinite(1 / scale.values.reshape(-1).astype(np.float32))
    if scale.scale is None:
        return own
    outer = np.repeat(_normal(scale.scale)[:, None], scale.layout.block, axis=1)
    return own & scale.layout.join(outer).reshape(-1)


def _levels(q: Quantized) -> np.ndarray:
    """|level − zero| of every code, (blocks, values a block)."""
    out = np.empty(q.codes.shape, np.float32)
    q.format.grid.decode(q.codes, out)
    return np.abs(out.astype(np.float64) - (0 if q.zero is None else q.zero[:, None]))


def _zero(q: Quantized) -> np.ndarray:
    """By how many steps a zero point was rounded; integers are exact."""
    if q.zero is None or q.format.zero is None or q.zero.dtype.kind != "f":
        return np.zeros(len(q.codes))
    return _half_gap(q.format.zero.grid, q.zero)


def _arithmetic(blocks: np.ndarray, after: np.ndarray, q: Quantized) -> np.ndarray:
    """What float32 adds while a value is scaled and scaled back: two roundings each way, of the largest part."""
    parts = np.maximum(np.abs(blocks), np.abs(after))
    if q.offset is not None:
        parts = np.maximum(parts, np.abs(q.offset.values.reshape(-1, 1)))
    if q.zero is not None:
        parts = np.maximum(parts, np.abs(q.zero * q.steps)[:, None])
    return 4 * np.spacing(parts.astype(np.float32)).astype(np.float64)
