"""The one animation format: a fixed set of cells, planes over them as deltas, number series and captions.

Whatever moves in the app is a replay of a Trace that the real algorithm emitted. Cells are grouped in lanes (a block
pool, a request's table, SRAM, a grid of tiles). Each named plane gives every cell one small number (see PLANES), and a
step carries only what it changes. Captions are catalogue keys with parameters, so one Trace speaks every language.
`TraceBuilder` in `trace_builder` makes one, `trace_codec` turns it into the bytes that the player reads.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

MOST_STEPS = 1_000_000
MOST_CELLS = 65_536


class State(IntEnum):
    """How a cell is drawn; whose it is says the plane `hue`, whether it carries a hash the plane `hashed`."""

    EMPTY = 0  # nothing there yet: a faint outline
    FREE = 1  # dashed outline
    HELD = 2  # solid
    COMPUTED = 3  # solid with a thick outline: written in this very step
    REUSED = 4  # the hue at 35 %
    EVICTED = 5  # hatched
    MASKED = 6  # never computed at all: no mark


PLANES = {
    "state": "a State",
    "hue": "0 none, 1 = A … 6 = F; from 7 on the hues repeat, hatched, with the next letters",
    "fill": "units filled, 0 … the lane's `full`; a lane with full = 0 is never partial",
    "ref": "reference count; shown from 2 on",
    "hashed": "0 or 1",
    "shade": "0 none, 1 … 255 on the sequential ramp, in place of a hue",
    "text": "index of the text in the cell in `Trace.texts`; 0: the lane's own label",
    "detail": "1 + index of the line shown on hover in `Trace.details`; 0: none",
    "key": "cells with the same key > 0 light up together; 0: the lane's own key",
    "cursor": "1 where the step looks",
    "moved": "1 where a piece of a bar stands at its goal (see `Bars`)",
}


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence of the catalogue: its key and what fills it; a parameter may be a Text itself."""

    key: str
    params: Mapping[str, object] = field(default_factory=dict)


Label = Text | str  # a catalogue sentence, or a literal such as a token


Box = tuple[int, int, int, int]  # left, bottom, width, height in parts of the plot's width and height, see PARTS
Tick = tuple[int, str]  # a place on an axis in the same parts, and what stands there
PARTS = 10_000


@dataclass(frozen=True, slots=True)
class Bars:
    """The cells of a lane as pieces of a histogram's bars, which stand in one of two places each.

    A cell is drawn as its box `before`, or `after` once its plane `moved` is 1. The boxes of `outline` stay where they
    are; `points` are marks on the axis across. `title` names that axis; `tall` is the height in px of the plot.
    """

    before: tuple[Box, ...]
    after: tuple[Box, ...]
    outline: tuple[Box, ...] = ()
    points: tuple[int, ...] = ()
    across: tuple[Tick, ...] = ()
    up: tuple[Tick, ...] = ()
    title: Label = ""
    tall: int = 280


@dataclass(frozen=True, slots=True)
class Lane:
    """A run of `count` cells with ids `first` … `first + count - 1`.

    `labels` stand in the cells, `under` below them. `columns` = 0 lets the cells flow and wrap; otherwise they form a
    grid of that many columns with optional names of rows and columns; one column with row names is a list, such as
    lines of code, each lit while its cell is HELD or COMPUTED. `full` is a cell's size for the plane `fill`. `history`
    adds a map of the lane over all steps: time to the right, its cells downwards, each in the hue of its owner.
    `folded` rows of a grid may stand in several stacks side by side, as wide as their words need. With `bars` the cells
    are not boxes in a row but pieces of a histogram.
    """

    label: Label
    first: int
    count: int
    labels: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    keys: tuple[int, ...] = ()
    columns: int = 0
    full: int = 0
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    history: bool = False
    folded: bool = False
    bars: Bars | None = None


@dataclass(frozen=True, slots=True)
class Hue:
    """What hue `number` (1 = A) stands for: the letter written in its cells and its name in the legend."""

    number: int
    letter: str
    name: Label


@dataclass(frozen=True, slots=True)
class Series:
    """One number a step. None is a gap; ±inf is shown but not drawn.

    `places` decimals are shown (None: scientific, two digits). By the largest value, unit "bytes" picks B, KiB, MiB …
    and a unit like "~FLOP" picks k, M, G …. Series with the same non-empty `share` are drawn on one scale.
    """

    label: Label
    values: tuple[float | None, ...]
    places: int | None = 0
    unit: str = ""
    share: str = ""


@dataclass(frozen=True, slots=True)
class Plane:
    """The changes of one plane, step after step: `counts[s]` of them belong to step s, in ascending order of cells."""

    counts: NDArray[np.uint32]  # (steps,)
    cells: NDArray[np.uint32]  # (changes,)
    values: NDArray[np.uint32]  # (changes,)

    def at(self, step: int, size: int) -> NDArray[np.uint32]:
        """The plane's value in each of `size` cells after `step`."""
        out = np.zeros(size, np.uint32)
        end = int(self.counts[: step + 1].sum(dtype=np.int64))
        out[self.cells[:end]] = self.values[:end]
        return out


@dataclass(slots=True)
class Messages:
    """A growing list of Texts, stored as columns: which key, and one list for each of its parameters."""

    keys: list[str] = field(default_factory=list)
    which: array[int] = field(default_factory=lambda: array("H"))  # sentence -> key
    row: array[int] = field(default_factory=lambda: array("I"))  # sentence -> row in its key's columns
    rows: list[int] = field(default_factory=list)  # key -> rows so far
    columns: list[dict[str, list[object]]] = field(default_factory=list)

    def append(self, text: Text) -> int:
        """Add one sentence and return its index; the same key always takes the same parameters."""
        if text.key not in self.keys:
            self.keys.append(text.key)
            self.rows.append(0)
            self.columns.append({name: [] for name in text.params})
        at = self.keys.index(text.key)
        columns = self.columns[at]
        assert columns.keys() == text.params.keys(), f"{text.key}: {sorted(columns)} before, {sorted(text.params)} now"
        for name, value in text.params.items():
            columns[name].append(value)
        self.which.append(at)
        self.row.append(self.rows[at])
        self.rows[at] += 1
        return len(self.which) - 1

    def __len__(self) -> int:
        return len(self.which)

    def __getitem__(self, index: int) -> Text:
        at = self.which[index]
        return Text(self.keys[at], {name: column[self.row[index]] for name, column in self.columns[at].items()})


@dataclass(frozen=True, slots=True)
class Event:
    """A named moment to jump to: the `kind` (a catalogue key) happened in `step`."""

    step: int
    kind: str


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole animation; build it with `TraceBuilder`. `captions` has one sentence a step."""

    lanes: tuple[Lane, ...]
    planes: Mapping[str, Plane]
    captions: Messages
    series: tuple[Series, ...] = ()
    texts: tuple[str, ...] = ("",)
    details: Messages = field(default_factory=Messages)
    events: tuple[Event, ...] = ()
    hues: tuple[Hue, ...] = ()
    words: Mapping[State, Label] = field(default_factory=dict)  # the legend's words where they differ from the usual
    title: Label = ""

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.captions)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return sum(lane.count for lane in self.lanes)

    def state(self, step: int) -> dict[str, NDArray[np.uint32]]:
        """Every plane in use as it stands after `step`, each (cells,); rebuilt from the deltas."""
        assert 0 <= step < self.steps, f"step {step} of {self.steps}"
        return {name: plane.at(step, self.cells) for name, plane in self.planes.items()}
