"""The snapping histogram as a film: point after point takes the weights that round to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from viz_core import units
from viz_core.figures.flow_bars import flow_bars, highest
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Spacing
from viz_core.trace import Label, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.ui.quantizing_flow import Moving

STEPS = 24  # of one format; where it has more points in sight, neighbours move together
BEFORE, CLIPPED, AFTER = 1, 6, (2, 3)  # hues: of weights, of those beyond the points, and of each format's
TALL, TALL_EACH = 300, 210  # px of one histogram, and of each of two
TEXT = "scene.quantization.histogram"


@dataclass(frozen=True)
class Part:
    """One format on its way: its cells, and for each of its steps what moves.

    Attributes:
        stops: (steps − 1,); what ends up from stop s − 1 on and below stop s moves in step s.
        values: for each step the values of the view that move, by number.
        pieces: for each step the pieces that move, by number.
    """

    name: str
    moving: Moving
    hue: int
    cells: range
    stops: NDArray[np.float64]
    values: list[NDArray[np.int64]]
    pieces: list[NDArray[np.int64]]

    @staticmethod
    def of(name: str, moving: Moving, hue: int, cells: range) -> Part:
        """The steps of one format."""
        found = moving.flow
        bounds = stops(found.goals, found.after())
        finite = np.flatnonzero(moving.finite)
        turns = np.searchsorted(bounds, moving.after[finite], side="right")
        values = [finite[mine] for mine in _groups(turns, len(bounds) + 1)]
        pieces = _groups(np.searchsorted(bounds, found.goals[found.goal], side="right"), len(bounds) + 1)
        return Part(name, moving, hue, cells, bounds, values, pieces)


def _groups(turns: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """The places of 0, of 1, … of size − 1."""
    order = np.argsort(turns, kind="stable")
    return np.split(order, np.searchsorted(turns[order], np.arange(1, size)))


def stops(goals: NDArray[np.float64], mass: NDArray[np.int64], most: int = STEPS) -> NDArray[np.float64]:
    """Where the steps part, between goals that take something: one each, or groups of about equal mass and number."""
    taken = np.flatnonzero(mass)
    if taken.size > most:
        rank = np.arange(1, taken.size + 1) / taken.size  # beside mass, or one heavy goal would leave no step to others
        share = (np.cumsum(mass[taken]) / mass.sum() + rank) / 2
        group = np.minimum((share * most - 1e-9).astype(int), most - 1)
        last = np.flatnonzero(np.diff(group))
    else:
        last = np.arange(max(taken.size - 1, 0))
    return (goals[taken[last]] + goals[taken[last + 1]]) / 2 if taken.size else np.zeros(0)


def film(found: Mapping[str, Moving], axis: Label, names: Sequence[Label], spacing: Spacing) -> Trace:
    """All formats of `found`, named in the legend by `names`, in one film; both sweep from left to right."""
    builder = TraceBuilder(Text(f"{TEXT}.title"))
    parts = [_part(builder, name, moving, k, axis, spacing, found) for k, (name, moving) in enumerate(found.items())]
    _legend(builder, parts, names)
    several = len(parts) > 1
    builder.series("quant.moved", places=1, unit="%")
    for part in parts:
        named = Text("quant.rms_of", {"name": part.name}) if several else Text("quant.rms")
        builder.series(f"rms.{part.name}", places=None, name=named)
    for part in parts:
        _home(builder, part)
    builder.value("quant.moved", 0.0)
    sizes = [str(units.count(part.moving.pair.after.format.grid.levels.size)) for part in parts]
    first = parts[0].moving
    builder.step(f"{TEXT}.start", n=units.count(first.at.size), name=" / ".join(p.name for p in parts),
                 points=" / ".join(sizes))
    _sweep(builder, parts)
    return builder.build()


def _part(
    builder: TraceBuilder, name: str, moving: Moving, k: int, axis: Label, spacing: Spacing, found: Mapping[str, Moving]
) -> Part:
    alike = [moving] if moving.view == "steps" else found.values()  # in steps each format has bins of its own width
    top = max(highest(other.flow) for other in alike)
    tall = TALL if len(found) == 1 else TALL_EACH
    title = axis if k == len(found) - 1 else ""  # one name under both
    bars = flow_bars(moving.flow, moving.points, title, top, spacing, tall)
    cells = builder.lane(name, len(moving.flow.counts), bars=bars)
    return Part.of(name, moving, AFTER[k], cells)


def _legend(builder: TraceBuilder, parts: Sequence[Part], names: Sequence[Label]) -> None:
    builder.hue(BEFORE, "", Text("quant.before"))
    for part, named in zip(parts, names, strict=True):
        builder.hue(part.hue, "", named)
    if any(part.moving.flow.marked.any() for part in parts):
        builder.hue(CLIPPED, "", Text("quant.clipped"))


def _home(builder: TraceBuilder, part: Part) -> None:
    """Every piece where its weights were, with the line it says when pointed at."""
    found, moving = part.moving.flow, part.moving
    builder.set("hue", part.cells, BEFORE)
    order = np.argsort(found.piece, kind="stable")
    first = order[np.searchsorted(found.piece[order], np.arange(len(found.counts)))]
    off = np.abs(moving.error)
    mean = np.bincount(found.piece[found.piece >= 0], off[found.piece >= 0], len(found.counts)) / found.counts
    for k, cell in enumerate(part.cells):
        value, code, how, error = moving.example(int(first[k]))
        said = {"x": spoken(value), "code": spoken(code), "how": how, "error": f"{error:.2g}".replace("-", "−")}
        if found.counts[k] == 1:
            builder.tell(cell, "quant.piece_one", **said)
        else:
            low, high = found.edges[found.bin[k] : found.bin[k] + 2].tolist()
            builder.tell(cell, "quant.piece", low=spoken(low), high=spoken(high), n=units.count(found.counts[k]),
                         mean=f"{mean[k]:.2g}", **said)


def _sweep(builder: TraceBuilder, parts: Sequence[Part]) -> None:
    """Step after step from left to right; formats take turns by where they are on their axis."""
    turns = []
    for part in parts:
        low, high = float(part.moving.flow.edges[0]), float(part.moving.flow.edges[-1])
        places = [*part.stops.tolist(), high]
        turns += [((place - low) / (high - low), step, part) for step, place in enumerate(places)]
    total = sum(len(values) for part in parts for values in part.values)
    done, moved = 0, {part.name: 0 for part in parts}
    noise = {part.name: 0.0 for part in parts}
    for _, step, part in sorted(turns, key=lambda turn: turn[:2]):
        now = part.values[step]
        done += len(now)
        moved[part.name] += len(now)
        noise[part.name] += float(np.sum(part.moving.error[now] ** 2))
        builder.value("quant.moved", 100 * done / total)
        builder.value(f"rms.{part.name}", sqrt(noise[part.name] / moved[part.name]))
        _take(builder, part, step)


def _take(builder: TraceBuilder, part: Part, step: int) -> None:
    """One step of one format."""
    pieces, marked = part.pieces[step], part.moving.flow.marked
    cells = [part.cells[k] for k in pieces]
    builder.set("moved", cells, 1)
    builder.set("hue", cells, [CLIPPED if marked[k] else part.hue for k in pieces])
    builder.cursor(cells)
    _caption(builder, part, part.values[step])


def _caption(builder: TraceBuilder, part: Part, now: NDArray[np.int64]) -> None:
    """What the points of this step take; with one point in one block, the arithmetic too."""
    moving = part.moving
    clipped = int(moving.clipped[now].sum())
    beyond = Text("quant.beyond", {"n": units.count(clipped)}) if clipped else ""
    shared = {"name": part.name, "n": units.count(len(now)), "all": units.count(moving.at.size), "beyond": beyond}
    low, high = float(moving.after[now].min()), float(moving.after[now].max())
    if low < high:
        builder.step(f"{TEXT}.many", first=spoken(low), last=spoken(high), **shared)
    elif moving.view == "block":
        _, code, how, _ = moving.example(int(now[0]))
        builder.step(f"{TEXT}.formula", code=spoken(code), how=how, **shared)
    else:
        codes, counts = np.unique(moving.codes[now], return_counts=True)
        builder.step(f"{TEXT}.point", point=spoken(low), code=spoken(int(codes[counts.argmax()])), **shared)
