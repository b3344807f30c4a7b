"""A server's KV events as a Trace: which prefix block was resident when, each chain of blocks in the hue of its root.

The events carry no block ids and no requests, so neither tables nor a queue can be drawn.
"""

from __future__ import annotations

from collections.abc import Mapping

from viz_core.i18n import Problem
from viz_core.paging.kv_events import Resident
from viz_core.trace import MOST_CELLS, Label, State, Text, Trace
from viz_core.trace_builder import TraceBuilder

FIRST_TOKENS = 8  # token ids that a hover names
RESIDENT = "paging.series.resident"


def times(blocks: Mapping[str, Resident]) -> list[float]:
    """Every time at which a block comes or goes, ascending."""
    return sorted({time for block in blocks.values() for span in block.spans for time in span if time is not None})


def roots(blocks: Mapping[str, Resident]) -> dict[str, str]:
    """The first block of every block's chain, as far as the events name it."""
    found: dict[str, str] = {}
    for name, block in blocks.items():
        above = block.parent
        found[name] = found.get(above, above) if above is not None else name
    return found


def residency_film(blocks: Mapping[str, Resident], title: Label) -> Trace:
    """One step a time at which something comes or goes."""
    if not blocks or len(blocks) > MOST_CELLS:
        raise Problem("paging_events_count", count=len(blocks), most=MOST_CELLS)
    builder = TraceBuilder(title, settle=State.HELD)
    numbers: dict[str, int] = {}
    hues = {name: numbers.setdefault(root, len(numbers) + 1) for name, root in roots(blocks).items()}
    cells = dict(zip(blocks, builder.lane(Text("paging.lane.resident"), len(blocks), history=True), strict=True))
    builder.series(RESIDENT)
    builder.word(State.COMPUTED, Text("paging.word.stored"))
    comes: dict[float, list[str]] = {}
    goes: dict[float, list[str]] = {}
    for name, block in blocks.items():
        for begin, end in block.spans:
            comes.setdefault(begin, []).append(name)
            if end is not None:
                goes.setdefault(end, []).append(name)
    resident, start = 0, times(blocks)[0]
    for time in times(blocks):
        stored, gone = comes.get(time, []), goes.get(time, [])
        resident += len(stored) - len(gone)
        builder.set("state", [cells[name] for name in gone], State.EVICTED)
        builder.set("state", [cells[name] for name in stored], State.COMPUTED)
        for name in stored:
            builder.set("hue", cells[name], hues[name])
            _tell(builder, cells[name], blocks[name])
        builder.value(RESIDENT, resident)
        for kind, here in (("evict", gone), ("store", stored)):
            if here:
                builder.event(f"paging.moment.{kind}")
        builder.step(
            "paging.caption.resident", time=f"{time - start:.3f}", stored=len(stored), gone=len(gone), left=resident
        )
    return builder.build()


def _tell(builder: TraceBuilder, cell: int, block: Resident) -> None:
    """Hash, parent and first tokens of a block."""
    tokens = " ".join(map(str, block.tokens[:FIRST_TOKENS])) + (" …" if len(block.tokens) > FIRST_TOKENS else "")
    builder.tell(cell, "paging.resident", hash=block.hash[:12], parent=(block.parent or "–")[:12], tokens=tokens)
