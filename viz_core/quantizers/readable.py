"""A tensor from anywhere as the page looks at it: a matrix of finite float32 values, of at most `LOOKED` values.

A tensor with more is looked at through whole rows that lie evenly over it, so that a change of format stays a matter of
a moment whatever its size; who shows it says how many values that are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from viz_core.quantizers.tensor import finite_counts, prepare

LOOKED = 1 << 17
"""Values that one format is tried on: as many as the built-in samples have. The slowest search takes 0.1 s for them."""
FEW = 1 << 14
"""Values where every format is tried at once."""


@dataclass(frozen=True)
class Looked:
    """What is looked at of a tensor of `shape` and `dtype` (its own name for it).

    Attributes:
        values: float32 (rows, columns), finite.
        nan: NaN in the whole tensor, as far as it was given; zero stands in for them.
        infinite: ±∞ (or beyond float32) in it, likewise.
    """

    values: np.ndarray
    shape: tuple[int, ...]
    dtype: str
    nan: int = 0
    infinite: int = 0

    @property
    def size(self) -> int:
        """Values of the whole tensor."""
        return prod(self.shape)

    @property
    def cut(self) -> bool:
        """Whether the tensor has more values than are looked at."""
        return self.values.size < self.size

    def fewer(self, most: int = FEW) -> Looked:
        """The same tensor through at most `most` values."""
        return replace(self, values=sampled(self.values, most))


def spread(rows: int, width: int, most: int) -> np.ndarray:
    """Numbers of rows of `width` values, evenly over all `rows`: at most `most` values, and one row at least."""
    count = min(rows, max(1, most // max(1, width)))
    return np.arange(count) * rows // max(1, count)


def sampled(matrix: np.ndarray, most: int) -> np.ndarray:
    """Evenly spread rows of a matrix, at most `most` values; of a row longer than that, its first ones."""
    rows, width = matrix.shape
    return matrix if matrix.size <= most else matrix[spread(rows, width, most), :most]


def looked(
    array: np.ndarray, dtype: str = "", shape: tuple[int, ...] | None = None, most: int = LOOKED
) -> Looked:
    """An array of any shape: its last axis is a row, a scalar or vector one row.

    `shape` is the whole tensor's where the array is a sample of it already; `most` values are looked at.

    Raises:
        Problem: see `prepare`.
    """
    array = np.asarray(array)
    width = max(1, array.shape[-1] if array.ndim else 1)
    found = prepare(sampled(array.reshape(-1, width), most))
    nan, infinite = finite_counts(array)
    return Looked(found.values, array.shape if shape is None else shape, dtype or str(array.dtype), nan, infinite)
