"""A flow as the player draws it: every piece of a bar as two boxes, with the axes around them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viz_core.figures.flow import Flow, below
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Spacing, round_ticks
from viz_core.trace import PARTS, Bars, Box, Label, Tick

RUG = 300  # points that are marked on the axis; of more, none is told apart
ACROSS, UP = 6, 5  # ticks at most


def flow_bars(
    found: Flow, points: ArrayLike, title: Label, top: int, spacing: Spacing = "linear", tall: int = 280
) -> Bars:
    """The pieces of a flow before and after, on an axis of counts up to `top`; log counts are log(1 + n)."""
    left, goal_left = found.edges[:-1][found.bin], found.goals[found.goal] - found.width / 2
    return Bars(
        _boxes(found, left, below(found.bin, found.counts), found.counts, top, spacing),
        _boxes(found, goal_left, below(found.goal, found.counts), found.counts, top, spacing),
        _outline(found, top, spacing),
        tuple(_across(found, mark) for mark in _marks(found, points)),
        tuple((_across(found, tick), spoken(tick)) for tick in round_ticks(*_ends(found), ACROSS)),
        _up(top, spacing),
        title,
        tall,
    )


def highest(found: Flow) -> int:
    """The largest count of any bin or goal."""
    return max(int(found.before().max(initial=0)), int(found.after().max(initial=0)), 1)


def _ends(found: Flow) -> tuple[float, float]:
    return float(found.edges[0]), float(found.edges[-1])


def _across(found: Flow, value: float) -> int:
    low, high = _ends(found)
    return round(PARTS * (value - low) / (high - low))


def _height(count: NDArray[np.int64], top: int, spacing: Spacing) -> NDArray[np.float64]:
    """How high a count stands, 0 … PARTS."""
    return PARTS * (count / top if spacing == "linear" else np.log1p(count) / math.log1p(top))


def _boxes(
    found: Flow, left: NDArray[np.float64], under: NDArray[np.int64], counts: NDArray[np.int64], top: int,
    spacing: Spacing,
) -> tuple[Box, ...]:  # fmt: skip
    """Boxes one bin wide, from the count under each to that count and its own."""
    low, high = _ends(found)
    x = PARTS * (left - low) / (high - low)
    bottom, upper = (_height(n, top, spacing) for n in (under, under + counts))
    wide = np.full(len(left), PARTS * found.width / (high - low))
    columns = np.rint([x, bottom, wide, upper - bottom]).astype(int).T
    return tuple((a, b, c, d) for a, b, c, d in columns.tolist())


def _outline(found: Flow, top: int, spacing: Spacing) -> tuple[Box, ...]:
    """The bars as they were."""
    counts = found.before()
    seen = np.flatnonzero(counts)
    return _boxes(found, found.edges[:-1][seen], np.zeros_like(seen), counts[seen], top, spacing)


def _marks(found: Flow, points: ArrayLike) -> list[float]:
    """The points in sight, unless they are too many."""
    low, high = _ends(found)
    whole = np.unique(np.asarray(points, np.float64))
    whole = whole[(whole >= low) & (whole <= high)]
    return whole.tolist() if whole.size <= RUG else []


def _up(top: int, spacing: Spacing) -> tuple[Tick, ...]:
    """Round counts, or powers of ten."""
    counts = round_ticks(0, top, UP) if spacing == "linear" else [0, *(10**k for k in range(len(str(top))))]
    whole = sorted({round(count) for count in counts})
    heights = _height(np.array(whole), top, spacing)
    return tuple((round(at), spoken(count)) for at, count in zip(heights.tolist(), whole, strict=True))
