"""Where the mass of a histogram goes: pieces of its bars, each the values of one bin that end up in one place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viz_core.figures.scales import room

FINE = 300  # bins that are still drawn as bars of about two pixels
COARSE = 120  # bins where the places lie closer than that
A_STEP = (4, 2, 1)  # bins from one place to the next, the finest that fit


@dataclass(frozen=True, slots=True)
class Flow:
    """Counts of values by where they were and where they went.

    Pieces are in ascending order of their goal, then of their bin; those of one bin and goal are apart where some of
    their values are marked.

    Attributes:
        edges: of the bins, (bins + 1,).
        goals: places where values went, (goals,), ascending: the values themselves, or the middles of bins where the
            values lie closer than a bin is wide (`merged`).
        bin, goal, marked, counts: (pieces,) each.
        piece: of each value given, (n,); −1 where it is not finite or lies beyond the bins.
        merged: whether a goal is a bin.
    """

    edges: NDArray[np.float64]
    goals: NDArray[np.float64]
    bin: NDArray[np.int64]
    goal: NDArray[np.int64]
    marked: NDArray[np.bool_]
    counts: NDArray[np.int64]
    piece: NDArray[np.int64]
    merged: bool

    @property
    def width(self) -> float:
        """Of a bin."""
        return float(self.edges[1] - self.edges[0])

    def before(self) -> NDArray[np.int64]:
        """How many values each bin held, (bins,)."""
        return _sums(self.bin, self.counts, len(self.edges) - 1)

    def after(self) -> NDArray[np.int64]:
        """How many values each goal holds in the end, (goals,)."""
        return _sums(self.goal, self.counts, len(self.goals))


def flow(
    before: ArrayLike, after: ArrayLike, marked: ArrayLike, sight: tuple[float, float], points: ArrayLike = (),
    common: bool = False,
) -> Flow:  # fmt: skip
    """Counts pairs of values, (n,) each, that were finite and in `sight` before; `points` are where values may go.

    Bins are equal, and as fine as the distance of neighbouring points allows. Where `sight` is the `common` axis of
    several flows, it is kept as it is, and values that leave it are not counted.
    """
    old, new = (np.asarray(side, np.float64).ravel() for side in (before, after))
    mark = np.asarray(marked, bool).ravel()
    kept = np.isfinite(old) & np.isfinite(new) & (old >= sight[0]) & (old <= sight[1])
    if common:
        kept &= (new >= sight[0]) & (new <= sight[1])
    low, high = sight if common else _ends(sight, new[kept])
    goals = np.unique(np.concatenate([new[kept], np.asarray(points, np.float64).ravel()]))
    goals = goals[(goals >= low) & (goals <= high)]
    bins = 0 if common and not np.size(points) else _bins(goals, high - low)
    merged, bins = bins == 0, bins or COARSE
    edges = np.linspace(low, high, bins + 1)
    if merged:
        goals = (edges[1:] + edges[:-1]) / 2
    start, goal = _bin(old[kept], edges), _bin(new[kept], edges) if merged else np.searchsorted(goals, new[kept])
    key, piece, counts = np.unique((goal * bins + start) * 2 + mark[kept], return_inverse=True, return_counts=True)
    of_all = np.full(old.size, -1)
    of_all[kept] = piece
    return Flow(edges, goals, key // 2 % bins, key // 2 // bins, key % 2 > 0, counts, of_all, merged)


def below(group: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many values lie under each piece where the pieces of a group are stacked in their order, (pieces,)."""
    order = np.argsort(group, kind="stable")
    running = np.cumsum(counts[order]) - counts[order]
    first = np.r_[True, np.diff(group[order]) != 0] if len(group) else np.zeros(0, bool)
    out = np.empty_like(counts)
    out[order] = running - np.maximum.accumulate(np.where(first, running, 0))
    return out


def _ends(sight: tuple[float, float], after: NDArray[np.float64]) -> tuple[float, float]:
    """The axis: what is in sight, where its values go, and some room at both ends."""
    low, high = min(sight[0], after.min(initial=sight[0])), max(sight[1], after.max(initial=sight[1]))
    free = room(low, high, 0.02, FINE)
    return low - free, high + free


def _bins(goals: NDArray[np.float64], span: float) -> int:
    """So many bins that no two goals share one; 0 if they lie too close."""
    if goals.size < 2:
        return COARSE
    step = float(np.diff(goals).min())
    return next((int(np.ceil(k * span / step)) for k in A_STEP if k * span <= FINE * step), 0)


def _bin(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bin of each value, which reaches its left edge; the last bin has both."""
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)


def _sums(where: NDArray[np.int64], counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    return np.bincount(where, counts, size).astype(np.int64)
