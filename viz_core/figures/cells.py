"""A matrix as heatmap cells: what is masked, how values are written compactly, and each value's rank in its row.

Rows are written as ragged lists that end at the last visible key: a causal matrix costs half, and a masked cell is
absent rather than 0. Up to FULL tokens values keep four significant digits; above, whole multiples of a power of ten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from viz_core.figures.labels import Labels
from viz_core.i18n import Problem

MOST: Final = 512  # tokens of one head; beyond, the page shows a part
FULL: Final = 160  # tokens up to which the hover has value, score and rank: 482 KB at 160, 1.2 MB at 256 as arrays
CELLS: Final = MOST * (MOST + 1) // 2  # visible cells of one head; all of a causal one
BUDGET: Final = 380_000  # bytes of its values; with the tokens it stays under 500 KB
LARGE: Final = 48  # tokens above which the colours end at a percentile
Rows = list[list[Any]]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Values (n, m) with the labels of rows (queries) and columns (keys); NaN marks a masked cell.

    `scores` (n, m), where given, stands in the hover (scaled, biased logits). `name` is what a value is called, in the
    reader's language. Raises Problem where shapes differ, a value is infinite, an axis is longer than MOST or more than
    CELLS cells are visible.
    """

    values: NDArray[np.floating]
    queries: Labels
    keys: Labels
    scores: NDArray[np.floating] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        shape = (len(self.queries), len(self.keys))
        if max(shape) > MOST:
            raise Problem("figure_too_many", n=max(shape), most=MOST)
        if self.values.shape != shape or (self.scores is not None and self.scores.shape != shape):
            raise Problem("figure_shape", shape=str(self.values.shape), labels=str(shape))
        if (seen := int((~np.isnan(self.values)).sum())) > CELLS:
            raise Problem("figure_too_many_cells", n=seen, most=CELLS)
        if np.isinf(self.values).any():
            raise Problem("figure_infinite", count=int(np.isinf(self.values).sum()))

    @property
    def thin(self) -> bool:
        """Whether the hover has the value alone, because the matrix is large."""
        return max(self.values.shape) > FULL


def causal(weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """Weights (n, m) with NaN where a query may not look: aligned bottom right when n ≠ m."""
    n, m = weights.shape
    return np.where(np.tri(n, m, m - n, dtype=bool), weights, np.nan)


def ranks(values: NDArray[np.floating]) -> NDArray[np.int64]:
    """Place of each value in its row, 1 = largest, equal values in the order of their keys; masked cells come last."""
    order = np.argsort(-np.nan_to_num(np.asarray(values, np.float64), nan=-np.inf), axis=1, kind="stable")
    out = np.empty(order.shape, np.int64)
    np.put_along_axis(out, order, np.arange(1, order.shape[1] + 1)[None, :], axis=1)
    return out


def end_of(values: NDArray[np.floating]) -> float:
    """Where the colours of a matrix end: its largest magnitude, or in a large one the 99.5th percentile.

    A few strong cells among thousands would leave the rest blank; the colour bar then says ≥.
    """
    shown = np.abs(values[~np.isnan(values)])
    if not shown.size or not shown.max():
        return 1.0
    return float(np.percentile(shown, 99.5) if max(values.shape) > LARGE else shown.max()) or float(shown.max())


def written(values: NDArray[np.floating], masked: NDArray[np.bool_], digits: int) -> Rows:
    """Values with `digits` decimals as ragged rows: None at a masked cell, nothing after the last visible one."""
    rounded: NDArray[Any] = np.round(np.asarray(values, np.float64), digits) + 0.0  # + 0.0 turns -0.0 into 0.0
    return ragged(rounded.astype(object), masked, None)


def counted(values: NDArray[np.floating], masked: NDArray[np.bool_], end: float) -> tuple[Rows, float]:
    """Values as whole multiples of a step, for large matrices: (ragged rows, step).

    The step is a power of ten, at first a thousandth of the range, coarser where that would cost more than BUDGET. A
    gap inside a row is "", which Plotly leaves empty as it does null, at three bytes instead of five.
    """
    step = 10.0 ** (math.ceil(math.log10(end)) - 3)
    gaps = 3 * int((_ends(masked) - (~masked).sum(axis=1)).sum())
    while True:
        whole = np.round(np.nan_to_num(np.asarray(values, np.float64)) / step).astype(np.int64)
        if step >= end or _written_bytes(whole[~masked]) + gaps <= BUDGET:
            return ragged(whole.astype(object), masked, ""), step
        step *= 10


def _written_bytes(whole: NDArray[np.int64]) -> int:
    """How many bytes whole numbers take in JSON, with their commas."""
    size = np.abs(whole)
    return int(sum((size >= 10**k).sum() for k in range(1, 7)) + (whole < 0).sum() + 2 * whole.size)


def ragged(cells: NDArray[Any], masked: NDArray[np.bool_], gap: str | None) -> Rows:
    """Rows of cells with `gap` at masked ones, cut after the last visible cell."""
    cells = cells.copy()
    cells[masked] = gap
    return [row[:end].tolist() for row, end in zip(cells, _ends(masked).tolist(), strict=True)]


def _ends(masked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each row the place after its last visible cell, 0 where it has none."""
    return np.where(masked.all(axis=1), 0, masked.shape[1] - np.argmin(masked[:, ::-1], axis=1))
