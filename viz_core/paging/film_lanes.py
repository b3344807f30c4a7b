"""The lanes of one run in a film: its block tables, its pool, its free queue head to tail."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice

from viz_core.paging.events import Event, Op
from viz_core.paging.holders import Holders
from viz_core.paging.pool import NULL
from viz_core.paging.replay import State as PoolState
from viz_core.paging.run import Recording
from viz_core.trace import MOST_CELLS, Label, State, Text
from viz_core.trace_builder import TraceBuilder

MOST_ROWS = 12  # requests whose tables are drawn
MOST_COLUMNS = 64
MOST_QUEUED = 64  # places of the free queue that are drawn, from its head
# What the player draws beside the queue and the tables of as many groups as there may be.
MOST_BLOCKS = MOST_CELLS - MOST_QUEUED - 8 * MOST_ROWS * MOST_COLUMNS
MANY_STEPS = 2000  # a longer run draws fewer of them: each step that takes or frees a block moves them all
QUEUE_HEAD = 16
Table = tuple[str, int]  # request, group of layers
POOL_PLANES = ("state", "hue", "fill", "ref", "hashed")


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
        self.holders = Holders(recording.config.num_blocks)
        self.owner = [0] * recording.config.num_blocks  # hue of whoever held a block last
        self.looks = [(int(State.FREE), 0, 0, 0, 0)] * recording.config.num_blocks  # what the pool shows
        self.tables: dict[Table, range] = {}
        for group in range(len(recording.config.windows)):
            cells = self._declare_tables(self._table_name(name, group), widths, grid)
            self.tables |= {(request, group): run for request, run in cells.items()}
        ids = [f"P{i}" for i in range(self.usable)]
        keys = list(range(1, self.usable + 1))
        self.pool = builder.lane(
            Text("paging.lane.pool", {"name": name}), self.usable, under=ids, keys=keys, full=self.size
        )
        queued = QUEUE_HEAD if recording.log.num_steps > MANY_STEPS else MOST_QUEUED
        self.queue = builder.lane(Text("paging.lane.queue", {"name": name}), min(self.usable, queued))
        self.waiting = [(-2, False)] * len(self.queue)  # what each place of the queue shows
        self.marked: set[int] = set()  # blocks shown as written in this step
        self.before: set[int] = set()  # and in the one before
        self.drawn: dict[Table, set[int]] = {}  # blocks shown in each table
        self.entries: dict[int, tuple[str, int, int, bool]] = {}  # what each cell of a table shows

    def _table_name(self, name: Label, group: int) -> Text:
        """What a group's tables are called; only a hybrid model has several."""
        windows = self.recording.config.windows
        if len(windows) == 1:
            return Text("paging.lane.tables", {"name": name})
        kind = "tables_window" if windows[group] else "tables_full"
        return Text(f"paging.lane.{kind}", {"name": name, "window": windows[group]})

    def _declare_tables(self, name: Label, widths: dict[str, int], grid: bool) -> dict[str, range]:
        """The cells of each request's table; none where there are too many to read."""
        columns = max(widths.values(), default=0)
        if not columns or len(widths) > MOST_ROWS or columns > MOST_COLUMNS:
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

    def start(self) -> None:
        """Before the first step all blocks are free; called once all lanes are declared."""
        self.builder.set("state", self.pool, State.FREE)

    def show(self, state: PoolState, events: Sequence[Event]) -> None:
        """Set what `events`, which led to `state`, have changed; blocks written in them are marked."""
        written = self._written(state, events)
        changed = written | self.marked | {event.block for event in events if event.block >= self.null}
        if any(event.op == Op.RESET for event in events):
            changed |= set(range(self.recording.config.num_blocks))
        self.marked = written
        self.holders.follow(events)
        self._show_pool(state, changed - {NULL} if self.null else changed)
        self._show_queue(state)
        named, lit = {event.request for event in events}, self.marked | self.before
        for table in self.tables:
            if table[0] in named or self.drawn.get(table, set()) & lit:
                self._show_table(state, table)

    def _written(self, state: PoolState, events: Sequence[Event]) -> set[int]:
        """Blocks that received K/V in these events: taken, copied to, or the last of who computed."""
        self.before = self.marked
        written = {event.block for event in events if event.op in (Op.TAKE, Op.COPY)}
        for event in events:
            if event.op == Op.COMPUTE and event.request in state.tables:
                at = (event.value - 1) // self.size
                written |= {table[at] for table in state.tables[event.request] if at < len(table)}
        return written - {NULL} if self.null else written

    def _show_pool(self, state: PoolState, blocks: Iterable[int]) -> None:
        for block in blocks:
            now, before = self._look(state, block), self.looks[block]
            self.looks[block] = now
            for plane, value, old in zip(POOL_PLANES, now, before, strict=True):
                if value != old:
                    self.builder.set(plane, self.pool[block - self.null], value)

    def _look(self, state: PoolState, block: int) -> tuple[int, int, int, int, int]:
        """A block's POOL_PLANES; a free one that is still hashed keeps the hue of whoever held it last."""
        names, filled = self.holders.of(state, block)
        if names:
            self.owner[block] = self.hues.get(names[-1], 0)
        held, hashed = state.ref[block], int(state.node[block] > 0)
        held_state = State.COMPUTED if block in self.marked else State.HELD
        hue = self.owner[block] if held or hashed else 0
        return int(held_state if held else State.FREE), hue, filled if held else 0, held, hashed

    def _show_queue(self, state: PoolState) -> None:
        put = self.builder.set
        order = list(islice(state.queue, len(self.queue)))
        for at, cell in enumerate(self.queue):
            block = order[at] if at < len(order) else -1
            look = (block, block >= 0 and state.node[block] > 0)
            if look == self.waiting[at]:
                continue
            self.waiting[at] = look
            put("state", cell, State.FREE if block >= 0 else State.EMPTY)
            put("hashed", cell, int(look[1]))
            put("hue", cell, self.owner[block] if look[1] else 0)
            put("key", cell, block - self.null + 1 if block >= 0 else 0)
            self.builder.write(cell, self.label(block) if block >= 0 else "")

    def _show_table(self, state: PoolState, which: Table) -> None:
        request, group = which
        table = state.tables[request][group] if request in state.tables else array("i")
        self.drawn[which] = set(table)
        for at, cell in enumerate(self.tables[which]):
            block = table[at] if at < len(table) else -1
            fill = min(self.size, max(0, state.computed.get(request, 0) - at * self.size))
            self._show_entry(cell, request, at, block, fill)

    def _show_entry(self, cell: int, request: str, at: int, block: int, fill: int) -> None:
        """One logical block: empty, null (left the window) or its physical block with its fill."""
        look = (request, block, fill, block in self.marked)
        if self.entries.get(cell) == look:
            return
        self.entries[cell] = look
        put = self.builder.set
        null = block == NULL and self.null
        shown = block >= 0 and not null
        held = State.COMPUTED if block in self.marked else State.HELD
        put("state", cell, State.EMPTY if block < 0 else State.MASKED if null else held)
        put("hue", cell, self.hues[request] if shown else 0)
        put("fill", cell, fill if shown else 0)
        put("key", cell, block - self.null + 1 if shown else 0)
        put("detail", cell, 0)
        self.builder.write(cell, self.label(block) if shown else "")
        if shown:
            where = {"request": request, "logical": at, "physical": self.label(block)}
            if fill:
                first = at * self.size
                tokens = {"first": first, "last": first + fill - 1, "fill": fill, "size": self.size}
                self.builder.tell(cell, "paging.entry", **where, **tokens)
            else:
                self.builder.tell(cell, "paging.entry_empty", **where)
