"""How much of a run a page can show: what drawing and proving it costs, known before any of it is done.

Numbers, owners and proof look at every block and every table entry after every step; the film looks at every event.
"""

from __future__ import annotations

from viz_core.i18n import Problem
from viz_core.paging.config import PoolConfig
from viz_core.paging.events import Log, Op
from viz_core.paging.run import Recording

MOST_LOOKS = 10_000_000  # blocks and table entries, summed over the steps
MOST_EVENTS = 200_000
GAINS = (Op.TAKE, Op.HIT, Op.SKIP, Op.SHARE)


def bounded(config: PoolConfig, log: Log, looks: int = 0) -> None:
    """A Problem for a run that, so far, costs more than a page can show; `looks`: what is known of them."""
    looks = max(looks, log.num_steps * config.usable)
    if looks > MOST_LOOKS or len(log) > MOST_EVENTS:
        raise Problem(
            "paging_effort", steps=log.num_steps, looks=looks, most=MOST_LOOKS, events=len(log),
            most_events=MOST_EVENTS,
        )  # fmt: skip


def showable(recording: Recording) -> Recording:
    """The same recording; a Problem where showing it would take too long."""
    config, log = recording.config, recording.log
    bounded(config, log)
    entries = looks = step = 0  # tables that share blocks have more entries than there are blocks
    for at, op in zip(log.steps, log.op, strict=True):
        looks += (at - step) * (config.usable + entries)
        step = at
        entries += (op in GAINS) - (op == Op.RELEASE)
    bounded(config, log, looks + config.usable + entries)
    return recording
