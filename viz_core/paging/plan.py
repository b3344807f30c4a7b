"""What one engine step runs, and the stand-in for sampling."""

from __future__ import annotations

from dataclasses import dataclass, field

from viz_core.paging.request import Request


@dataclass(slots=True)
class StepPlan:
    """What one step runs: granted tokens in scheduling order, admissions, victims (as they were preempted)."""

    granted: dict[str, int] = field(default_factory=dict)
    new: list[Request] = field(default_factory=list)
    resumed: list[Request] = field(default_factory=list)
    preempted: list[Request] = field(default_factory=list)


def unique_token(request: Request) -> int:
    """The stand-in for a sampled token: one that no other request samples."""
    return 900_000 + 1000 * request.index + request.length - request.prompt
