"""Serves a list of arriving requests to the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from viz_core.i18n import Problem
from viz_core.paging.request import Request
from viz_core.paging.scheduler import Scheduler


def serve(scheduler: Scheduler, arrivals: Iterable[Request], max_steps: int = 1_000_000) -> None:
    """Step until all `arrivals` (sorted by `arrival`) have finished; a Problem when nothing can move any more."""
    pending = deque(arrivals)
    while pending or scheduler.waiting or scheduler.running:
        while pending and pending[0].arrival[0] <= scheduler.steps:
            scheduler.add(pending.popleft())
        plan = scheduler.step()
        if not plan.granted and not plan.preempted and not pending:
            raise Problem("paging_stuck", step=scheduler.steps)
        if scheduler.steps >= max_steps:
            raise Problem("paging_too_long", steps=max_steps)
