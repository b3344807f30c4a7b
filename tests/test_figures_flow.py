"""The flow of a histogram's mass: every value is counted once, in the bin where it was and at the place it went to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_core.figures.flow import Flow, below, flow
from viz_core.figures.flow_bars import RUG, flow_bars, highest
from viz_core.figures.scales import Spacing, round_ticks
from viz_core.trace import PARTS

NUMBERS = st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38])
LISTS = st.lists(st.tuples(NUMBERS, NUMBERS, st.booleans()), max_size=40)


def split(pairs: list[tuple[float, float, bool]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    columns = np.array(pairs, np.float64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2] > 0


@given(LISTS, st.floats(-10, 0), st.floats(0, 10))
def test_every_value_in_sight_is_in_one_piece(pairs: list[tuple[float, float, bool]], low: float, high: float) -> None:
    before, after, marked = split(pairs)
    found = flow(before, after, marked, (low, high), [0.0, 1.0])
    seen = np.isfinite(before) & np.isfinite(after) & (before >= low) & (before <= high)
    assert ((found.piece >= 0) == seen).all() and found.counts.sum() == seen.sum()
    assert np.array_equal(np.bincount(found.piece[seen], minlength=len(found.counts)), found.counts)
    assert found.before().sum() == found.after().sum() == seen.sum()
    places = np.stack([found.goal, found.bin, found.marked])
    assert len(np.unique(places, axis=1).T) == len(found.counts), "no two pieces are alike"
    for i in np.flatnonzero(seen):
        k = found.piece[i]
        assert found.edges[found.bin[k]] <= before[i] <= found.edges[found.bin[k] + 1]
        off = abs(found.goals[found.goal[k]] - after[i])
        assert off == 0 or (found.merged and off <= found.width / 2 * (1 + 1e-9))
        assert found.marked[k] == marked[i]


def test_rounding_to_whole_numbers() -> None:
    """Goals are the points; the counts are NumPy's own, and bins are a quarter of a step."""
    x = np.random.default_rng(1).normal(0, 2, 5000)
    found = flow(x, np.round(x), np.abs(x) > 4, (-5.0, 5.0), np.arange(-5, 6))
    inside = np.abs(x) <= 5
    assert np.array_equal(found.goals, np.arange(-5, 6)) and not found.merged
    assert np.array_equal(found.after(), [np.sum(np.round(x[inside]) == k) for k in range(-5, 6)])
    assert np.array_equal(found.before(), np.histogram(x[inside], found.edges)[0])
    assert 0.2 < found.width <= 0.25
    assert found.counts[found.marked].sum() == np.sum(inside & (np.abs(x) > 4))


def test_goals_that_lie_closer_than_two_pixels_are_merged() -> None:
    x = np.linspace(-1, 1, 4001)
    found = flow(x, x, np.zeros(x.size, bool), (-1.0, 1.0))
    assert found.merged and len(found.goals) == len(found.edges) - 1 and found.counts.sum() == x.size


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), max_size=20))
def test_pieces_of_a_group_are_stacked_without_gaps(pairs: list[tuple[int, int]]) -> None:
    group, counts = np.array(pairs, np.int64).reshape(-1, 2).T
    under = below(group, counts)
    for one in np.unique(group):
        mine = group == one
        assert np.array_equal(under[mine], np.cumsum(counts[mine]) - counts[mine])


@pytest.mark.parametrize("spacing", ["linear", "log"])
def test_boxes_are_as_high_as_their_counts(spacing: Spacing) -> None:
    x = np.random.default_rng(2).normal(0, 2, 3000)
    found = flow(x, np.clip(np.round(x), -4, 4), np.abs(x) > 4.5, (-6.0, 6.0), np.arange(-4, 5))
    top = highest(found)
    made = flow_bars(found, np.arange(-4, 5), "t", top, spacing)
    tall = (lambda n: n / top) if spacing == "linear" else (lambda n: np.log1p(n) / np.log1p(top))
    for boxes, group, sums in ((made.before, found.bin, found.before()), (made.after, found.goal, found.after())):
        ends = np.array(boxes)[:, 1] + np.array(boxes)[:, 3]
        for one in np.unique(group):
            assert ends[group == one].max() == pytest.approx(PARTS * tall(sums[one]), abs=2)
    centres = np.array(made.after)[:, 0] + np.array(made.after)[:, 2] / 2
    assert np.abs(centres - np.array(made.points)[found.goal]).max() <= 2, "a piece that moved stands on its point"
    assert len(made.outline) == np.count_nonzero(found.before())
    assert made.up[0] == (0, "0") and made.up[-1][0] <= PARTS


def test_too_many_points_are_not_marked() -> None:
    found = Flow(np.linspace(0, 1, 3), np.array([0.5]), *np.zeros((2, 1), int), np.array([False]), np.array([1]),
                 np.zeros(1, int), False)
    assert flow_bars(found, np.linspace(0, 1, RUG + 1), "", 1).points == ()
    assert len(flow_bars(found, np.linspace(0, 1, RUG), "", 1).points) == RUG


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 8))
def test_round_ticks_are_few_and_round(low: float, span: float, most: int) -> None:
    high = low + span
    ticks = round_ticks(low, high, most)
    assert len(ticks) <= most
    if high - low > 1e-9 * max(abs(low), 1):
        steps = np.diff(ticks)
        assert len(ticks) < 2 or np.allclose(steps, steps[0], rtol=1e-3)
        assert all(low - span * 1e-6 <= tick <= high + span * 1e-6 for tick in ticks)
