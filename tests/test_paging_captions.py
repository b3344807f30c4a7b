"""What the sentences of a scripted run say is what its log and its states say: blocks that are free, steps that pass,
requests that come back.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.i18n import LANGS, Problem, t
from viz_core.paging.contiguous import beside
from viz_core.paging.film import film, owners
from viz_core.paging.log_file import dump_lines, load_lines
from viz_core.paging.metrics import measure
from viz_core.paging.policies import POLICIES
from viz_core.paging.presets import COPY_ON_WRITE, PRESETS, under
from viz_core.paging.replay import replay
from viz_core.paging.run import run
from viz_core.paging.scenario import OPS, Scenario
from viz_core.paging.scenario_file import from_json, to_json
from viz_core.proofs.paging import no_block_is_lost
from viz_core.trace import Text, Trace
from viz_core.trace_codec import encode
from viz_core.ui.scenes.pa_presets import able


def scripted(*acts: str, policy: str = "vllm-0.33", caching: bool = True, blocks: int = 9) -> Scenario:
    """Operations as they are spoken: "add A 30", "decode B 2", "fork B A"."""
    script = []
    for act in acts:
        op, name, last = (*act.split(), None, None)[:3]
        key = {"add": "prompt", "decode": "tokens", "fork": "parent"}.get(op, "")
        value = last if op == "fork" else last and json.loads(last)
        script.append({"op": op} | ({"request": name} if name else {}) | ({key: value} if last else {}))
    scenario = {"blocks": blocks, "block_size": 4, "policy": policy, "caching": caching, "script": script}
    return from_json(json.dumps(scenario))


def said(scenario: Scenario) -> list[Text]:
    captions = film([("", run(scenario))], "").captions
    each = [captions[at] for at in range(len(captions))]
    return [Text(one.key.removeprefix("paging.caption."), one.params) for one in each]


def test_a_block_that_others_hold_is_not_given_back() -> None:
    last = said(COPY_ON_WRITE)[-1]
    assert last.key == "finish_shared" and last.params["blocks"] == "P5 P3" and last.params["kept"] == "P7 (B)"


def test_a_prefix_hit_by_another_stays_with_it() -> None:
    add = '[["s",8],["{}",1]]'
    last = said(scripted("add A " + add.format("A"), "add B " + add.format("B"), "finish A"))[-1]
    assert last.key == "finish_shared" and (last.params["blocks"], last.params["kept"]) == ("P2", "P1 (B) P0 (B)")


def test_operations_of_a_request_that_waits_are_steps_with_a_reason() -> None:
    steps = said(scripted("add A 30", "add B 30", "decode B 2", "preempt B", "finish B", "finish A"))
    keys = ["arrive", "refuse", "wait_decode", "wait_decode", "wait_preempt", "leave", "finish"]
    assert [one.key for one in steps] == keys
    assert all(one.params["request"] == "B" for one in steps[1:6])


@pytest.mark.parametrize(("acts", "keys"), [
    (("add A 30", "add B 30", "decode B 2"), ["arrive", "refuse", "wait_decode", "wait_decode"]),
    (("add A", "reset"), ["arrive", "keep"]),
    (("add A", "finish A", "reset"), ["arrive", "finish", "reset"]),
    (("add A 36", "decode A"), ["arrive", "refuse_token"]),
])  # fmt: skip
def test_every_operation_is_a_step(acts: tuple[str, ...], keys: list[str]) -> None:
    acts = tuple(act + " 30" if act == "add A" else act for act in acts)
    assert [one.key for one in said(scripted(*acts))] == keys


def test_a_request_that_comes_back_resumes() -> None:
    last = said(scripted("add A 30", "preempt A", "resume A"))[-1]
    assert last.key == "resume_hit" and last.params["tokens"] == 30
    assert last.params["hit"] == "P0 P1 P2 P3 P4 P5 P6" and len(str(last.params["blocks"]).split()) == 1
    last = said(scripted("add A 30", "preempt A", "resume A", policy="seed-fifo", caching=False))[-1]
    assert last.key == "resume" and len(str(last.params["blocks"]).split()) == 8


def test_a_token_that_takes_the_second_block_does_not_resume() -> None:
    steps = said(scripted("add A 4", "decode A", "decode A"))
    assert [one.key for one in steps] == ["arrive", "decode_block", "decode"]


def test_a_waiting_request_that_leaves_waits_no_more() -> None:
    recording = run(scripted("add A 30", "add B 30", "finish B"))
    assert [list(state.waiting) for state in replay(recording.config, recording.log)] == [[], ["B"], []]


def test_long_lists_are_cut_and_counted() -> None:
    taken = str(said(scripted("add A 400", blocks=100))[0].params["blocks"])
    assert taken.startswith("P0 P1 ") and taken.endswith("P23 … (+76)")


ABLE = [(name, policy) for name in PRESETS for policy in POLICIES if PRESETS[name].script and able(name, policy)]


@pytest.mark.parametrize(("name", "policy"), ABLE)
def test_blocks_said_to_be_free_are_free(name: str, policy: str) -> None:
    recording = run(under(PRESETS[name], policy, PRESETS[name].caching))
    captions = film([("", recording)], "").captions
    null = recording.config.rules.null_block
    for at, state in enumerate(replay(recording.config, recording.log)):
        if captions[at].key.rpartition(".")[2] in ("finish", "finish_shared", "preempt", "preempt_shared"):
            named = str(captions[at].params["blocks"]).split()
            assert all(name == "–" or state.ref[int(name[1:]) + null] == 0 for name in named)


LETTERS = st.sampled_from(["A", "B", "C"])
ODD = st.text(st.characters(), max_size=4) | st.sampled_from(["\ud800", "\u202eA", "\x00", "", " ", "{x}", "**", "é"])
ACTS = st.fixed_dictionaries({"op": st.sampled_from(OPS), "request": LETTERS, "prompt": st.integers(1, 12)}, optional={
    "tokens": st.integers(1, 6), "parent": LETTERS})  # fmt: skip
WILD = st.fixed_dictionaries({"op": st.sampled_from(OPS)}, optional={
    "request": ODD, "prompt": st.integers(0, 20), "tokens": st.integers(0, 6), "parent": ODD})  # fmt: skip


def in_order(acts: list[dict[str, object]]) -> list[dict[str, object]]:
    """The acts that can follow each other: who is new is added first, who is away is resumed, who ended stays away."""
    where: dict[object, str] = {}
    out = []
    for act in acts:
        name, op = act["request"], act["op"]
        now = where.get(name, "new")
        if op == "reset":
            out.append({"op": op})
            continue
        if now == "new":
            op = "fork" if op == "fork" and where.get(act.get("parent")) == "here" else "add"
        elif now == "here" and op not in ("decode", "finish", "preempt"):
            op = "decode"
        elif now == "away":
            op = "resume"
        if now != "gone":
            where[name] = {"finish": "gone", "preempt": "away"}.get(str(op), "here")
            known = {"add": ("prompt",), "decode": ("tokens",), "fork": ("parent",)}.get(str(op), ())
            out.append({"op": op, "request": name} | {key: act[key] for key in known if key in act})
    return out


SCRIPTS = st.lists(ACTS, min_size=1, max_size=24).map(in_order)


def asks(names: st.SearchStrategy[str], low: int) -> st.SearchStrategy[list[dict[str, object]]]:
    """Requests for the scheduler; `low`: the fewest tokens of a prompt and of an output."""
    tokens = st.integers(low, 9)
    ask = st.fixed_dictionaries({"request": names, "prompt": tokens}, optional={
        "output": tokens, "at": st.integers(0, 5), "priority": st.integers(-2, 2)})  # fmt: skip
    return st.lists(ask, min_size=low, max_size=5, unique_by=lambda row: row["request"])


SOUND = st.tuples(st.just("script"), SCRIPTS) | st.tuples(st.just("requests"), asks(LETTERS, 1))
ANY = st.tuples(st.just("script"), st.lists(WILD, max_size=4)) | st.tuples(st.just("requests"), asks(LETTERS | ODD, 0))


@settings(max_examples=400, deadline=None)
@given(data=st.data(), policy=st.sampled_from(sorted(POLICIES)), blocks=st.integers(3, 9), rows=SOUND | SOUND | ANY)
def test_any_scenario_is_a_film_or_one_sentence(
    data: st.DataObject, policy: str, blocks: int, rows: tuple[str, list[dict[str, object]]]
) -> None:
    text: dict[str, object] = {"blocks": blocks, "block_size": data.draw(st.integers(1, 5)), "policy": policy}
    text |= {"caching": POLICIES[policy].caches and data.draw(st.booleans())}
    text[rows[0]] = rows[1]
    if POLICIES[policy].null_block and data.draw(st.booleans()):
        text["windows"] = data.draw(st.sampled_from([[0, 5], [3], [2, 4]]))
    try:
        scenario = from_json(json.dumps(text))
        to_json(scenario).encode()
        recording = run(scenario)
    except Problem as problem:
        assert all(problem.text(lang).encode() for lang in LANGS)
        return
    shown(film([("", recording)], ""))
    assert owners(recording).shape == (recording.log.num_steps, blocks)
    beside(recording, measure(recording))
    assert no_block_is_lost(recording).holds
    if scenario.script:
        assert recording.log.num_steps == sum(act.count if act.op == "decode" else 1 for act in scenario.script)
    again = load_lines("\n".join(dump_lines(recording)))
    assert list(again.log) == list(recording.log)


def shown(trace: Trace) -> None:
    """Every caption is a sentence in both languages, about a request that is named, and the player can read it all."""
    for lang in LANGS:
        encode(trace, lang)
        for at in range(trace.steps):
            caption = trace.captions[at]
            assert caption.params.get("request", "-") and t(caption.key, lang, **caption.params)
