"""The lanes of one run in a film: its block tables, its pool, its free queue head to tail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from viz_core.paging.events import Event, Op
from viz_core.paging.pool import NULL
from viz_core.paging.replay import State as PoolState
from viz_core.paging.run import Recording
from viz_core.trace import Label, State, Text
from viz_core.trace_builder import TraceBuilder

MOST_ROWS = 12  # requests whose tables are drawn
MOST_COLUMNS = 64


def widest_tables(recordings: Iterable[Recording]) -> dict[str, int]:
    """The most table entries that each request ever has, in order of arrival."""
    most: dict[str, int] = {}
    for recording in recordings:
        for event in recording.log:
            if event.op in (Op.ARRIVE, Op.COMPUTE):
                blocks = -(-event.value // recording.config.block_size)
                most[event.request] = max(most.get(event.request, 1), blocks)
    return most


class RunLanes:
    """Declares the lanes of a run and, step after step, sets what changed in them.

    `widths`: table entries to draw for each request; as a `grid` with a row a request, or all in one line.
    """

    def __init__(
        self, builder: TraceBuilder, name: Label, recording: Recording, widths: dict[str, int], grid: bool
    ) -> None:
        self.builder, self.recording = builder, recording
        self.null = int(recording.config.rules.null_block)
        self.usable, self.size = recording.config.usable, recording.config.block_size
        self.hues = {request: i for i, request in enumerate(widths, 1)}
        self.owner = [0] * recording.config.num_blocks  # hue of whoever held a block last
        self.tables = self._declare_tables(Text("paging.lane.tables", {"name": name}), widths, grid)
        ids = [f"P{i}" for i in range(self.usable)]
        keys = list(range(1, self.usable + 1))
        self.pool = builder.lane(
            Text("paging.lane.pool", {"name": name}), self.usable, under=ids, keys=keys, full=self.size
        )
        self.queue = builder.lane(Text("paging.lane.queue", {"name": name}), self.usable)

    def _declare_tables(self, name: Label, widths: dict[str, int], grid: bool) -> dict[str, range]:
        """The cells of each request's table; none where there are too many to read."""
        columns = max(widths.values())
        if len(widths) > MOST_ROWS or columns > MOST_COLUMNS:
            return {}
        if grid:
            logical = [f"L{i}" for i in range(columns)]
            cells = self.builder.lane(name, len(widths) * columns, columns=columns, full=self.size,
                                      row_names=list(widths), column_names=logical)  # fmt: skip
            return {request: cells[i * columns : (i + 1) * columns] for i, request in enumerate(widths)}
        under = [f"{request}{i}" for request, width in widths.items() for i in range(width)]
        cells = self.builder.lane(name, len(under), under=under, full=self.size)
        starts = dict(zip(widths, accumulate(widths.values(), initial=0), strict=False))
        return {request: cells[starts[request] : starts[request] + width] for request, width in widths.items()}

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
        for request, cells in self.tables.items():
            table = state.tables[request][0] if request in state.tables else ()
            for at, cell in enumerate(cells):
                block = table[at] if at < len(table) else -1
                self._show_entry(cell, request, self.hues[request], at, block, fill, written)

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
            self.builder.tell(
                cell, "paging.entry", request=request, logical=at, physical=self.label(block),
                first=first, last=first + self.size - 1, fill=fill.get(block, 0), size=self.size,
            )  # fmt: skip
