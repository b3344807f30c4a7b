"""A tensor from anywhere as the page looks at it: a matrix of finite float32 values, of at most `LOOKED` values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.quantizers.tensor import prepare

LOOKED = 1 << 18
"""Values that are looked at: every format on them takes seconds, and a histogram gains nothing from more."""


@dataclass(frozen=True)
class Looked:
    """What is looked at of a tensor of `shape` and `dtype` (its own name for it).

    Attributes:
        values: float32 (rows, columns), leading rows, finite.
        nan: NaN among them, for which zero stands in.
        infinite: ±∞ (or beyond float32) among them, likewise.
    """

    values: np.ndarray
    shape: tuple[int, ...]
    dtype: str
    nan: int = 0
    infinite: int = 0

    @property
    def cut(self) -> bool:
        """Whether the tensor has more values than are looked at."""
        return self.values.size < int(np.prod(self.shape, dtype=np.float64))


def looked(array: np.ndarray, dtype: str = "") -> Looked:
    """The leading rows of an array of any shape: its last axis is a row, a scalar or vector one row.

    Raises:
        Problem: see `prepare`.
    """
    array = np.asarray(array)
    width = max(1, array.shape[-1] if array.ndim else 1)
    flat = array.reshape(-1)[: max(1, LOOKED // width) * width if width <= LOOKED else LOOKED]
    found = prepare(flat)
    values = found.values.reshape(-1, width) if flat.size % width == 0 else found.values.reshape(1, -1)
    return Looked(values, array.shape, dtype or str(array.dtype), found.nan, found.infinite)
