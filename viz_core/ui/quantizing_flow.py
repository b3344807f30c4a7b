"""One format's weights on their way to its points: what each value was, where it goes, and how it decodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st

from viz_core.figures.flow import Flow, flow
from viz_core.quantizers.errors import Errors, errors, fates
from viz_core.quantizers.snap import arithmetic, in_steps
from viz_core.ui import quantizing
from viz_core.ui.quantizing import Pair
from viz_core.ui.quantizing_data import Data

VIEWS = ("steps", "weights", "block")
"""What a histogram counts: all values in steps of their block, all as they are, or one block."""
SHARE = 0.998  # of the weights that span the axis; the rest moves beyond it


@dataclass(frozen=True)
class Moving:
    """The values of one view, (n,) each.

    Attributes:
        at: their places in the tensor.
        before, after: in the unit of the view's axis.
        error: after − before as plain weights.
        clipped: beyond the outermost point.
        points: of the grid on that axis.
        flow: of those whose place before and after is finite and in sight.
    """

    pair: Pair
    view: str
    at: np.ndarray
    before: np.ndarray
    after: np.ndarray
    error: np.ndarray
    clipped: np.ndarray
    points: np.ndarray
    flow: Flow

    @cached_property
    def finite(self) -> np.ndarray:
        """Which values can be placed and measured."""
        return np.isfinite(self.before) & np.isfinite(self.after) & np.isfinite(self.error)

    @property
    def errors(self) -> Errors:
        """Of these weights."""
        return errors(*self._plain)

    @property
    def _plain(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights themselves before and after."""
        before, after = (side.reshape(-1)[self.at] for side in (self.pair.before, self.pair.after.values))
        return before, after

    @property
    def zeroed(self) -> int:
        """How many were not zero before and are now."""
        x, y = self._plain
        return int(((x != 0) & (y == 0)).sum())

    @cached_property
    def codes(self) -> np.ndarray:
        """The code of each value."""
        after = self.pair.after
        return after.layout.join(after.codes).reshape(-1)[self.at]

    @cached_property
    def levels(self) -> np.ndarray:
        """The level of each value, before any scale."""
        return self.pair.after.levels[self.at]

    def example(self, i: int) -> tuple[float, int, str, float]:
        """Value number i of the view as a plain weight: itself, its code, how that decodes, and the error."""
        q, at = self.pair.after, int(self.at[i])
        block, _ = q.layout.place(at)
        zero = 0.0 if q.zero is None else float(q.zero[block])
        offset = 0.0 if q.offset is None else float(q.offset.values.reshape(-1)[block])
        value = float(q.values.reshape(-1)[at])
        said = arithmetic(float(self.levels[i]), zero, float(q.steps[block]), offset, value)
        return float(self.pair.before.reshape(-1)[at]), int(self.codes[i]), said, float(self.error[i])


@dataclass(frozen=True)
class Asked:
    """Which weights, and how they are measured: `count` of them from number `start` on in one of VIEWS."""

    data: Data
    view: str
    start: int = 0
    count: int = 0


def asked(data: Data, names: Sequence[str], view: str, block: int) -> Asked:
    """All weights; or as many as lie in block number `block` (of those there are) of the first format that has blocks,
    and in one block of each other, so that all show the same weights. A cast has the same points for all.
    """
    pairs = [quantizing.pair(data, name) for name in names]
    layout = next((pair.after.layout for pair in pairs if pair.after.scale is not None), None)
    if view != "block" or layout is None:
        return Asked(data, view, 0, min(pair.before.size for pair in pairs))
    row, within = divmod(block % layout.count, layout.per_row)
    start = row * layout.width + within * layout.block
    return Asked(data, view, start, min(quantizing.rest(pair, start) for pair in pairs))


@st.cache_resource(max_entries=16, show_spinner=False)
def moving(want: Asked, name: str, ends: tuple[float, float] | None = None) -> Moving:
    """The asked weights in the format of that name, on an axis between `ends` that it shares (else its own)."""
    pair = quantizing.pair(want.data, name)
    at = np.arange(want.start, want.start + want.count)
    before, after = _sides(want, pair)
    error = pair.after.values.reshape(-1)[at].astype(np.float64) - pair.before.reshape(-1)[at]
    clipped = fates(pair.before, pair.after).clipped.reshape(-1)[at]
    points = {"steps": pair.after.format.grid.levels, "weights": np.zeros(0)}.get(want.view)
    if points is None:
        points = pair.after.points(pair.after.layout.place(want.start)[0])
    sight = ends or _sight(want, pair, before)
    found = flow(before, after, clipped, sight, points, common=ends is not None)
    return Moving(pair, want.view, at, before, after, error, clipped, points, found)


def _sides(want: Asked, pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """The asked weights before and after in the view's unit, (count,) each."""
    sides = _in_steps(pair) if want.view == "steps" else (pair.before.reshape(-1), pair.after.values.reshape(-1))
    before, after = (side[want.start : want.start + want.count] for side in sides)
    return before, after


def _sight(want: Asked, pair: Pair, before: np.ndarray) -> tuple[float, float]:
    """Which weights are in sight: those in the middle of the tensor, and all of a block."""
    low, high = _middle(before if want.view == "steps" else pair.before)
    return (min(low, float(before.min())), max(high, float(before.max()))) if want.view == "block" else (low, high)


def _in_steps(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """All values in units of their block's scale, before and after: after is the level itself, (n,) each."""
    layout = pair.after.layout
    before = layout.join(in_steps(pair.before, pair.after)).reshape(-1)
    flat = layout.join(np.broadcast_to(pair.after.steps[:, None] == 0, pair.after.codes.shape)).reshape(-1)
    return before, np.where(np.isnan(before), before, np.where(flat, 0, pair.after.levels))


def _middle(values: np.ndarray) -> tuple[float, float]:
    """The ends of the central share of the finite values."""
    kept = values[np.isfinite(values)].reshape(-1)
    if not kept.size:
        return 0.0, 1.0
    low, high = np.quantile(kept, [0.5 - SHARE / 2, 0.5 + SHARE / 2]).tolist()
    return low, high
