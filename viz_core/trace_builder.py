"""Builds a Trace while an algorithm runs: declare lanes, set what changes, close each step with its caption."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from viz_core.i18n import Problem
from viz_core.trace import (
    MOST_CELLS,
    MOST_STEPS,
    PLANES,
    Bars,
    Event,
    Hue,
    Label,
    Lane,
    Messages,
    Plane,
    Series,
    State,
    Text,
    Trace,
)

WHOLE = int | np.integer  # made once: `set` is what a long film spends its time in


class _Deltas:
    """One plane while it grows: the values now, what this step sets, and the changes so far."""

    def __init__(self, size: int) -> None:
        self.now = array("I", bytes(4 * size))
        self.pending: dict[int, int] = {}
        self.asked: dict[int, int] = {}  # what the last step set, changed or not
        self.counts, self.cells, self.values = array("I"), array("I"), array("I")

    def close(self) -> None:
        """End the step: keep what differs from the step before."""
        before = len(self.cells)
        for cell, value in sorted(self.pending.items()):
            if self.now[cell] != value:
                self.now[cell] = value
                self.cells.append(cell)
                self.values.append(value)
        self.counts.append(len(self.cells) - before)
        self.asked, self.pending = self.pending, {}

    def plane(self) -> Plane:
        """The finished plane."""
        return Plane(*(np.array(column, np.uint32) for column in (self.counts, self.cells, self.values)))


class TraceBuilder:
    """Collects a Trace. Lanes, hues and series come first, then for each step some `set`, `write`, `tell`, `value`,
    `event`, `cursor` and one `step`, which closes it.

    `settle` names what a cell that is COMPUTED in one step becomes in the next, unless that step sets it again.
    """

    def __init__(self, title: Label = "", *, settle: State | None = None) -> None:
        self._title, self._settle = title, settle
        self._lanes: list[Lane] = []
        self._hues: list[Hue] = []
        self._words: dict[State, Label] = {}
        self._series: dict[str, tuple[Series, list[float | None]]] = {}
        self._latest: dict[str, float | None] = {}
        self._deltas: dict[str, _Deltas] = {}
        self._captions, self._details = Messages(), Messages()
        self._texts: dict[str, int] = {"": 0}
        self._told: dict[str, int] = {}
        self._events: list[Event] = []

    def lane(
        self, label: Label, count: int, *, labels: Sequence[str] = (), under: Sequence[str] = (),
        keys: Sequence[int] = (), columns: int = 0, full: int = 0,
        row_names: Sequence[str] = (), column_names: Sequence[str] = (), history: bool = False,
        folded: bool = False, bars: Bars | None = None,
    ) -> range:  # fmt: skip
        """Add `count` cells (see `Lane`) and return their ids; only before the first step."""
        assert not self._captions and not self._deltas, "lanes come before what fills them"
        first = self._lanes[-1].first + self._lanes[-1].count if self._lanes else 0
        if first + count > MOST_CELLS:
            raise Problem("trace_cells", cells=first + count, most=MOST_CELLS)
        assert count > 0 and all(len(x) in (0, count) for x in (labels, under, keys)), "one label a cell"
        assert bars is None or len(bars.before) == len(bars.after) == count, "two boxes a cell"
        self._lanes.append(
            Lane(label, first, count, tuple(labels), tuple(under), tuple(keys), columns, full,
                 tuple(row_names), tuple(column_names), history, folded, bars)
        )  # fmt: skip
        return range(first, first + count)

    def hue(self, number: int, letter: str, name: Label) -> None:
        """Name hue `number` (1 = A); hues that are not named keep their letter A, B, …"""
        self._hues.append(Hue(number, letter, name))

    def word(self, state: State, label: Label) -> None:
        """The legend's word for a state, where this trace means something more special than usual."""
        self._words[state] = label

    def series(
        self, label: str, *, places: int | None = 0, unit: str = "", share: str = "", name: Label | None = None
    ) -> None:
        """Declare a number series by its catalogue key (see `Series`); `value` gives its numbers.

        With `name`, which is shown instead, `label` only tells the series apart.
        """
        assert not self._captions, "series come before the first step"
        self._series[label] = (Series(name or Text(label), (), places, unit, share), [])
        self._latest[label] = None

    def value(self, label: str, value: float | None) -> None:
        """The number of a series from this step on, until it is given again."""
        assert value is None or value == value, f"{label}: NaN"
        assert label in self._series, f"{label} is not declared"
        self._latest[label] = value

    def set(self, plane: str, cells: int | Iterable[int], value: int | Iterable[int]) -> None:
        """Set a plane (see PLANES) of one cell or several from this step on, to one value or to one each."""
        pending = self._plane(plane).pending
        if isinstance(cells, WHOLE):
            assert 0 <= cells < self._size, f"cell {cells} of {self._size}"
            assert isinstance(value, WHOLE) and value >= 0, f"{plane} = {value}"
            pending[int(cells)] = int(value)
            return
        many = [int(cell) for cell in cells]
        each = [int(value)] * len(many) if isinstance(value, WHOLE) else [int(v) for v in value]
        assert all(0 <= cell < self._size for cell in many) and min(each, default=0) >= 0, f"{plane}: {many} = {each}"
        pending.update(zip(many, each, strict=True))

    def write(self, cell: int, text: str) -> None:
        """The text in a cell from this step on; "" brings the lane's own label back."""
        self.set("text", cell, self._texts.setdefault(text, len(self._texts)))

    def tell(self, cell: int, key: str, **params: object) -> None:
        """The line that a hover over the cell shows from this step on."""
        same = f"{key} {sorted(params.items())!r}"
        if same not in self._told:
            self._told[same] = self._details.append(Text(key, params)) + 1
        self.set("detail", cell, self._told[same])

    def cursor(self, cells: int | Iterable[int]) -> None:
        """Where this one step looks."""
        self.set("cursor", cells, 1)

    def event(self, kind: str) -> None:
        """Mark this step for jumping to; `kind` is a catalogue key."""
        self._events.append(Event(len(self._captions), kind))

    def step(self, caption: str, /, **params: object) -> int:
        """Close the step with its caption (catalogue key and parameters) and return its number."""
        if len(self._captions) >= MOST_STEPS:
            raise Problem("trace_steps", most=MOST_STEPS)
        for deltas in self._deltas.values():
            deltas.close()
        for label, (_, values) in self._series.items():
            values.append(self._latest[label])
        number = self._captions.append(Text(caption, params))
        self._forget()
        return number

    def build(self) -> Trace:
        """The finished Trace."""
        assert self._captions, "a trace has at least one step"
        return Trace(
            lanes=tuple(self._lanes), planes={name: d.plane() for name, d in self._deltas.items()},
            captions=self._captions, texts=tuple(self._texts), details=self._details, events=tuple(self._events),
            series=tuple(Series(s.label, tuple(v), s.places, s.unit, s.share) for s, v in self._series.values()),
            hues=tuple(self._hues), words=dict(self._words), title=self._title,
        )  # fmt: skip

    @property
    def _size(self) -> int:
        return self._lanes[-1].first + self._lanes[-1].count if self._lanes else 0

    def _plane(self, name: str) -> _Deltas:
        if name not in self._deltas:
            assert name in PLANES, f"{name} is not one of {', '.join(PLANES)}"
            self._deltas[name] = _Deltas(self._size)
            self._deltas[name].counts.extend([0] * len(self._captions))
        return self._deltas[name]

    def _forget(self) -> None:
        """What lasts one step only is undone in the next."""
        for name, old, new in (("cursor", 1, 0), ("state", State.COMPUTED, self._settle)):
            deltas = self._deltas.get(name)
            if deltas is not None and new is not None:
                deltas.pending.update({cell: int(new) for cell, value in deltas.asked.items() if value == old})
