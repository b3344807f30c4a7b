"""Contiguous KV allocation, the way before paging: one unbroken run of slots a request, reserved at its start.

The three Orca baselines of SOSP'23, section 6.1: *max* reserves the longest length the server allows, *pow2* the
prompt and the next power of two of the output, *oracle* exactly the slots that the request will fill. First fit, first
come first served, one token a step and request. Left out: Orca's buddy allocator, so holes are those of first fit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from viz_core.i18n import Problem
from viz_core.paging.events import Op
from viz_core.paging.metrics import Metrics, Waste, final_lengths
from viz_core.paging.run import Recording
from viz_core.paging.scenario import MOST_STEPS


@dataclass(frozen=True, slots=True)
class Job:
    """A request as a contiguous allocator sees it: arrival step, prompt and output tokens, for how many steps it keeps
    its memory once all are there, and how many output tokens never get K/V: the last one sampled; none of a script's.
    """

    at: int
    prompt: int
    output: int
    stay: int = 0
    unwritten: int = 1

    @property
    def slots(self) -> int:
        """Slots that hold K/V in the end."""
        return self.prompt + self.output - self.unwritten


def next_power(tokens: int) -> int:
    """The least power of two that is no smaller; 0 of 0."""
    return 1 << (tokens - 1).bit_length() if tokens else 0


Reserve = Callable[[Job, int], int]
RULES: dict[str, Reserve] = {
    "max": lambda job, longest: longest,
    "pow2": lambda job, longest: min(job.prompt + next_power(job.output), longest),
    "oracle": lambda job, longest: job.slots,
}


@dataclass(slots=True)
class _Held:
    start: int
    size: int
    tokens: int
    final: int
    stay: int


def jobs_of(recording: Recording) -> list[Job]:
    """The requests of a paged run, each with the tokens it had there; those of a script stay until they finish."""
    log, most, ends = recording.log, final_lengths(recording.log), dict[str, int]()
    for event in log:
        if event.op == Op.FINISH:
            ends[event.request] = event.step
    jobs = []
    for event in log:
        if event.op == Op.ARRIVE:
            prompt, at = max(1, event.value), event.step
            unwritten = int(not recording.scripted)  # a script computes the last token too
            output = max(unwritten, most[event.request] - prompt)
            left = ends.get(event.request, log.num_steps) - at - output - 1
            jobs.append(Job(at, prompt, output, max(0, left) * recording.scripted, unwritten))
    return jobs


def beside(recording: Recording, metrics: Metrics) -> dict[str, dict[str, float]] | None:
    """Mean share of each use of the pool's slots (0..1), by rule and for the paged run itself, over the steps of that
    run: a rule that needs more is cut there.

    None where a request is longer than the pool.
    """
    jobs, slots = jobs_of(recording), recording.config.usable * recording.config.block_size
    longest = max(job.slots for job in jobs)
    if longest > slots:
        return None
    steps = len(metrics.waste.tokens)
    waste = {rule: simulate(jobs, slots, rule, longest).until(steps) for rule in RULES} | {"paged": metrics.waste}
    return {rule: each.shares() for rule, each in waste.items()}


def first_fit(held: Sequence[_Held], slots: int, size: int) -> int:
    """Where a run of `size` free slots starts first, -1 when every hole is too small; `held` is sorted by start."""
    end = 0
    for run in held:
        if run.start - end >= size:
            return end
        end = run.start + run.size
    return end if slots - end >= size else -1


def simulate(jobs: Sequence[Job], slots: int, rule: str, longest: int) -> Waste:
    """Slots by use at each step until all jobs have finished; `longest` = most tokens a request may have."""
    for job in jobs:
        if job.slots > longest or RULES[rule](job, longest) > slots:
            raise Problem("paging_contiguous", tokens=job.slots, longest=longest, slots=slots)
    pending, waiting = deque(sorted(jobs, key=lambda job: job.at)), deque[Job]()
    held: list[_Held] = []
    rows: list[tuple[int, int, int, int, int]] = []
    waits: list[bool] = []
    while pending or waiting or held:
        while pending and pending[0].at <= len(rows):
            waiting.append(pending.popleft())
        _admit(waiting, held, slots, rule, longest)
        rows.append(_use(held, slots, bool(waiting)))
        waits.append(bool(waiting))
        held = [run for run in held if run.tokens < run.final or run.stay]
        for run in held:
            if run.tokens < run.final:
                run.tokens += 1
            else:
                run.stay -= 1
        if len(rows) > MOST_STEPS:
            raise Problem("paging_too_long", steps=MOST_STEPS)
    tokens, reserved, internal, external, idle = np.array(rows, np.int64).reshape(-1, 5).T
    return Waste(tokens, reserved, internal, external, idle, np.array(waits, np.bool_))


def _admit(waiting: deque[Job], held: list[_Held], slots: int, rule: str, longest: int) -> None:
    """Give waiting jobs their runs, in order, until one finds no hole."""
    while waiting:
        job = waiting[0]
        size = RULES[rule](job, longest)
        start = first_fit(held, slots, size)
        if start < 0:
            return
        held.append(_Held(start, size, job.prompt, job.slots, job.stay))
        held.sort(key=lambda run: run.start)
        waiting.popleft()


def _use(held: list[_Held], slots: int, someone_waits: bool) -> tuple[int, int, int, int, int]:
    """Slots with K/V, reserved, internal, external, idle. The last sampled token never gets K/V."""
    tokens = sum(run.tokens for run in held)
    reserved = sum(run.final - run.tokens for run in held)
    internal = sum(run.size - run.final for run in held)
    free = slots - tokens - reserved - internal
    return tokens, reserved, internal, free * someone_waits, free * (not someone_waits)
