"""The log of a run: events (step, op, request, block, value) in flat int columns.

The log is the run: replaying it rebuilds every state (`replay.py`), so an animation frame is a slice of events and
never a snapshot. Ops name what happened to one block of one request; `value` carries the count or the other block
where an op has one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum


class Op(IntEnum):
    """What happened; the comment says what `block` and `value` hold."""

    ARRIVE = 0  # value: prompt tokens
    TAKE = 1  # block: taken off the head of the free queue, appended to the table of group `value`
    HIT = 2  # block: found by its prefix, appended to the table of group `value`
    SKIP = 3  # a null entry appended to the table of group `value`
    EVICT = 4  # block: loses its hash (node `value`) because it is about to be reused
    COMMIT = 5  # block: full, now findable by its prefix; value: the hash chain's node
    COPY = 6  # block: the private copy that replaces the last entry; value: the shared block it copies
    SHARE = 7  # block: also in this forked request's table
    RELEASE = 8  # block: one reference less
    HEAD = 9  # block: joins the free queue at the head
    TAIL = 10  # block: joins the free queue at the tail
    SLIDE = 11  # block: left the window; its table entry of group `value` becomes null
    COMPUTE = 12  # value: tokens whose K/V are in the table from now on
    SAMPLE = 13  # value: tokens the request has now
    REFUSE = 14  # value: blocks that were missing
    PREEMPT = 15  # value: computed tokens given up
    FINISH = 16  # value: computed tokens at the end
    RESET = 17  # every hash forgotten
    WAIT = 18  # an operation that nothing came of, because its request waits for blocks; value: a Hindered
    KEEP = 19  # a reset that was refused; value: blocks held


OPS = tuple(Op)


class Hindered(IntEnum):
    """What a request could not do while it waited for blocks."""

    DECODE = 0
    PREEMPT = 1


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `request` is a name, "" where the event belongs to none."""

    step: int
    op: Op
    request: str
    block: int
    value: int


class Log:
    """Append-only events in five int columns; `step` is stamped on what is added next."""

    __slots__ = ("_read", "block", "names", "op", "request", "step", "steps", "value")

    def __init__(self) -> None:
        self.step = 0
        self.names: list[str] = []
        self._read: list[Event] = []  # events made so far: they are read more often than written
        self.steps, self.op, self.request, self.block, self.value = (array("i") for _ in range(5))

    def __len__(self) -> int:
        return len(self.op)

    def name(self, request: str) -> int:
        """The number under which events name `request`; a name that comes back gets a new one."""
        self.names.append(request)
        return len(self.names) - 1

    def add(self, op: Op, request: int = -1, block: int = -1, value: int = 0) -> None:
        """Append one event at the present step."""
        self.steps.append(self.step)
        self.op.append(op)
        self.request.append(request)
        self.block.append(block)
        self.value.append(value)

    def add_blocks(self, op: Op, request: int, blocks: Iterable[int], value: int = 0) -> None:
        """One event for each of `blocks`, in this order."""
        for block in blocks:
            self.add(op, request, block, value)

    def __getitem__(self, at: int) -> Event:
        return self._all()[at]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._all())

    def _all(self) -> list[Event]:
        """Every event as an object, made once."""
        for at in range(len(self._read), len(self)):
            who = self.request[at]
            name = self.names[who] if who >= 0 else ""
            self._read.append(Event(self.steps[at], OPS[self.op[at]], name, self.block[at], self.value[at]))
        return self._read

    @property
    def num_steps(self) -> int:
        """Steps that events are stamped with: the last one + 1, 0 for an empty log."""
        return self.steps[-1] + 1 if self.steps else 0
