"""Numbers of a run, step by step: how full the pool is, where slots are wasted, what the cache and preemption did.

Waste is split as in SOSP'23, section 3.1: *reserved* slots will hold a token of their request later, *internal* ones
never will, *external* ones are free but of no use to the request that waits. Shared blocks count once. Left out: bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viz_core.paging.events import Log, Op
from viz_core.paging.pool import NULL
from viz_core.paging.replay import State, replay
from viz_core.paging.run import Recording

Counts = NDArray[np.int64]
USES = ("tokens", "reserved", "internal", "external", "idle")


@dataclass(frozen=True, slots=True)
class Waste:
    """Token slots by use, each (steps,): with K/V, reserved, internal, external and idle; their sum is the pool.

    `waiting`, (steps,): whether a request was refused for want of memory in that step.
    """

    tokens: Counts
    reserved: Counts
    internal: Counts
    external: Counts
    idle: Counts
    waiting: NDArray[np.bool_]

    def shares(self, when: NDArray[np.bool_] | None = None) -> dict[str, float]:
        """Mean share of each use (0..1, summing to 1) over the steps that `when`, (steps,), picks; else all."""
        parts = {name: getattr(self, name) if when is None else getattr(self, name)[when] for name in USES}
        total = float(sum(part.sum() for part in parts.values()))
        return {name: float(part.sum()) / total for name, part in parts.items()}

    def until(self, steps: int) -> Waste:
        """The first `steps` of it; after its own end the pool is empty and nobody waits."""
        more = max(0, steps - len(self.tokens))
        pool = sum(int(getattr(self, name)[0]) for name in USES)
        cut = {name: np.pad(getattr(self, name)[:steps], (0, more)) for name in (*USES, "waiting")}
        cut["idle"][len(self.tokens) :] = pool
        return Waste(**cut)


@dataclass(frozen=True, slots=True)
class Metrics:
    """One entry a step: `waste`, held `blocks`, and sums so far: prompt tokens `queried`, `hit`, `preemptions`,
    tokens `lost`.
    """

    waste: Waste
    blocks: Counts
    queried: Counts
    hit: Counts
    preemptions: Counts
    lost: Counts

    @property
    def hit_rate(self) -> NDArray[np.float64]:
        """Share of queried prompt tokens found in the cache, so far; 0 before the first query."""
        return self.hit / np.maximum(self.queried, 1)


def final_lengths(log: Log) -> dict[str, int]:
    """The most tokens that each request ever has."""
    most: dict[str, int] = {}
    for event in log:
        if event.op in (Op.ARRIVE, Op.SAMPLE, Op.COMPUTE):
            most[event.request] = max(most.get(event.request, 0), event.value)
    return most


def slots_by_use(state: State, final: dict[str, int]) -> tuple[int, int, int]:
    """Slots of the held blocks that hold K/V, will hold some, never will; a shared block counts once."""
    refs = np.frombuffer(state.ref, np.int32)
    slots = int((refs > 0).sum()) * state.size
    if (refs > 1).any() or any(state.windows):
        tokens, ever = _shared_slots(state, final, refs > 0)
    else:
        tokens = sum(state.computed.get(name, 0) for name in state.tables)
        ever = sum(
            max(state.computed.get(name, 0), min(final.get(name, 0), len(tables[0]) * state.size))
            for name, tables in state.tables.items()
        )
        tokens, ever = tokens * len(state.windows), ever * len(state.windows)
    return tokens, ever - tokens, slots - ever


def _shared_slots(state: State, final: dict[str, int], held: NDArray[np.bool_]) -> tuple[int, int]:
    """Slots in use now and ever, block by block: tables overlap, or have null entries."""
    now = np.zeros(len(state.ref), np.int64)
    ever = np.zeros(len(state.ref), np.int64)
    for name, tables in state.tables.items():
        for table in tables:
            at = np.frombuffer(table, np.int32)
            starts = np.arange(len(at)) * state.size
            np.maximum.at(now, at, np.clip(state.computed.get(name, 0) - starts, 0, state.size))
            np.maximum.at(ever, at, np.clip(final.get(name, 0) - starts, 0, state.size))
    return int(now[held].sum()), int(np.maximum(ever, now)[held].sum())


def measure(recording: Recording) -> Metrics:
    """All numbers of a recording."""
    config, log = recording.config, recording.log
    steps, slots = log.num_steps, config.usable * config.block_size
    rows = np.zeros((3, steps), np.int64)
    final = final_lengths(log)
    for at, state in enumerate(replay(config, log)):
        rows[:, at] = slots_by_use(state, final)
    sums = np.cumsum(np.array(list(_step_counts(recording)), np.int64).reshape(steps, 4), axis=0).T
    refused = np.isin(np.arange(steps), [event.step for event in log if event.op == Op.REFUSE])
    nothing = np.zeros(steps, np.int64)  # any free block serves any request: paging has no external waste
    waste = Waste(rows[0], rows[1], rows[2], nothing, slots - rows.sum(axis=0), refused)
    return Metrics(waste, rows.sum(axis=0) // config.block_size, sums[0], sums[1], sums[2], sums[3])


def _step_counts(recording: Recording) -> Iterator[tuple[int, int, int, int]]:
    """Each step's newly queried and hit prompt tokens, preemptions and tokens lost to them."""
    log, size = recording.log, recording.config.block_size
    prompts: dict[str, int] = {}
    seen: set[str] = set()
    counts = [[0, 0, 0, 0] for _ in range(log.num_steps)]
    for event in log:
        row = counts[event.step]
        if event.op == Op.ARRIVE:
            prompts[event.request] = event.value
        elif event.op in (Op.HIT, Op.SKIP) and event.value == NULL and event.request not in seen:
            row[1] += size
        elif event.op == Op.COMPUTE and event.request not in seen:
            seen.add(event.request)
            row[0] += prompts.get(event.request, 0)
        elif event.op == Op.PREEMPT:
            row[2] += 1
            row[3] += event.value
    return ((a, b, c, d) for a, b, c, d in counts)
