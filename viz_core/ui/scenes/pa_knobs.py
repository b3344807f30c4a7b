"""The knobs of a scenario as controls: each reads and writes one field of its JSON text, which alone holds the values.

The knobs have vLLM's names. A value is checked where the text is read, so a bad one gets the same sentence as if typed.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from viz_core.paging.config import SchedulerConfig
from viz_core.paging.policies import POLICIES
from viz_core.paging.presets import PRESETS
from viz_core.paging.scenario import Scenario
from viz_core.paging.scenario_file import to_json
from viz_core.ui.params import Amount, Choice, Line, Part, Switch

KINDS: dict[type, type | tuple[type, ...]] = {Choice: str, Switch: bool, Amount: (int, float)}
MOST = 2**53 - 1  # the largest whole number that a browser keeps exactly
DEFAULTS = {f.name: f.default for kind in (Scenario, SchedulerConfig) for f in fields(kind)}
CHANGED = "changed"


def spread(text: str) -> str:
    """A scenario's JSON with one operation or request a line."""
    data = json.loads(text)
    lines = []
    for key, value in data.items():
        rows = value if key in ("script", "requests") and isinstance(value, list) else None
        inner = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows) if rows else ""
        lines.append(f'"{key}": [\n  {inner}]' if rows else f'"{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{" + ",\n ".join(lines) + "}"


def parsed(text: str) -> dict[str, Any] | None:
    """The object that the text holds, if it holds one."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def holder(data: dict[str, Any], inside: bool) -> dict[str, Any] | None:
    """The object that has the field: the scenario, or its scheduler, which only requests go through."""
    if not inside:
        return data
    knobs = data.get("scheduler", {}) if data.get("requests") else None
    return knobs if isinstance(knobs, dict) else None


def knob(control: Choice | Switch | Amount, line: Line, inside: bool = False) -> Part:
    """The field that the control is named after, of the scenario or `inside` of its scheduler."""
    name = control.name.removeprefix("scheduler_")

    def read(text: str) -> Any:
        data = parsed(text)
        where = None if data is None else holder(data, inside)
        return None if where is None else shown(control, where.get(name, control.default))

    def write(text: str, value: Any) -> str:
        data = parsed(text)
        where = None if data is None else holder(data, inside)
        if data is None or where is None:
            return text
        where.pop(name, None) if value == DEFAULTS[name] or value is None else where.update({name: value})
        data |= {"scheduler": where} if inside and where else {}
        return spread(json.dumps({k: v for k, v in data.items() if k != "scheduler" or v}, ensure_ascii=False))

    return Part(control, line, read, write)


def shown(control: Choice | Switch | Amount, value: object) -> Any:
    """The value as the control shows it; None when it is of another kind, which only the text can repair."""
    if not isinstance(value, KINDS[type(control)]) or (isinstance(control, Amount) and isinstance(value, bool)):
        return None
    if isinstance(control, Choice):
        return value if value in control.options else None
    if isinstance(control, Amount):
        assert isinstance(value, int | float)
        fits = abs(value) <= MOST and (isinstance(control.step, float) or isinstance(value, int))
        return type(control.step)(value) if fits else None
    return value


def starting(line: Line) -> Part:
    """A ready scenario to begin with, written into the text as a whole."""
    texts = {name: spread(to_json(scenario)) for name, scenario in PRESETS.items()}
    names = {text: name for name, text in texts.items()}
    control = Choice("start_from", (CHANGED, *texts), CHANGED, listed=True)
    return Part(control, line, lambda text: names.get(text, CHANGED), lambda text, name: texts.get(name, text))


def knobs(line: Line) -> tuple[Part, ...]:
    """All controls of the scenario in `line`."""
    pool = (
        Amount("blocks", 1),
        Amount("block_size", 1),
        Choice("policy", tuple(POLICIES), Scenario(1, 1).policy, listed=True),
        Switch("caching", True),
        Amount("watermark", 0.0, 0.01),
    )
    usual = SchedulerConfig()
    scheduler = (
        Amount("max_num_batched_tokens", usual.max_num_batched_tokens),
        Amount("max_num_seqs", usual.max_num_seqs),
        Choice("scheduler_order", ("fcfs", "priority"), usual.order),
        Switch("enable_chunked_prefill", usual.enable_chunked_prefill),
        Amount("long_prefill_token_threshold", usual.long_prefill_token_threshold),
    )
    return (
        starting(line),
        *(knob(control, line) for control in pool),
        *(knob(control, line, inside=True) for control in scheduler),
    )
