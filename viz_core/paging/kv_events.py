"""A server's KV events as what they can show: which prefix was resident when. They carry no block ids and no requests.

vLLM 0.33.0 `KVEventBatch` (distributed/kv_events.py): [timestamp, [events], data-parallel rank], an event a map with
"type"; as MessagePack, one batch after the other, or as JSON lines. Every BlockRemoved counts one physical copy, so
a hash is resident while copies are left. Left out: the ZMQ transport, media other than the event's own count.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from viz_core.i18n import Problem
from viz_core.paging.msgpack import Unpacker

FIELDS = ("block_hashes", "parent_block_hash", "token_ids", "block_size")  # of events sent as arrays, in this order
MOST_EVENTS = 1_000_000


@dataclass(slots=True)
class Resident:
    """One prefix block: its parent's hash, its tokens, and [from, to) times at which a copy was there (None: still)."""

    hash: str
    parent: str | None
    tokens: tuple[int, ...]
    spans: list[tuple[float, float | None]] = field(default_factory=list)
    copies: int = 0


def batches(data: bytes) -> Iterator[list[Any]]:
    """The batches of a file: MessagePack, or JSON lines (which start with a bracket)."""
    if data.lstrip()[:1] == b"[":
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise Problem("paging_events_line", line=number) from error
        return
    reader = Unpacker(data)
    while not reader.done():
        yield reader.value()


def residency(data: bytes) -> dict[str, Resident]:
    """Every block hash seen, in order of its first appearance."""
    blocks: dict[str, Resident] = {}
    count = 0
    for number, batch in enumerate(batches(data), 1):
        shaped = isinstance(batch, list) and len(batch) >= 2 and isinstance(batch[0], int | float)
        if not shaped or not isinstance(batch[1], list):
            raise Problem("paging_events_line", line=number)
        count += len(batch[1])
        if count > MOST_EVENTS:
            raise Problem("paging_log_long", events=count, most=MOST_EVENTS)
        for event in batch[1]:
            _apply(blocks, float(batch[0]), _named(event, number), number)
    return blocks


def _named(event: Any, number: int) -> dict[str, Any]:
    """An event as a map; older servers sent arrays [type, …]."""
    if isinstance(event, list) and event and isinstance(event[0], str):
        return {"type": event[0], **dict(zip(FIELDS, event[1:], strict=False))}
    if isinstance(event, dict) and isinstance(event.get("type"), str):
        return event
    raise Problem("paging_events_line", line=number)


def _apply(blocks: dict[str, Resident], time: float, event: dict[str, Any], number: int) -> None:
    if event["type"] == "AllBlocksCleared":
        for block in blocks.values():
            _leave(block, time, block.copies)
        return
    hashes = event.get("block_hashes")
    if event["type"] not in ("BlockStored", "BlockRemoved") or not isinstance(hashes, list):
        raise Problem("paging_events_line", line=number)
    group = event.get("group_idx") or 0
    names = [_name(h, group) for h in hashes]
    if event["type"] == "BlockRemoved":
        for name in names:
            if name in blocks:
                _leave(blocks[name], time, 1)
        return
    tokens, size = event.get("token_ids") or [], event.get("block_size")
    if not isinstance(tokens, list) or not isinstance(size, int) or size < 1:
        raise Problem("paging_events_line", line=number)
    parent = event.get("parent_block_hash")
    above = None if parent is None else _name(parent, group)
    for at, name in enumerate(names):
        block = blocks.setdefault(name, Resident(name, above, tuple(tokens[at * size : (at + 1) * size])))
        block.copies += 1
        if block.copies == 1:
            block.spans.append((time, None))
        above = name


def _leave(block: Resident, time: float, copies: int) -> None:
    """Some copies go; with the last one the span ends."""
    if block.copies and copies:
        block.copies = max(0, block.copies - copies)
        if not block.copies:
            block.spans[-1] = (block.spans[-1][0], time)


def _name(raw: Any, group: Any) -> str:
    text = raw.hex() if isinstance(raw, bytes) else format(raw, "016x") if isinstance(raw, int) else str(raw)
    return f"{text}/g{group}" if group else text
