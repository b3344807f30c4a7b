"""A tensor from anywhere as the page looks at it: a matrix of finite float32 values, of at most `LOOKED` values.

A tensor with more is looked at through whole rows that lie evenly over it, so that a change of format stays a matter of
a moment whatever its size; who shows it says how many values that are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from viz_core.quantizers.tensor import NONE, Strays, prepare

LOOKED = 1 << 17
"""Values that one format is tried on: as many as the built-in samples have. The slowest search takes 0.1 s for them."""
FEW = 1 << 14
"""Values where every format is tried at once."""


@dataclass(frozen=True)
class Looked:
    """What is looked at of a tensor of `shape` and `dtype` (its own name for it).

    Attributes:
        values: float32 (rows, columns), finite.
        strays: what is not finite in the whole tensor, as far as it was given; zero stands in for it.
        finite: which of `values` are the tensor's own, (rows, columns); None for all.
    """

    values: np.ndarray
    shape: tuple[int, ...]
    dtype: str
    strays: Strays = NONE
    finite: np.ndarray | None = None

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
        at = sampled(self.values.shape, most, self.finite)
        return replace(self, values=self.values[at], finite=None if self.finite is None else self.finite[at])


def spread(rows: int, width: int, most: int) -> np.ndarray:
    """Numbers of rows of `width` values, evenly over all `rows`: at most `most` values, and one row at least."""
    count = min(rows, max(1, most // max(1, width)))
    return np.arange(count) * rows // max(1, count)


def sampled(shape: tuple[int, ...], most: int, finite: np.ndarray | None = None) -> tuple[slice | np.ndarray, slice]:
    """Rows and columns of a matrix, at most `most` values: whole rows, evenly over those that have a finite value.

    Of rows longer than that, the stretch of one with the most finite values; the first of several.
    """
    rows, width = shape
    if rows * width <= most:
        return slice(None), slice(None)
    alive = np.arange(rows) if finite is None else np.flatnonzero(finite.any(axis=1))
    if width <= most:
        return alive[spread(alive.size, width, most)], slice(None)
    if finite is None:
        return np.arange(1), slice(most)
    row = int(finite.sum(axis=1).argmax())
    before = np.concatenate([[0], np.cumsum(finite[row])])
    start = int((before[most:] - before[:-most]).argmax())
    return np.array([row]), slice(start, start + most)


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
    found = prepare(array.reshape(-1, width))
    whole = Looked(found.values, array.shape if shape is None else shape, dtype or str(array.dtype), found.strays,
                   found.finite)
    return whole.fewer(most)
