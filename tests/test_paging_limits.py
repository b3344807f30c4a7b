"""What is too much, or wrong for another reason than it seems, is refused with the sentence that says so."""

from __future__ import annotations

import json

import pytest

from viz_core.i18n import LANGS, Problem, t
from viz_core.paging.config import written
from viz_core.paging.effort import MOST_EVENTS, MOST_LOOKS, bounded, showable
from viz_core.paging.film import film
from viz_core.paging.film_lanes import MOST_BLOCKS
from viz_core.paging.log_file import dump_lines, load_lines
from viz_core.paging.presets import PRESETS, THRASH
from viz_core.paging.run import run
from viz_core.paging.scenario_file import MOST_CHARACTERS, from_json, to_json
from viz_core.trace_codec import encode
from viz_core.ui.scenes import pa_own


def scenario(**fields: object) -> str:
    return json.dumps({"blocks": 9, "block_size": 4} | fields)


def refusal(text: str) -> Problem:
    with pytest.raises(Problem) as caught:
        run(from_json(text), bounded)
    return caught.value


def decoding(blocks: int, size: int, tokens: int) -> str:
    acts = [{"op": "add", "request": "A", "prompt": 9}, {"op": "decode", "request": "A", "tokens": tokens}]
    return scenario(blocks=blocks, block_size=size, script=acts)


def test_a_run_is_refused_at_the_step_that_makes_it_too_much() -> None:
    problem = refusal(decoding(50_000, 4, 99_990))
    assert problem.key == "paging_effort" and problem.params["steps"] == MOST_LOOKS // 50_000 + 1
    assert all(str(MOST_LOOKS) in problem.text(lang) and str(MOST_EVENTS) in problem.text(lang) for lang in LANGS)
    run(from_json(decoding(50_000, 4, MOST_LOOKS // 50_000 - 1)), bounded)


def test_events_are_bounded_too() -> None:
    asks = [{"request": f"r{i}", "prompt": 100, "output": 1000} for i in range(60)]
    problem = refusal(scenario(blocks=3000, block_size=1, requests=asks))
    assert problem.key == "paging_effort" and int(str(problem.params["events"])) > MOST_EVENTS


def test_tables_that_share_blocks_count_entry_by_entry() -> None:
    acts: list[dict[str, object]] = [{"op": "add", "request": "A", "prompt": 390}]
    acts += [{"op": "fork", "request": f"r{i}", "parent": "A"} for i in range(300)]
    text = scenario(blocks=400, block_size=1, policy="early-vllm", caching=False, script=acts)
    recording = run(from_json(text), bounded)  # 301 steps of 400 blocks are few; a table a fork makes 17 million
    with pytest.raises(Problem) as caught:
        showable(recording)
    assert caught.value.key == "paging_effort"


def test_presets_can_be_shown() -> None:
    for preset in PRESETS.values():
        showable(run(preset, bounded))


def test_the_largest_pool_can_be_drawn_and_no_larger_one_is_read() -> None:
    add = [{"op": "add", "request": "A", "prompt": 9}]
    windows = [0, *range(1, 8)]
    text = scenario(blocks=MOST_BLOCKS, script=add, windows=windows)
    assert encode(film([("", run(from_json(text), bounded))], ""), "en")
    problem = refusal(scenario(blocks=MOST_BLOCKS + 1, script=add))
    assert problem.key == "paging_number" and problem.params["high"] == MOST_BLOCKS


@pytest.mark.parametrize(("field", "row", "count", "most"), [
    ("script", {"op": "reset"}, 100_001, 100_000), ("requests", {"request": "A", "prompt": 1}, 4001, 4000),
])  # fmt: skip
def test_too_many_rows_are_counted(field: str, row: dict[str, object], count: int, most: int) -> None:
    text = json.dumps({"blocks": 9, "block_size": 4, field: [row] * count}, separators=(",", ":"))
    with pytest.raises(Problem) as caught:
        from_json(text)
    assert caught.value.key == "paging_scenario_many"
    assert caught.value.params == {"field": field, "count": count, "most": most}


def test_a_token_budget_that_is_too_small_is_named() -> None:
    knobs = {"enable_chunked_prefill": False, "max_num_batched_tokens": 4}
    problem = refusal(scenario(scheduler=knobs, requests=[{"request": "A", "prompt": 8}]))
    assert problem.key == "paging_budget" and problem.params == {"name": "A", "tokens": 8, "budget": 4}
    capped = knobs | {"long_prefill_token_threshold": 4}
    two = [{"request": name, "prompt": 8} for name in "AB"]
    assert refusal(scenario(scheduler=capped, requests=two)).params["tokens"] == 8  # the last one has no cap


@pytest.mark.parametrize(("value", "text"), [(None, "null"), (True, "true"), ("9", '"9"'), (1.5, "1.5"), ([1], "[1]")])
def test_values_are_quoted_as_they_were_written(value: object, text: str) -> None:
    assert written(value) == text
    add = [{"op": "add", "request": "A", "prompt": 9}]
    assert refusal(scenario(blocks=value, script=add)).params["value"] == text
    assert refusal(scenario(script=add, scheduler={"order": value})).params["value"] == text
    if value is not True and value != 1.5:
        assert refusal(scenario(script=add, watermark=value)).params["value"] == text
    if not isinstance(value, str):
        assert refusal(scenario(script=[{"op": value}])).params["op"] == text


@pytest.mark.parametrize("name", ["\ud800", "a\x00", "\u202ea", " ", "", "a\n"])
def test_names_can_be_seen(name: str) -> None:
    assert refusal(scenario(requests=[{"request": name, "prompt": 3}])).key == "paging_scenario_name"


def test_half_a_character_is_spelled_out_in_a_sentence() -> None:
    problem = refusal(scenario(**{"\ud800": 1}))
    assert problem.key == "paging_scenario_unknown"
    assert all("\\ud800" in problem.text(lang) and problem.text(lang).encode() for lang in LANGS)


def test_a_log_with_half_a_character_in_a_name_is_refused() -> None:
    lines = "\n".join(dump_lines(run(THRASH))).replace('"request":"A"', '"request":"\\ud800"')
    with pytest.raises(Problem) as caught:
        load_lines(lines)
    assert caught.value.key == "paging_log_fields"


def test_a_script_of_resets_alone_shows_nothing() -> None:
    assert refusal(scenario(script=[{"op": "reset"}])).key == "paging_scenario_still"


@pytest.mark.parametrize("name", ["run.jsonl", "run.json"])
def test_a_recording_is_sent_to_its_scene(name: str) -> None:
    events = json.dumps([1.0, [{"type": "BlockStored", "block_hashes": [1], "token_ids": [1, 2], "block_size": 2}]])
    for data in ("\n".join(dump_lines(run(THRASH))), events):
        with pytest.raises(Problem) as caught:
            pa_own.filled(name, data.encode())
        assert caught.value.key == "paging_recording_here"
        for lang in LANGS:
            assert t("scene.paged_attention.recorded.title", lang) in caught.value.text(lang)


def test_a_file_may_be_as_long_as_a_scenario() -> None:
    acts = [{"op": "add", "request": f"request number {i}", "prompt": 1} for i in range(500)]
    data = scenario(blocks=600, script=acts).encode()
    text, note = pa_own.filled("long.json", data)
    assert len(text) > 20_000 and note is None
    assert to_json(from_json(text)) == to_json(from_json(data.decode()))
    assert pa_own.TEXT.longest == MOST_CHARACTERS


def test_whoever_a_log_names_has_arrived_there() -> None:
    lines = list(dump_lines(run(THRASH)))
    assert '"op":"arrive"' in lines[1]
    lines[1] = lines[1].replace("arrive", "reset")
    with pytest.raises(Problem) as caught:
        load_lines("\n".join(lines))
    assert caught.value.key == "paging_log_stranger"
