"""State of the pool and of every table, rebuilt from the log alone."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from viz_core.i18n import Problem
from viz_core.paging.config import PoolConfig
from viz_core.paging.events import Event, Log, Op
from viz_core.paging.free_queue import FreeQueue
from viz_core.paging.pool import NULL


class State:
    """Tables (one a group) and token counts of each request; references, hashes and the free queue of the pool.

    `apply` takes one event; an event that contradicts the state (a block taken twice, freed twice …) is a Problem.
    """

    __slots__ = (
        "arrived",
        "computed",
        "free",
        "length",
        "node",
        "queue",
        "ref",
        "size",
        "tables",
        "waiting",
        "windows",
    )

    def __init__(self, config: PoolConfig) -> None:
        self.size, self.windows = config.block_size, config.windows
        order = config.rules.first_order(config.num_blocks)
        self.queue = FreeQueue(config.num_blocks, order)
        self.free = bytearray(config.num_blocks)  # 1 for a block in the queue
        for block in order:
            self.free[block] = 1
        self.ref = array("i", bytes(4 * config.num_blocks))
        self.node = array("q", bytes(8 * config.num_blocks))  # hash chain node of a committed block, 0 for none
        self.tables: dict[str, list[array[int]]] = {}
        self.arrived: dict[str, int] = {}  # prompt tokens of every request seen, in order of arrival
        self.length: dict[str, int] = {}
        self.computed: dict[str, int] = {}
        self.waiting: dict[str, None] = {}  # arrived or preempted, and without a table

    def apply(self, event: Event) -> None:
        """Advance by one event."""
        try:
            sound = self._block_event(event) if Op.ARRIVE < event.op < Op.COMPUTE else self._count_event(event)
        except (IndexError, KeyError, ValueError):
            sound = False
        if not sound:
            raise Problem("paging_log_broken", op=event.op.name.lower(), request=event.request, block=event.block)

    def _block_event(self, event: Event) -> bool:
        """Events about one block; False when it cannot happen in this state."""
        op, block = event.op, event.block
        if op in (Op.TAKE, Op.HIT, Op.SKIP, Op.SHARE):
            return self._gain(op, event.request, block, event.value)
        if op in (Op.HEAD, Op.TAIL):
            if self.ref[block] or self.free[block]:
                return False
            self.free[block] = 1
            (self.queue.push_front if op == Op.HEAD else self.queue.push_back)([block])
        elif op == Op.RELEASE:
            self.ref[block] -= 1
            return self.ref[block] >= 0
        elif op in (Op.EVICT, Op.COMMIT):
            self.node[block] = event.value if op == Op.COMMIT else 0
        elif op == Op.SLIDE:
            table = self.tables[event.request][event.value]
            table[table.index(block)] = NULL
        elif op == Op.COPY:
            table = self.tables[event.request][0]
            table.remove(event.value)
            return table[-1] == block
        return True

    def _gain(self, op: Op, name: str, block: int, group: int) -> bool:
        """A table grows by one entry."""
        if op == Op.TAKE:
            if not len(self.queue) or self.queue.pop(1) != [block]:
                return False
        elif op != Op.SKIP and not self.ref[block]:
            if not self.free[block]:
                return False
            self.queue.remove([block])
        if op != Op.SKIP:
            self.free[block] = 0
            self.ref[block] += 1
        self.tables.setdefault(name, [array("i") for _ in self.windows])[group].append(block)
        return True

    def _count_event(self, event: Event) -> bool:
        """Events that move token counts, end a table or forget every hash."""
        op, name = event.op, event.request
        if op == Op.ARRIVE:
            self.arrived[name] = self.length[name] = event.value
            self.waiting[name] = None
        elif op == Op.SAMPLE:
            self.length[name] = event.value
        elif op == Op.COMPUTE:
            self.computed[name] = event.value
            self.waiting.pop(name, None)
        elif op in (Op.PREEMPT, Op.FINISH):
            self.tables.pop(name, None)
            self.computed.pop(name, None)
            if op == Op.PREEMPT:
                self.waiting[name] = None
            else:
                self.waiting.pop(name, None)
        elif op == Op.RESET:
            self.node = array("q", bytes(8 * len(self.node)))
        return True

    def fill(self) -> dict[int, int]:
        """Positions with K/V in every held block; the last block of a table may be partly filled."""
        filled: dict[int, int] = {}
        for name, tables in self.tables.items():
            tokens = self.computed.get(name, 0)
            for table in tables:
                for at, block in enumerate(table):
                    if block != NULL or self.ref[NULL]:
                        filled[block] = max(filled.get(block, 0), min(self.size, max(0, tokens - at * self.size)))
        return filled


def replay(config: PoolConfig, log: Log) -> Iterator[State]:
    """The state after each step, one after the other (the same object, advanced)."""
    state, at, events = State(config), 0, list(log)
    for step in range(log.num_steps):
        while at < len(events) and events[at].step == step:
            state.apply(events[at])
            at += 1
        yield state


def state_at(config: PoolConfig, log: Log, step: int) -> State:
    """The state after `step`."""
    for at, state in enumerate(replay(config, log)):
        if at == step:
            return state
    raise Problem("paging_step", step=step, steps=log.num_steps)
