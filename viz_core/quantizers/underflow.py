"""Values that a format loses to a scale of 0: the block is not all zero, its scale is too small for how it is stored.

A sub-scale whose integer code is 0 is no such case: beside a larger one of its super-block it was rounded, as its
values would be in one block with those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.quantizers.grid import Integers
from viz_core.quantizers.quantized import Quantized


@dataclass(frozen=True, slots=True)
class Sunk:
    """How many values changed under a scale that fell to 0, the grid it fell out of, and whether all became zero.

    Where blocks have an offset they become that instead.
    """

    count: int
    grid: str
    zero: bool


def sunk(x: np.ndarray, q: Quantized) -> Sunk | None:
    """What `q` lost of `x` so; None where no block's scale fell to 0."""
    if q.scale is None or q.steps.all():
        return None
    under, grid = _under(q.scale)
    blocks, after = q.layout.split(x), q.layout.split(q.values)
    told = blocks.max(axis=1) > blocks.min(axis=1) if q.offset is not None else blocks.any(axis=1)
    hit = q.layout.join((under & told)[:, None] & (blocks != after) & np.isfinite(after))
    count = int(hit.sum())
    return Sunk(count, grid, not q.values.reshape(hit.shape)[hit].any()) if count else None


def _under(scale: Quantized) -> tuple[np.ndarray, str]:
    """Which scales are 0 because they, or what they are multiples of, are too small; the grid that this first was."""
    zero = scale.values.reshape(-1) == 0
    if scale.scale is None:
        return zero, scale.format.grid.name
    outer, grid = _under(scale.scale)
    below = scale.layout.join(np.repeat(outer[:, None], scale.layout.block, axis=1)).reshape(-1)
    if outer.any() or isinstance(scale.format.grid, Integers):
        return zero & below, grid
    return zero, scale.format.grid.name
