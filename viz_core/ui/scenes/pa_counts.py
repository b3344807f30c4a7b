"""The counters of a paged run: number series beside the cells of its film, and one sentence on the whole run.

Every number is `paging.metrics`' own; a series that several runs have in common is drawn once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from viz_core import units
from viz_core.paging.metrics import Metrics
from viz_core.paging.run import Recording
from viz_core.trace import Label, Lane, Series, Text, Trace
from viz_core.ui.scene import Context

Count = tuple[int, Callable[[Metrics], np.ndarray]]  # decimals, and the numbers, one a step
COUNTS: dict[str, Count] = {
    "blocks": (0, lambda m: m.blocks),
    "slots": (0, lambda m: m.waste.tokens),
    "waste": (1, lambda m: 100 * (m.waste.reserved + m.waste.internal) / _at_least_one(m)),
    "reserved": (0, lambda m: m.waste.reserved),
    "internal": (0, lambda m: m.waste.internal),
    "hit": (1, lambda m: 100 * m.hit_rate),
    "preemptions": (0, lambda m: m.preemptions),
    "lost": (0, lambda m: m.lost),
}
WASTED = ("reserved", "internal")  # on one scale, so that they compare
POOL = "paging.lane.pool"


def counted(trace: Trace, measured: Sequence[tuple[Label, Metrics]], *, maps: bool = True) -> Trace:
    """The film of runs, named and measured, with all their series that are not 0 throughout, and maps of each pool
    over time.
    """
    lanes = tuple(_over_time(lane, len(measured) > 1, maps) for lane in trace.lanes)
    series = [one for short in COUNTS for one in _series(short, measured, trace.steps)]
    return replace(trace, lanes=lanes, series=tuple(series))


def _at_least_one(metrics: Metrics) -> np.ndarray:
    """Slots of held blocks, 1 where none is held."""
    waste = metrics.waste
    return np.maximum(waste.tokens + waste.reserved + waste.internal, 1)


def _over_time(lane: Lane, named: bool, mapped: bool) -> Lane:
    """A pool, with its map over all steps and named after its run where there are several; other lanes as they are."""
    label = lane.label
    if not isinstance(label, Text) or label.key != POOL:
        return lane
    return replace(lane, history=mapped, label=Text("paging.lane.pool_of", label.params) if named else label)


def _series(short: str, measured: Sequence[tuple[Label, Metrics]], steps: int) -> list[Series]:
    """One counter of all runs: once where they agree, else once a run under its name."""
    key = f"paging.series.{short}"
    places, of = COUNTS[short]
    lines = [(name, _until(of(metrics), steps)) for name, metrics in measured]
    if not any(any(line) for _, line in lines):
        return []
    if len({line for _, line in lines}) == 1:
        alike = Text("paging.series_both", {"series": Text(key)}) if len(lines) > 1 else Text(key)
        return [_one(alike, short, places, lines[0][1])]
    return [
        _one(Text("paging.series_of", {"name": name, "series": Text(key)}), short, places, line) for name, line in lines
    ]


def _one(label: Label, short: str, places: int, line: tuple[float, ...]) -> Series:
    """A series on the scale that the same counter of the other runs has."""
    return Series(label, line, places, share="wasted" if short in WASTED else short)


def _until(values: np.ndarray, steps: int) -> tuple[float, ...]:
    """A shorter run stays at its end."""
    return tuple(float(value) for value in [*values, *[values[-1]] * (steps - len(values))])


def sentence(context: Context, recording: Recording, metrics: Metrics) -> str:
    """Every counter of a run in one sentence: means over its steps, and the sums at its end."""
    config, waste = recording.config, metrics.waste
    means = {
        "held": metrics.blocks, "tokens": waste.tokens, "reserved": waste.reserved,
        "internal": waste.internal, "external": waste.external,
    }  # fmt: skip
    said = context.t(
        "paging.counts",
        steps=len(metrics.blocks),
        blocks=config.usable,
        slots=config.usable * config.block_size,
        preemptions=int(metrics.preemptions[-1]),
        lost=int(metrics.lost[-1]),
        **{name: f"{float(values.mean()):.1f}" for name, values in means.items()},
    )
    return said + _cache(context, metrics) if config.caching else said


def _cache(context: Context, metrics: Metrics) -> str:
    """What the prefix cache found, in the end."""
    hit, queried = int(metrics.hit[-1]), int(metrics.queried[-1])
    return context.t("paging.counts_cache", hit=hit, queried=queried, rate=units.percent(float(metrics.hit_rate[-1])))
