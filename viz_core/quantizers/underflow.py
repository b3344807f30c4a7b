"""Values that a format loses because they are too small: to a scale of 0, or all of them to the point 0.

Of a scale of 0 the block is not all zero; the scale is too small for how it is stored.

A sub-scale whose integer code is 0 is no such case: beside a larger one of its super-block it was rounded, as its
values would be in one block with those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz_core.quantizers.grid import Integers
from viz_core.quantizers.quantized import Quantized

Became = Literal["zero", "offset", "all"]


@dataclass(frozen=True, slots=True)
class Sunk:
    """How many values changed, what they became, and the grid whose range the scale left ("" where none did).

    zero: under a scale of 0, all became zero; offset: there, some became the offset of their block; all: no value of
    the tensor reaches as far as the point beside 0.
    """

    count: int
    became: Became
    grid: str = ""


def sunk(x: np.ndarray, q: Quantized) -> Sunk | None:
    """What `q` lost of `x` so; None where no block's scale fell to 0 and some value is left."""
    if x.any() and not q.values.any() and (q.scale is None or q.steps.all()):
        return Sunk(int(np.count_nonzero(x)), "all")
    if q.scale is None or q.steps.all():
        return None
    under, grid = _under(q.scale)
    blocks, after = q.layout.split(x), q.layout.split(q.values)
    told = blocks.max(axis=1) > blocks.min(axis=1) if q.offset is not None else blocks.any(axis=1)
    hit = q.layout.join((under & told)[:, None] & (blocks != after) & np.isfinite(after))
    count = int(hit.sum())
    return Sunk(count, "offset" if q.values.reshape(hit.shape)[hit].any() else "zero", grid) if count else None


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
