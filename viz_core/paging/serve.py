"""Serves a list of arriving requests to the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from viz_core.i18n import Problem
from viz_core.paging.request import Request
from viz_core.paging.scheduler import Scheduler


def serve(
    scheduler: Scheduler,
    arrivals: Iterable[Request],
    max_steps: int = 1_000_000,
    after: Callable[[], None] = lambda: None,
) -> None:
    """Step until all `arrivals` (sorted by `arrival`) have finished; a Problem when nothing can move any more. `after`
    is called after each step.
    """
    pending = deque(arrivals)
    while pending or scheduler.waiting or scheduler.running:
        while pending and pending[0].arrival[0] <= scheduler.steps:
            scheduler.add(pending.popleft())
        plan = scheduler.step()
        after()
        if not plan.granted and not plan.preempted and not pending:
            raise stuck(scheduler)
        if scheduler.steps >= max_steps:
            raise Problem("paging_too_long", steps=max_steps)


def stuck(scheduler: Scheduler) -> Problem:
    """Why nothing moves: the head of the queue exceeds the token budget, or does not fit into the pool."""
    config = scheduler.config
    for request in list(scheduler.waiting)[:1]:
        tokens = request.length - scheduler.manager.lookup(request).tokens
        chunk = config.long_prefill_token_threshold if len(scheduler.waiting) > 1 else 0
        if 0 < chunk < tokens:
            tokens = chunk
        if tokens > config.max_num_batched_tokens and not config.enable_chunked_prefill:
            return Problem("paging_budget", name=request.name, tokens=tokens, budget=config.max_num_batched_tokens)
    return Problem("paging_stuck", step=scheduler.steps)
