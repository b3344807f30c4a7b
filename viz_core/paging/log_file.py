"""The log as JSON lines: a header with the pool's parameters, then one event a line; read back with every field
checked.

Format "paged-trace 1": {"format": "paged-trace", "version": 1, "script": false, "pool": {…}} and then
{"step": 3, "op": "take", "request": "A", "block": 5, "value": 0}; `request`, `block` and `value` are absent where
empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

from viz_core.i18n import Problem
from viz_core.paging.config import PoolConfig
from viz_core.paging.events import Log, Op
from viz_core.paging.run import Recording

FORMAT = {"format": "paged-trace", "version": 1}
MOST_EVENTS = 5_000_000
MOST_STEPS = 1_000_000
ODD = 2**31
NAMED = frozenset(Op) - {Op.EVICT, Op.COMMIT, Op.HEAD, Op.TAIL, Op.RESET, Op.KEEP}  # events that belong to a request
OPS = {op.name.lower(): op for op in Op}


def dump_lines(recording: Recording) -> Iterator[str]:
    """The lines of the file, without line ends."""
    log, header = recording.log, {**FORMAT, "script": recording.scripted, "pool": asdict(recording.config)}
    yield json.dumps(header, separators=(",", ":"))
    for i in range(len(log)):
        event: dict[str, object] = {"step": log.steps[i], "op": Op(log.op[i]).name.lower()}
        if log.request[i] >= 0:
            event["request"] = log.names[log.request[i]]
        if log.block[i] >= 0:
            event["block"] = log.block[i]
        if log.value[i]:
            event["value"] = log.value[i]
        yield json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def load_lines(text: str) -> Recording:
    """The run that a file holds; a Problem names the first line that is wrong."""
    lines = text.splitlines()
    header = _object(lines[0] if lines else "", 1)
    config = _pool(header)
    if len(lines) - 1 > MOST_EVENTS:
        raise Problem("paging_log_long", events=len(lines) - 1, most=MOST_EVENTS)
    log, numbers = Log(), dict[str, int]()
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            _read_event(log, numbers, config, _object(line, number), number)
    if Op.ARRIVE not in log.op:
        raise Problem("paging_log_empty")
    return Recording(config, log, header.get("script") is True)


def has_header(text: str) -> bool:
    """Whether a file begins with the header of a log."""
    first = text.lstrip().partition("\n")[0]
    try:
        header = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and header.get("format") == FORMAT["format"]


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Problem("paging_log_json", line=number) from error
    if not isinstance(value, dict):
        raise Problem("paging_log_json", line=number)
    return value


def _pool(header: dict[str, Any]) -> PoolConfig:
    pool = header.get("pool")
    known = {field.name for field in fields(PoolConfig)}
    if (
        any(header.get(key) != value for key, value in FORMAT.items())
        or not isinstance(pool, dict)
        or set(pool) - known
    ):
        raise Problem("paging_log_header")
    windows = pool.get("windows", [0])
    if not isinstance(windows, list) or "num_blocks" not in pool:
        raise Problem("paging_log_header")
    return PoolConfig(**{**pool, "windows": tuple(windows)})


def _read_event(log: Log, numbers: dict[str, int], config: PoolConfig, event: dict[str, Any], number: int) -> None:
    """Append one event after checking its fields against the pool and the step before."""
    if event.get("op") not in OPS or set(event) - {"step", "op", "request", "block", "value"}:
        raise Problem("paging_log_op", line=number, known=", ".join(OPS))
    name = event.get("request", "")
    step, block, value = (_int(event.get(key, unset)) for key, unset in (("step", None), ("block", -1), ("value", 0)))
    sound = isinstance(name, str) and name.isprintable() and value != ODD
    if not sound or block >= config.num_blocks or not log.step <= step < MOST_STEPS:
        raise Problem("paging_log_fields", line=number)
    op = OPS[event["op"]]
    if (Op.ARRIVE < op < Op.COMPUTE and block < 0) or (op in NAMED and not name):
        raise Problem("paging_log_fields", line=number)
    if name and op != Op.ARRIVE and name not in numbers:
        raise Problem("paging_log_stranger", line=number, name=name)
    log.step = step
    if name and name not in numbers:
        numbers[name] = log.name(name)
    log.add(op, numbers[name] if name else -1, block, value)


def _int(value: object) -> int:
    """`value` where it is an int that the columns hold, `ODD` otherwise."""
    return value if type(value) is int and -1 <= value < ODD else ODD
