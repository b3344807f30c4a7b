"""The beginning of a serving trace as a scenario small enough to read and to change by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from viz_core.i18n import Problem
from viz_core.paging.scenario import Scenario
from viz_core.paging.scenario_file import to_json
from viz_core.paging.serving_traces import Arrival, to_scenario

USUAL = 120  # tokens of a middling request once lengths are divided
BLOCK_SIZE = 16
COUNTS = (64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1)  # requests to try, the most first
APART = 4  # steps between two arrivals, on average
MOST_STEPS = 5000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The first `requests` of a trace, their lengths divided by `scale`, a step every `step_ms` of the trace's time."""

    scenario: Scenario
    requests: int
    scale: int
    step_ms: float


def excerpt(arrivals: Sequence[Arrival], longest: int) -> Excerpt:
    """As many of the first requests as fit into `longest` characters of JSON; two of the longest fill the pool."""
    for count in COUNTS:
        first = arrivals[:count]
        scale = max(1, int(median(a.prompt + a.output for a in first)) // USUAL)
        step_ms = (max(a.ms for a in first) - min(a.ms for a in first)) / (APART * len(first))
        blocks = 2 * max(-(-(a.prompt // scale + a.output // scale + 2) // BLOCK_SIZE) for a in first)
        if sum(a.output // scale + 1 for a in first) <= MOST_STEPS:
            scenario = to_scenario(first, blocks, BLOCK_SIZE, step_ms, scale)
            if len(to_json(scenario)) <= longest:
                return Excerpt(scenario, len(first), scale, step_ms)
    raise Problem("paging_scenario_long", most=longest)
