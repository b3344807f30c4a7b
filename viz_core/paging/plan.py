"""What one engine step runs, and the stand-in for sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from viz_core.paging.request import Request


@dataclass(slots=True)
class StepPlan:
    """What one step runs: granted tokens in scheduling order, admissions, victims (as they were preempted)."""

    granted: dict[str, int] = field(default_factory=dict)
    new: list[Request] = field(default_factory=list)
    resumed: list[Request] = field(default_factory=list)
    preempted: list[Request] = field(default_factory=list)


def unique_tokens(requests: Sequence[Request]) -> list[int]:
    """The stand-in for sampling: for each request a token that no other request samples."""
    return [900_000 + 1000 * each.index + each.length - each.prompt for each in requests]
