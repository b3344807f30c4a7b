"""The lanes of one run in a film: its block tables, its pool, its free queue head to tail."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.paging.events import Event, Op
from viz_core.paging.pool import NULL
from viz_core.paging.replay import State as PoolState
from viz_core.paging.run import Recording
from viz_core.trace import Label, State, Text
from viz_core.trace_builder import TraceBuilder

MOST_ROWS = 12  # requests whose tables are drawn
MOST_COLUMNS = 64


def widest_table(recording: Recording) -> int:
    """The most entries any table ever has."""
    size, most = recording.config.block_size, 1
    for event in recording.log:
        if event.op == Op.COMPUTE:
            most = max(most, -(-event.value // size))
    return most


class RunLanes:
    """Declares the lanes of a run and, step after step, sets what changed in them."""

    def __init__(self, builder: TraceBuilder, name: Label, recording: Recording, names: Sequence[str]) -> None:
        self.builder, self.recording = builder, recording
        self.null = int(recording.config.rules.null_block)
        self.usable, self.size = recording.config.usable, recording.config.block_size
        self.hues = {request: i for i, request in enumerate(names, 1)}
        self.owner = [0] * recording.config.num_blocks  # hue of whoever held a block last
        self.columns = widest_table(recording)
        self.tables = range(0)
        if len(names) <= MOST_ROWS and self.columns <= MOST_COLUMNS:
            self.tables = builder.lane(
                Text("paging.lane.tables", {"name": name}), len(names) * self.columns,
                columns=self.columns, full=self.size, row_names=list(names),
                column_names=[f"L{i}" for i in range(self.columns)],
            )  # fmt: skip
        ids = [f"P{i}" for i in range(self.usable)]
        keys = list(range(1, self.usable + 1))
        self.pool = builder.lane(
            Text("paging.lane.pool", {"name": name}), self.usable, under=ids, keys=keys, full=self.size
        )
        self.queue = builder.lane(Text("paging.lane.queue", {"name": name}), self.usable)

    def label(self, block: int) -> str:
        """A block's name: usable blocks are counted from P0 under every policy."""
        return f"P{block - self.null}"

    def show(self, state: PoolState, events: Sequence[Event]) -> None:
        """Set all cells to `state`; blocks written in `events` are marked as computed now."""
        written = self._written(state, events)
        fill = state.fill()
        for request, tables in state.tables.items():
            for table in tables:
                for block in table:
                    if block != NULL or not self.null:
                        self.owner[block] = self.hues.get(request, 0)
        self._show_pool(state, fill, written)
        self._show_queue(state)
        if self.tables:
            self._show_tables(state, fill, written)

    def _written(self, state: PoolState, events: Sequence[Event]) -> set[int]:
        """Blocks that received K/V in these events: taken, copied to, or the last of who computed."""
        written = {event.block for event in events if event.op in (Op.TAKE, Op.COPY)}
        for event in events:
            if event.op == Op.COMPUTE and event.request in state.tables:
                at = (event.value - 1) // self.size
                written |= {table[at] for table in state.tables[event.request] if at < len(table)}
        return written

    def _show_pool(self, state: PoolState, fill: dict[int, int], written: set[int]) -> None:
        put = self.builder.set
        for cell, block in enumerate(range(self.null, self.usable + self.null), self.pool.start):
            held = state.ref[block] > 0
            hashed = int(state.node[block] > 0)
            put("state", cell, (State.COMPUTED if block in written else State.HELD) if held else State.FREE)
            put("hue", cell, self.owner[block] if held or hashed else 0)
            put("fill", cell, fill.get(block, 0) if held else 0)
            put("ref", cell, state.ref[block])
            put("hashed", cell, hashed)

    def _show_queue(self, state: PoolState) -> None:
        put, order = self.builder.set, state.queue.order()
        for at, cell in enumerate(self.queue):
            block = order[at] if at < len(order) else -1
            put("state", cell, State.FREE if block >= 0 else State.EMPTY)
            put("hashed", cell, int(block >= 0 and state.node[block] > 0))
            put("hue", cell, self.owner[block] if block >= 0 and state.node[block] else 0)
            put("key", cell, block - self.null + 1 if block >= 0 else 0)
            self.builder.write(cell, self.label(block) if block >= 0 else "")

    def _show_tables(self, state: PoolState, fill: dict[int, int], written: set[int]) -> None:
        for request, hue in self.hues.items():
            table = state.tables[request][0] if request in state.tables else ()
            first = self.tables.start + (hue - 1) * self.columns
            for at in range(self.columns):
                self._show_entry(first + at, request, hue, at, table[at] if at < len(table) else -1, fill, written)

    def _show_entry(
        self, cell: int, request: str, hue: int, at: int, block: int, fill: dict[int, int], written: set[int]
    ) -> None:
        """One logical block: empty, null (left the window) or its physical block with its fill."""
        put = self.builder.set
        null = block == NULL and self.null
        shown = block >= 0 and not null
        put("state", cell, State.EMPTY if block < 0 else State.MASKED if null else
            State.COMPUTED if block in written else State.HELD)  # fmt: skip
        put("hue", cell, hue if shown else 0)
        put("fill", cell, fill.get(block, 0) if shown else 0)
        put("key", cell, block - self.null + 1 if shown else 0)
        self.builder.write(cell, self.label(block) if shown else "")
        put("detail", cell, 0)
        if shown:
            first = at * self.size
            self.builder.tell(cell, "paging.entry", request=request, logical=at, physical=self.label(block),
                              first=first, last=first + self.size - 1, fill=fill.get(block, 0), size=self.size)  # fmt: skip
