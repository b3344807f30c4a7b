"""Public serving traces as requests: Mooncake's JSON lines, and CSV files of lengths (Azure, vidur).

Mooncake (kvcache-ai/Mooncake, FAST25-release/traces): {"timestamp" ms, "input_length", "output_length", "hash_ids"},
one id a block of 512 tokens, the last one possibly partial. Azure (Azure/AzurePublicDataset, 2023): TIMESTAMP,
ContextTokens, GeneratedTokens. vidur (microsoft/vidur): num_prefill_tokens, num_decode_tokens, no times. Left out:
what was said.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from viz_core.i18n import Problem
from viz_core.paging.config import PoolConfig, SchedulerConfig
from viz_core.paging.manager import BlockManager
from viz_core.paging.request import Request
from viz_core.paging.scenario import Ask, Prompt, Scenario

HASHED_TOKENS = 512  # tokens that one of Mooncake's ids stands for
MOST_ROWS = 100_000
MOST_LENGTH = 10_000_000
COLUMNS = {
    "ContextTokens": ("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    "num_prefill_tokens": (None, "num_prefill_tokens", "num_decode_tokens"),
}


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request of a trace: time in ms since the first, prompt and output tokens, block ids where published."""

    ms: float
    prompt: int
    output: int
    ids: tuple[int, ...] = ()


def load_trace(text: str) -> list[Arrival]:
    """The requests of a trace in any of the known forms; a Problem names the first line that is wrong."""
    first = text.lstrip()[:1]
    rows = list(_mooncake(text) if first == "{" else _lengths(text))
    if not rows:
        raise Problem("paging_trace_form")
    return rows


def _count(value: object, line: int) -> int:
    """A number of tokens."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_LENGTH:
        raise Problem("paging_trace_line", line=line)
    return value


def _mooncake(text: str) -> Iterator[Arrival]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if number > MOST_ROWS:
            raise Problem("paging_trace_long", most=MOST_ROWS)
        try:
            row = json.loads(line)
            ids, time = tuple(_count(i, number) for i in row["hash_ids"]), float(row["timestamp"])
            prompt, output = _count(row["input_length"], number), _count(row["output_length"], number)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise error if isinstance(error, Problem) else Problem("paging_trace_line", line=number) from error
        if len(ids) != -(-prompt // HASHED_TOKENS) or not 0 <= time < 1e15 or not prompt:
            raise Problem("paging_trace_line", line=number)
        yield Arrival(time, prompt, output, ids)


def _lengths(text: str) -> Iterator[Arrival]:
    reader = csv.DictReader(io.StringIO(text))
    columns = next((c for name, c in COLUMNS.items() if name in (reader.fieldnames or ())), None)
    if columns is None:
        raise Problem("paging_trace_form")
    time, prompt, output = columns
    start: datetime | None = None
    for number, row in enumerate(reader, 2):
        if number > MOST_ROWS:
            raise Problem("paging_trace_long", most=MOST_ROWS)
        try:
            now = datetime.fromisoformat(row[time][:26]) if time else None
            sizes = [_count(int(float(row[name])), number) for name in (prompt, output)]
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise error if isinstance(error, Problem) else Problem("paging_trace_line", line=number) from error
        start = start or now
        yield Arrival((now - start).total_seconds() * 1e3 if now and start else 0.0, max(sizes[0], 1), sizes[1])


def infinite_hit_rate(arrivals: Sequence[Arrival], block_size: int = HASHED_TOKENS) -> float:
    """Share of prompt tokens that a cache without a limit would have found, in order of arrival."""
    known: set[tuple[int, int]] = set()
    hits = total = 0
    for arrival in arrivals:
        parent = -1
        usable = (arrival.prompt - 1) // block_size
        seen = True
        for at, number in enumerate(arrival.ids):
            seen = seen and at < usable and (parent, number) in known
            hits += block_size * seen
            known.add((parent, number))
            parent = number
        total += arrival.prompt
    return hits / total if total else 0.0


def replay_hits(arrivals: Sequence[Arrival], blocks: int, block_size: int = HASHED_TOKENS) -> float:
    """Share of prompt tokens that a pool of `blocks` blocks finds, one request after the other (vLLM 0.33's policy)."""
    manager, hits, total = BlockManager(PoolConfig(blocks + 1, block_size)), 0, 0
    for number, arrival in enumerate(arrivals):
        request = Request(f"r{number}", length=arrival.prompt, given=arrival.ids)
        hit = manager.lookup(request)
        if manager.allocate(request, request.length - hit.tokens, hit):
            manager.free(request)
        hits, total = hits + hit.tokens, total + arrival.prompt
    return hits / total if total else 0.0


def to_scenario(arrivals: Sequence[Arrival], blocks: int, block_size: int, step_ms: float, scale: int = 1) -> Scenario:
    """The first requests of a trace for the scheduler, one step every `step_ms`; lengths divided by `scale`.

    Equal block ids become equal segments, so shared prefixes stay shared.
    """
    asks = []
    for number, arrival in enumerate(arrivals):
        name = f"r{number}"
        left, segments = max(1, arrival.prompt // scale), []
        for i in arrival.ids or (None,):
            tokens = left if i is None else min(left, max(1, HASHED_TOKENS // scale))
            segments.append((name if i is None else f"#{i}", tokens))
            left -= tokens
            if not left:
                break
        at = int(arrival.ms / step_ms) if step_ms > 0 else 0
        asks.append(Ask(name, Prompt(tuple(segments)), max(1, arrival.output // scale), at))
    return Scenario(blocks, block_size, requests=tuple(asks), scheduler=SchedulerConfig(max_num_seqs=256)).check()
