"""A scenario as a small JSON text, and back with every field checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from viz_core.i18n import Problem
from viz_core.paging.config import SchedulerConfig, whole, written
from viz_core.paging.film_lanes import MOST_BLOCKS
from viz_core.paging.scenario import (
    MOST_NAMES,
    MOST_STEPS,
    MOST_TOKENS,
    OPS,
    SEGMENT_TOKENS,
    Act,
    Ask,
    Prompt,
    Scenario,
)

MOST_CHARACTERS = 2_000_000
PLAIN = Scenario(1, 1)


def to_json(scenario: Scenario) -> str:
    """The shortest JSON that `from_json` reads back to an equal scenario: defaults are left out."""
    out: dict[str, object] = {"version": 1, "blocks": scenario.blocks, "block_size": scenario.block_size}
    for name in ("policy", "caching", "windows", "watermark"):
        if getattr(scenario, name) != getattr(PLAIN, name):
            out[name] = getattr(scenario, name)
    knobs = {k: v for k, v in asdict(scenario.scheduler).items() if v != getattr(SchedulerConfig(), k)}
    if knobs:
        out["scheduler"] = knobs
    if scenario.script:
        out["script"] = [_act_out(act) for act in scenario.script]
    if scenario.requests:
        out["requests"] = [_ask_out(ask) for ask in scenario.requests]
    return json.dumps(out, ensure_ascii=False, separators=(",", ":"))


def _prompt_out(name: str, prompt: Prompt) -> object:
    if prompt.ids:
        return {"ids": list(prompt.ids)}
    own = len(prompt.segments) == 1 and prompt.segments[0][0] == name
    return prompt.segments[0][1] if own else [list(segment) for segment in prompt.segments]


def _act_out(act: Act) -> dict[str, object]:
    out: dict[str, object] = {"op": act.op}
    if act.request:
        out["request"] = act.request
    if act.op == "add":
        out["prompt"] = _prompt_out(act.request, act.prompt)
    if act.op == "decode":
        out["tokens"] = act.count
    if act.op == "fork":
        out["parent"] = act.parent
    return out


def _ask_out(ask: Ask) -> dict[str, object]:
    prompt = _prompt_out(ask.request, ask.prompt)
    out: dict[str, object] = {"request": ask.request, "prompt": prompt, "output": ask.output}
    return out | {key: getattr(ask, key) for key in ("at", "priority") if getattr(ask, key)}


def from_json(text: str, workbench: Sequence[int] = ()) -> Scenario:
    """The scenario of a JSON text; a Problem says which field is wrong and what to write instead.

    A prompt written "workbench" stands for the token ids given here.
    """
    if len(text) > MOST_CHARACTERS:
        raise Problem("paging_scenario_long", most=MOST_CHARACTERS)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise Problem("paging_scenario_json", line=error.lineno, column=error.colno) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or brackets without end
        raise Problem("paging_scenario_json", line=1, column=1) from error
    return _scenario(_filled(data, workbench)).check()


def _filled(data: Any, workbench: Sequence[int]) -> Any:
    """`data` with the workbench's prompt put in where it is named."""
    if not isinstance(data, dict) or not workbench:
        return data
    ids = {"ids": list(workbench)}
    return {
        key: [
            row | {"prompt": ids} if isinstance(row, dict) and row.get("prompt") == "workbench" else row for row in rows
        ]
        if key in ("script", "requests") and isinstance(rows, list)
        else rows
        for key, rows in data.items()
    }


def _object(value: object, where: str, known: set[str], needed: set[str]) -> dict[str, Any]:
    """`value` as an object with known fields only and all needed ones."""
    if not isinstance(value, dict):
        raise Problem("paging_scenario_type", field=where, wanted="{ }")
    unknown, missing = sorted(set(value) - known), sorted(needed - set(value))
    if unknown or missing:
        what = ", ".join(unknown or missing)[:60]
        key = "paging_scenario_unknown" if unknown else "paging_scenario_missing"
        raise Problem(key, where=where, fields=what, known=", ".join(sorted(known)))
    return value


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise Problem("paging_scenario_type", field=where, wanted="[ ]")
    most = MOST_NAMES if where == "requests" else MOST_STEPS
    if len(value) > most:
        raise Problem("paging_scenario_many", field=where, count=len(value), most=most)
    return value


def _name(value: object, where: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 60 or not value.isprintable() or value.isspace():
        raise Problem("paging_scenario_name", field=where)
    return value


def _scenario(data: object) -> Scenario:
    known = {field.name for field in fields(Scenario)} | {"version"}
    data = _object(data, "scenario", known, {"blocks", "block_size"})
    if data.get("version", 1) != 1:
        raise Problem("paging_scenario_version", version=written(data["version"]))
    caching = data.get("caching", True)
    if not isinstance(caching, bool):
        raise Problem("paging_scenario_type", field="caching", wanted="true / false")
    requests = tuple(_ask(ask) for ask in _list(data.get("requests", []), "requests"))
    return Scenario(
        whole("blocks", data["blocks"], 1, MOST_BLOCKS),
        whole("block_size", data["block_size"], 1, 4096),
        _name(data.get("policy", PLAIN.policy), "policy"),
        caching,
        tuple(whole("windows", w, 0, MOST_TOKENS) for w in _list(data.get("windows", [0]), "windows")),
        data.get("watermark", 0.0),
        tuple(_act(act) for act in _list(data.get("script", []), "script")),
        requests,
        _knobs(data.get("scheduler", {})),
    )


def _knobs(value: object) -> SchedulerConfig:
    knobs = _object(value, "scheduler", {field.name for field in fields(SchedulerConfig)}, set())
    for name in ("enable_chunked_prefill", "reserve_full_isl"):
        if not isinstance(knobs.get(name, True), bool):
            raise Problem("paging_scenario_type", field=name, wanted="true / false")
    return SchedulerConfig(**knobs)


def _act(value: object) -> Act:
    act = _object(value, "script", {"op", "request", "prompt", "tokens", "parent"}, {"op"})
    op = act["op"]
    if op not in OPS:
        raise Problem("paging_scenario_op", op=op[:40] if isinstance(op, str) else written(op), known=", ".join(OPS))
    name = "" if op == "reset" else _name(act.get("request"), "request")
    prompt = _prompt(name, act.get("prompt")) if op == "add" else Prompt()
    parent = _name(act.get("parent"), "parent") if op == "fork" else ""
    return Act(op, name, prompt, whole("tokens", act.get("tokens", 1), 1, MOST_STEPS), parent)


def _ask(value: object) -> Ask:
    ask = _object(value, "requests", {"request", "prompt", "output", "at", "priority"}, {"request", "prompt"})
    name = _name(ask["request"], "request")
    return Ask(
        name,
        _prompt(name, ask["prompt"]),
        whole("output", ask.get("output", 1), 1, MOST_STEPS),
        whole("at", ask.get("at", 0), 0, MOST_STEPS),
        whole("priority", ask.get("priority", 0), -1000, 1000),
    )


def _prompt(name: str, value: object) -> Prompt:
    """A count (the request's own segment), [[segment, count], …] or {"ids": [token ids]}."""
    if isinstance(value, dict):
        ids = _list(_object(value, "prompt", {"ids"}, {"ids"})["ids"], "ids")
        return Prompt(ids=tuple(whole("ids", token, 0, 2**31 - 1) for token in ids) or _no_tokens(name))
    if not isinstance(value, list):
        return Prompt(((name, whole("prompt", value, 1, SEGMENT_TOKENS - 1)),))
    segments = []
    for segment in value or _no_tokens(name):
        if not isinstance(segment, list) or len(segment) != 2:
            raise Problem("paging_scenario_prompt", name=name)
        segments.append((_name(segment[0], "prompt"), whole("prompt", segment[1], 1, SEGMENT_TOKENS - 1)))
    return Prompt(tuple(segments))


def _no_tokens(name: str) -> Any:
    raise Problem("paging_empty_prompt", name=name)
