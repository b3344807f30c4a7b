"""Scenarios: who gets the freed blocks under each policy, presets, refusals, waste."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from viz_core.i18n import LANGS, Problem
from viz_core.paging import workloads
from viz_core.paging.block_hash import block_hashes
from viz_core.paging.contiguous import RULES, Job, simulate
from viz_core.paging.events import Op
from viz_core.paging.metrics import measure
from viz_core.paging.presets import COPY_ON_WRITE, PRESETS, SOURCE, THRASH, under
from viz_core.paging.replay import state_at
from viz_core.paging.run import Recording, run
from viz_core.paging.scenario import Act, Prompt, Scenario
from viz_core.paging.scenario_file import from_json, to_json


def last_table(recording: Recording, request: str) -> list[int]:
    """Physical blocks of `request` at the end, numbered without the null block."""
    state = state_at(recording.config, recording.log, recording.log.num_steps - 1)
    return [block - recording.config.rules.null_block for block in state.tables[request][0]]


@pytest.mark.parametrize(
    ("policy", "caching", "blocks"),
    [
        ("seed-fifo", False, [6, 7]),
        ("early-vllm", False, [5, 6]),
        ("vllm-classic", True, [6, 7]),
        ("vllm-0.33", True, [3, 6]),
        ("vllm-0.33", False, [3, 2]),
    ],
)
def test_who_gets_the_blocks_of_b(policy: str, caching: bool, blocks: list[int]) -> None:
    recording = run(under(SOURCE, policy, caching))
    assert last_table(recording, "D") == blocks
    taken_from_b = {b - recording.config.rules.null_block for b in blocks_of(recording, "B")} & set(blocks)
    assert len(taken_from_b) == {"seed-fifo": 0, "early-vllm": 2, "vllm-classic": 0, "vllm-0.33": 2 - caching}[policy]


def blocks_of(recording: Recording, request: str) -> set[int]:
    return {e.block for e in recording.log if e.op == Op.TAKE and e.request == request}


def test_the_source_uses_20_of_24_slots_at_the_end() -> None:
    waste = measure(run(SOURCE)).waste
    assert waste.tokens[-1] == 20 and waste.internal[-1] == 4 and waste.idle[-1] == 12


@pytest.mark.parametrize("name", PRESETS)
def test_presets_run_and_survive_their_file(name: str) -> None:
    scenario = PRESETS[name]
    assert from_json(to_json(scenario)) == scenario
    assert len(to_json(scenario)) < 600
    metrics = measure(run(scenario))
    parts = [metrics.waste.tokens, metrics.waste.reserved, metrics.waste.internal, metrics.waste.idle]
    assert all((part >= 0).all() for part in parts)
    assert (sum(parts) == scenario.blocks * scenario.block_size).all()


def test_each_preset_shows_what_it_is_named_for() -> None:
    ops = {name: {event.op for event in run(scenario).log} for name, scenario in PRESETS.items()}
    assert Op.PREEMPT in ops["thrash"] and Op.EVICT in ops["lru"] and Op.SLIDE in ops["window"]
    assert {Op.SHARE, Op.COPY} <= ops["copy_on_write"]
    assert all(Op.HIT in ops[name] for name in ("shared_prompt", "multi_turn", "aligned", "same_step", "window"))
    aligned = run(PRESETS["aligned"])
    assert last_table(aligned, "C")[1] != last_table(aligned, "C")[2]
    same = run(PRESETS["same_step"])
    assert any(event.op == Op.HIT and event.step == 0 for event in same.log)


def test_a_copy_is_a_new_block_and_the_old_one_loses_a_reference() -> None:
    recording = run(COPY_ON_WRITE)
    copies = [event for event in recording.log if event.op == Op.COPY]
    assert len(copies) == 2, "three writers share a block: two copy, the last one keeps it"
    before = state_at(recording.config, recording.log, copies[0].step - 1)
    after = state_at(recording.config, recording.log, copies[0].step)
    assert before.ref[copies[0].value] == 3 and after.ref[copies[0].value] == 2 and after.ref[copies[0].block] == 1


def test_preemption_counts_what_it_cost() -> None:
    metrics = measure(run(THRASH))
    assert metrics.preemptions[-1] == 2 and metrics.lost[-1] > 0 and metrics.waste.waiting.any()


@pytest.mark.parametrize("rule", RULES)
def test_contiguous_slots_add_up_and_need_one_hole(rule: str) -> None:
    waste = simulate([Job(0, 6, 4), Job(0, 3, 9), Job(2, 5, 2)], 32, rule, 16)
    total = waste.tokens + waste.reserved + waste.internal + waste.external + waste.idle
    assert (total == 32).all()
    assert waste.tokens[0] == 9, "two prompts, 6 and 3 tokens, start at once in 32 slots"
    assert abs(sum(waste.shares().values()) - 1) < 1e-12


def test_our_requests_waste_like_the_papers() -> None:
    """The paper's order: paged memory holds the most tokens, then oracle, pow2, max; the over-reservation of max
    dominates.
    """
    measured = workloads.memory_shares("sharegpt", 120, 16)
    tokens = measured.shares
    assert tokens["max"]["tokens"] < tokens["pow2"]["tokens"] < tokens["oracle"]["tokens"] < tokens["paged"]["tokens"]
    assert tokens["max"]["internal"] > 0.5 and tokens["paged"]["tokens"] > 0.9 and measured.scarce
    assert tokens["oracle"]["internal"] == 0, "exact, as in the paper"


@pytest.mark.parametrize(("name", "count"), [("alpaca", 160), ("sharegpt", 40), ("sharegpt", 100)])
def test_all_rules_are_measured_over_the_same_steps(name: str, count: int) -> None:
    """Also where one lets nobody wait: then paging holds no fewer tokens than a rule that reserves more."""
    work = workloads.jobs(name, count)
    waste = {rule: simulate(work, workloads.SLOTS, rule, workloads.LONGEST) for rule in RULES}
    waste["paged"] = measure(run(workloads.paged(work, workloads.SLOTS, 16))).waste
    steps = min(len(each.tokens) for each in waste.values())
    when = [at for at in range(steps) if all(each.waiting[at] for each in waste.values())]
    measured = workloads.memory_shares(name, count, 16)
    assert measured.scarce == bool(when) and measured.steps == len(when or range(steps))
    for rule, shares in measured.shares.items():
        mean = np.mean([waste[rule].tokens[at] for at in when or range(steps)]) / workloads.SLOTS
        assert abs(shares["tokens"] - mean) < 1e-12
    assert measured.shares["pow2"]["tokens"] < measured.shares["paged"]["tokens"] + 0.01


BAD = {
    "": "paging_scenario_json",
    "[]": "paging_scenario_type",
    "{}": "paging_scenario_missing",
    '{"blocks":0,"block_size":4,"script":[{"op":"reset"}]}': "paging_number",
    '{"blocks":-3,"block_size":4,"script":[{"op":"reset"}]}': "paging_number",
    '{"blocks":9.5,"block_size":4,"script":[{"op":"reset"}]}': "paging_number",
    '{"blocks":true,"block_size":4,"script":[{"op":"reset"}]}': "paging_number",
    '{"blocks":1e400,"block_size":4,"script":[{"op":"reset"}]}': "paging_number",
    '{"blocks":9,"block_size":4}': "paging_scenario_one",
    '{"blocks":9,"block_size":4,"script":[{"op":"boil"}]}': "paging_scenario_op",
    '{"blocks":9,"block_size":4,"script":[{"op":"add","request":"A","prompt":0}]}': "paging_number",
    '{"blocks":9,"block_size":4,"script":[{"op":"add","request":"A","prompt":[]}]}': "paging_empty_prompt",
    '{"blocks":9,"block_size":4,"script":[{"op":"add","request":"A","prompt":[["A"]]}]}': "paging_scenario_prompt",
    '{"blocks":9,"block_size":4,"script":[{"op":"add","request":"A","prompt":{"ids":[-1]}}]}': "paging_number",
    '{"blocks":9,"block_size":4,"script":[{"op":"add","request":7,"prompt":1}]}': "paging_scenario_name",
    '{"blocks":9,"block_size":4,"script":[{"op":"add","request":"A","prompt":50}]}': "paging_never_fits",
    '{"blocks":9,"block_size":4,"requests":[{"request":"A","prompt":50}]}': "paging_never_fits",
    '{"blocks":9,"block_size":4,"requests":['
    '{"request":"A","prompt":5},{"request":"A","prompt":5}]}': "paging_duplicate",
    '{"blocks":9,"block_size":4,"requests":[{"request":"A","prompt":5,"output":90000}]}': "paging_never_fits",
    '{"blocks":9,"block_size":4,"requests":[{"request":"A","prompt":5,"output":100000000}]}': "paging_number",
    '{"blocks":9,"block_size":4,"script":[{"op":"finish","request":"A"}]}': "paging_not_there",
    '{"blocks":9,"block_size":4,"policy":"lru","script":[{"op":"reset"}]}': "paging_policy",
    '{"blocks":9,"block_size":4,"policy":"seed-fifo","script":[{"op":"reset"}]}': "paging_no_cache",
    '{"blocks":9,"block_size":4,"colour":1,"script":[{"op":"reset"}]}': "paging_scenario_unknown",
    '{"blocks":9,"block_size":4,"watermark":"x","script":[{"op":"reset"}]}': "paging_watermark",
    '{"version":2,"blocks":9,"block_size":4,"script":[{"op":"reset"}]}': "paging_scenario_version",
    "[" * 100_000: "paging_scenario_json",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_scenarios_get_one_plain_sentence(text: str) -> None:
    with pytest.raises(Problem) as caught:
        run(from_json(text))
    assert caught.value.key == BAD[text]
    assert all(caught.value.text(lang) for lang in LANGS)


def test_the_workbench_can_be_a_prompt() -> None:
    text = '{"blocks":9,"block_size":4,"script":[{"op":"add","request":"A","prompt":"workbench"}]}'
    assert last_table(run(from_json(text, range(11, 20))), "A") == [0, 1, 2]
    with pytest.raises(Problem):
        from_json(text)


def test_block_hashes_are_those_of_a_real_server(cases: Path) -> None:
    path = cases / "paging" / "x_hash_vectors.json"
    if not path.exists():
        pytest.skip(f"{path} is not in this folder")
    vectors = [v for v in json.loads(path.read_text())["vectors"] if v["algo"] == "sha256_cbor"]
    for vector in vectors:
        ours = block_hashes(vector["tokens"], vector["block_size"], vector["cache_salt"])
        assert [h.hex() for h in ours] == vector["block_hashes"]
    assert len(vectors) == 4


def test_a_long_run_stays_sound() -> None:
    scenario = Scenario(60, 4, requests=PRESETS["shared_prompt"].requests)
    assert np.all(measure(run(scenario)).blocks <= 60)


@pytest.mark.parametrize("fewer", [1, 2, 3, 4])
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_smaller_pool_is_a_state_or_one_sentence(name: str, fewer: int) -> None:
    """Taking blocks away makes requests wait; only what never fits is refused, and then with the sizes."""
    preset = PRESETS[name]
    try:
        recording = run(replace(preset, blocks=preset.blocks - fewer))
    except Problem as problem:
        assert problem.key in ("paging_never_fits", "paging_stuck"), problem
    else:
        assert recording.log.step > 0


def test_a_request_that_waits_keeps_its_operations_waiting() -> None:
    script = tuple(Act(op, name, Prompt((("p" + name, 8),)) if op == "add" else Prompt()) for op, name in (
        ("add", "A"), ("add", "B"), ("decode", "B"), ("finish", "B"), ("finish", "A")))
    log = run(Scenario(blocks=4, block_size=4, script=script)).log
    assert log.step == 5
