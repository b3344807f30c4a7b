"""The planes' deltas as few numbers: one list of changed cells for all planes, of which only the surprises travel.

What happens to a cell in one step is the *set* of planes that change in it. Sets follow each other by habit: a block
that was filled a little is filled a little more, one that was computed settles. `after` names for each set the one
that mostly follows it in the next step; a list of exceptions says where that is wrong. The sets, read back, say which
cells of which planes change in a step, in the order of their cells; each plane's new values follow in that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz_core.trace import Plane
from viz_core.trace_arrays import Arrays, packed

Ints = NDArray[np.int64]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """Which planes change in which cells: `sets` and `after` (sets,), the exceptions' `counts` (steps,), their `cells`
    and the index of the set that is there instead, `which` (exceptions,).

    Bit p of a set is the plane p; set 0 is the empty one.
    """

    sets: Ints
    after: Ints
    counts: Ints
    cells: Ints
    which: Ints


def written(planes: Mapping[str, Plane], steps: int, size: int, arrays: Arrays) -> Json:
    """The header's entries `planes`, each with its values or the plane that tells them, and `changes`, which all share.

    `size` cells; the numbers go to `arrays`.
    """
    twins = {name: _twin(name, planes) for name in planes}
    own = [plane for name, plane in planes.items() if twins[name] is None]
    return {
        "planes": {name: _plane(plane, twins[name], arrays) for name, plane in planes.items()},
        "changes": [arrays.add(part) for part in astuple(changes(own, steps, size))],
    }


def _plane(plane: Plane, known: tuple[str, NDArray[np.uint32]] | None, arrays: Arrays) -> Json:
    if known is not None:
        return {"like": known[0], "table": arrays.add(known[1])}
    risen = _rises(plane.cells, plane.values)
    rising = packed(risen) < packed(plane.values)
    return {"rising": rising, "values": arrays.add(risen if rising else plane.values)}


def unrolled(header: Json, arrays: Sequence[NDArray[Any]]) -> dict[str, Plane]:
    """The planes that `written` put into a header and its arrays."""
    own = [name for name, entry in header["planes"].items() if "values" in entry]
    cells: dict[str, list[int]] = {name: [] for name in own}
    counts: dict[str, list[int]] = {name: [] for name in own}
    for step in touched(Changes(*(arrays[i] for i in header["changes"]))):
        for bit, name in enumerate(own):
            here = [cell for cell, touches in step.items() if touches >> bit & 1]
            cells[name] += here
            counts[name].append(len(here))
    planes: dict[str, Plane] = {}
    for name, entry in header["planes"].items():
        if name in own:
            at, values = np.array(cells[name], np.uint32), arrays[entry["values"]]
            values = _summed(at, values) if entry["rising"] else values.astype(np.uint32)
            planes[name] = Plane(np.array(counts[name], np.uint32), at, values)
        else:
            known = planes[entry["like"]]
            planes[name] = replace(known, values=arrays[entry["table"]].astype(np.uint32)[known.values])
    return planes


def changes(planes: list[Plane], steps: int, size: int) -> Changes:
    """The changes of all `planes` over `size` cells."""
    own = [np.repeat(np.arange(steps), plane.counts) * size + plane.cells for plane in planes]
    every = np.sort(np.concatenate([np.zeros(0, np.int64), *own]))  # step · size + cell
    moments = every[np.diff(every, prepend=-1) > 0]
    touched = np.zeros(len(moments), np.int64)
    for bit, keys in enumerate(own):
        touched[np.searchsorted(moments, keys)] |= 1 << bit
    sets, which = np.unique(np.append(0, touched), return_inverse=True)
    return _surprises(moments, sets, which[1:], steps, size)


def _surprises(moments: Ints, sets: Ints, which: Ints, steps: int, size: int) -> Changes:
    """What mostly follows each set, and where something else does."""
    later = np.searchsorted(moments, moments + size)  # the same cell, one step on
    found = later < len(moments)
    found[found] = moments[later[found]] == moments[found] + size
    follows = np.zeros(len(moments), np.int64)
    follows[found] = which[later[found]]
    inside = moments < (steps - 1) * size
    pairs = np.bincount(which[inside] * len(sets) + follows[inside], minlength=len(sets) ** 2)
    after = pairs.reshape(len(sets), -1).argmax(1)
    expected = np.zeros(len(moments), np.int64)
    expected[later[found]] = after[which[found]]
    other, stops = which != expected, inside & ~found & (after[which] > 0)
    keys = np.concatenate([moments[other], moments[stops] + size])
    order = np.argsort(keys)
    there = np.concatenate([which[other], np.zeros(int(stops.sum()), np.int64)])[order]
    return Changes(sets, after, np.bincount(keys // size, minlength=steps), keys[order] % size, there)


def touched(changes: Changes) -> Iterator[dict[int, int]]:
    """The set of planes (a bit mask) of every cell that changes, step after step, in the order of the cells."""
    now: dict[int, int] = {}
    after, sets = changes.after.astype(int).tolist(), changes.sets.astype(int).tolist()
    exceptions = iter(zip(changes.cells.astype(int).tolist(), changes.which.astype(int).tolist(), strict=True))
    for count in changes.counts.astype(int).tolist():
        now = {cell: after[which] for cell, which in now.items()}
        now |= dict(next(exceptions) for _ in range(count))
        now = {cell: now[cell] for cell in sorted(now) if now[cell]}
        yield {cell: sets[which] for cell, which in now.items()}


def _rises(cells: NDArray[np.uint32], values: NDArray[np.uint32]) -> Ints:
    """Each value less what the same cell held before (0 at first)."""
    order = np.argsort(cells, kind="stable")
    ordered, out = values[order].astype(np.int64), np.empty(len(order), np.int64)
    before = np.zeros(len(order), np.int64)
    before[1:] = np.where(cells[order][1:] == cells[order][:-1], ordered[:-1], 0)
    out[order] = ordered - before
    return out


def _summed(cells: NDArray[np.uint32], risen: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The values whose `_rises` these are."""
    now: dict[int, int] = {}
    out = np.empty(len(risen), np.uint32)
    for at, (cell, rise) in enumerate(zip(cells.tolist(), risen.tolist(), strict=True)):
        out[at] = now[cell] = now.get(cell, 0) + rise
    return out


def _twin(name: str, planes: Mapping[str, Plane]) -> tuple[str, NDArray[np.uint32]] | None:
    """An earlier plane that always changes with this one and tells its value, and the table between them."""
    plane = planes[name]
    for other, known in planes.items():
        if other == name:
            return None
        if np.array_equal(known.counts, plane.counts) and np.array_equal(known.cells, plane.cells):
            table = np.zeros(int(known.values.max(initial=0)) + 1, np.uint32)
            table[known.values] = plane.values
            if len(table) < len(plane.values) and np.array_equal(table[known.values], plane.values):
                return other, table
    return None
