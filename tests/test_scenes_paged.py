"""The PagedAttention scenes: counters are the metrics' own, and the knobs and the JSON text are one thing."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.scenes import context
from tests.source import ROOT
from viz_core.figures.layout import Look
from viz_core.i18n import Problem
from viz_core.paging.contiguous import beside, jobs_of, simulate
from viz_core.paging.film import film
from viz_core.paging.metrics import measure
from viz_core.paging.policies import POLICIES
from viz_core.paging.presets import PRESETS, SOURCE, under
from viz_core.paging.run import run
from viz_core.paging.scenario import Act, Ask, Prompt, Scenario
from viz_core.paging.scenario_file import from_json, to_json
from viz_core.trace import Text
from viz_core.ui.scenes import pa_presets
from viz_core.ui.scenes.pa_counts import counted
from viz_core.ui.scenes.pa_knobs import knobs, spread
from viz_core.ui.scenes.pa_own import SCENE, TEXT
from viz_core.ui.scenes.pa_shown import use_of_slots

PARTS = {part.control.name: part for part in knobs(TEXT)}


def lines(trace: object) -> dict[str, tuple[float, ...]]:
    """A trace's series by key; those of one run by the run's name as well."""
    found = {}
    for one in trace.series:  # type: ignore[attr-defined]
        label = one.label
        inner = label.params.get("series")
        name = label.params.get("name")
        found[f"{name} {inner.key}" if name else inner.key if inner else label.key] = one.values
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_series_and_bands_are_the_metrics(name: str) -> None:
    recording = run(PRESETS[name])
    metrics, runs = measure(recording), [("it", recording)]
    trace = counted(film(runs, name), [("it", metrics)])
    waste = metrics.waste
    want = {
        "blocks": metrics.blocks, "slots": waste.tokens, "reserved": waste.reserved, "internal": waste.internal,
        "preemptions": metrics.preemptions, "lost": metrics.lost, "hit": 100 * metrics.hit_rate,
    }  # fmt: skip
    got = lines(trace)
    for short, values in want.items():
        if np.any(values):
            assert np.allclose(got[f"paging.series.{short}"], values)
        else:
            assert f"paging.series.{short}" not in got
    assert [lane.history for lane in trace.lanes] == [
        isinstance(lane.label, Text) and lane.label.key == "paging.lane.pool" for lane in trace.lanes
    ]
    figure = use_of_slots(Look(), waste)
    held = np.sum([band.y for band in figure.data], axis=0)
    slots = PRESETS[name].blocks * PRESETS[name].block_size
    assert np.array_equal(held[:-1], slots - waste.idle) and held[-1] == held[-2]
    assert list(figure.layout.yaxis.range) == [0, slots]


def test_a_phone_has_no_maps() -> None:
    for narrow in (False, True):
        trace = SCENE.build(context(SCENE, "en", narrow=narrow)).trace
        assert trace is not None and any(lane.history for lane in trace.lanes) != narrow


def test_two_runs_share_what_they_agree_on() -> None:
    """Else each has its own line, and a shorter run stays at its end."""
    apart = [("shared", run(PRESETS["shared_prompt"])), ("alone", run(under(PRESETS["shared_prompt"], "seed-fifo")))]
    got = lines(counted(film(apart, ""), [(name, measure(each)) for name, each in apart]))
    steps = max(recording.log.num_steps for _, recording in apart)
    for name, recording in apart:
        blocks = measure(recording).blocks
        line = got[f"{name} paging.series.blocks"]
        assert len(line) == steps
        assert list(line) == [*blocks, *[blocks[-1]] * (steps - len(blocks))]
    alike = [("fifo", run(SOURCE)), ("stack", run(under(SOURCE, "early-vllm")))]
    both = lines(counted(film(alike, ""), [(name, measure(each)) for name, each in alike]))
    assert list(both["paging.series.blocks"]) == list(measure(alike[0][1]).blocks)


def without(data: dict[str, object], field: str) -> dict[str, object]:
    return {k: v for k, v in data.items() if k not in (field, "scheduler")}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_knob_changes_its_field_and_nothing_else(preset: str) -> None:
    text = spread(to_json(PRESETS[preset]))
    before = json.loads(text)
    new = {
        "blocks": 40, "block_size": 8, "policy": "vllm-classic", "caching": False, "watermark": 0.25,
        "max_num_batched_tokens": 7, "max_num_seqs": 1, "scheduler_order": "priority",
        "enable_chunked_prefill": False, "long_prefill_token_threshold": 3,
    }  # fmt: skip
    assert new.keys() | {"start_from"} == PARTS.keys()
    for name, value in new.items():
        part, field = PARTS[name], name.removeprefix("scheduler_")
        if part.read(text) is None:  # the scheduler does not see a script
            assert PRESETS[preset].script and part.write(text, value) == text
            continue
        after = part.write(text, value)
        assert part.read(after) == value
        data = json.loads(after)
        where = data["scheduler"] if field in data.get("scheduler", {}) else data
        assert where.pop(field, value) == value
        assert without(data, field) == without(before, field)
        assert without(data.get("scheduler", {}), field) == without(before.get("scheduler", {}), field)


def test_every_knob_reaches_the_scenario() -> None:
    text = TEXT.default
    for name, value in (("max_num_seqs", 2), ("watermark", 0.1), ("policy", "vllm-classic"), ("blocks", 12)):
        text = PARTS[name].write(text, value)
    scenario = from_json(text)
    assert (scenario.blocks, scenario.policy, scenario.watermark) == (12, "vllm-classic", 0.1)
    assert scenario.scheduler.max_num_seqs == 2


def test_the_default_value_leaves_the_text() -> None:
    text = PARTS["max_num_seqs"].write(TEXT.default, 128)
    assert "max_num_seqs" not in text and PARTS["max_num_seqs"].read(text) == 128
    assert "blocks" not in json.loads(PARTS["blocks"].write(text, None)), "an emptied control leaves no field behind"


@pytest.mark.parametrize("name", PRESETS)
def test_a_ready_scenario_is_written_whole(name: str) -> None:
    text = PARTS["start_from"].write("{broken", name)
    assert from_json(text) == PRESETS[name] and PARTS["start_from"].read(text) == name
    assert PARTS["start_from"].read(text + " ") == "changed" and PARTS["start_from"].write(text, "changed") == text


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "[" * 100_000, '{"scheduler": 3, "requests": [1]}'])
def test_a_broken_text_rests_the_knobs(text: str) -> None:
    for part in knobs(TEXT)[1:]:
        if part.control.name in ("max_num_seqs", "scheduler_order") or text[:2] != '{"':
            assert part.read(text) is None and part.write(text, 1) == text


@pytest.mark.parametrize("value", [0, -1, 10**9, 2.5])
@pytest.mark.parametrize("name", ["blocks", "block_size", "max_num_seqs", "max_num_batched_tokens"])
def test_a_bad_value_gets_a_sentence(name: str, value: float) -> None:
    if name.startswith("max") and value == 10**9:
        value = 10**12
    with pytest.raises(Problem) as caught:
        SCENE.build(context(SCENE, "en", scenario=PARTS[name].write(TEXT.default, value)))
    assert caught.value.text("en") and caught.value.text("zh")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_without_a_cache_asks_to_switch_it_off(policy: str) -> None:
    text = PARTS["policy"].write(TEXT.default, policy)
    if POLICIES[policy].caches:
        assert SCENE.build(context(SCENE, "en", scenario=text)).trace
        return
    with pytest.raises(Problem, match="no prefix cache"):
        SCENE.build(context(SCENE, "en", scenario=text))
    assert SCENE.build(context(SCENE, "en", scenario=PARTS["caching"].write(text, False))).trace


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("preset", pa_presets.PRESET.options)
def test_every_preset_shows_its_point_under_every_policy(preset: str, policy: str) -> None:
    """Where the chosen policy cannot, the preset's own runs and the reader is told."""
    scene = pa_presets.SCENE
    view = scene.build(context(scene, "en", preset=preset, policy=policy))
    own = pa_presets.scenario(preset, policy, 0).policy == policy
    assert view.trace is not None and (view.notice is None) == own == pa_presets.able(preset, policy)
    if preset in ("shared_prompt", "multi_turn", "same_step"):
        assert any(number.key == "hit_rate" for number in view.numbers)


@pytest.mark.parametrize("text", ["{", '{"blocks" 3}', "[" * 100_000, "9" * 5000, "{'a': 1}"])
def test_a_slip_in_the_json_is_told_in_the_reader_s_language(text: str) -> None:
    with pytest.raises(Problem) as caught:
        from_json(text)
    assert set(re.findall("[A-Za-z]+", caught.value.text("zh"))) == {"JSON"}


def test_odd_types_in_the_text_rest_the_control() -> None:
    text = json.dumps({"blocks": "9", "block_size": True, "policy": 3, "caching": "yes", "watermark": "much"})
    assert all(PARTS[name].read(text) is None for name in ("blocks", "block_size", "policy", "caching", "watermark"))
    assert PARTS["blocks"].read(json.dumps({"blocks": 2**60})) is None
    assert PARTS["watermark"].read(json.dumps({"watermark": 0})) == 0.0


def opened_own() -> AppTest:
    """The reader's own scenario, as a link opens it."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params.update({"lang": "en", "scene": "own"})
    at.switch_page("pages/paged_attention.py")
    return at.run()


def test_knobs_write_the_text_on_the_page() -> None:
    """A moved control changes the JSON and the link; a bad one gets a sentence and the last good run stays."""
    at, scope = opened_own(), f"{SCENE.table}.part"
    at.number_input(key=f"{scope}.max_num_seqs").set_value(2).run()
    text = at.text_area(key=f"{SCENE.table}.scenario").value
    assert json.loads(text)["scheduler"]["max_num_seqs"] == 2 and not at.warning
    numbers = [metric.value for metric in at.metric]
    at.number_input(key=f"{scope}.blocks").set_value(0).run()
    assert not at.exception and len(at.warning) == 1
    assert at.number_input(key=f"{scope}.blocks").value == 0
    assert [metric.value for metric in at.metric] == numbers, "the last good scenario stays"
    at.number_input(key=f"{scope}.blocks").set_value(30).run()
    assert not at.warning and [metric.value for metric in at.metric] != numbers
    at.text_area(key=f"{SCENE.table}.scenario").set_value("{").run()
    assert not at.exception and len(at.warning) == 1 and at.number_input(key=f"{scope}.blocks").disabled
    at.selectbox(key=f"{scope}.start_from").set_value("source").run()
    assert not at.warning and at.number_input(key=f"{scope}.max_num_seqs").disabled
    assert from_json(at.text_area(key=f"{SCENE.table}.scenario").value) == SOURCE


def test_the_same_requests_stand_beside_a_run() -> None:
    """Contiguous runs hold the same tokens at the same steps while none waits; paging has no external waste."""
    source = run(SOURCE)
    jobs = jobs_of(source)
    assert [(job.at, job.prompt, job.output, job.stay, job.slots) for job in jobs] == [
        (0, 7, 3, 4, 10), (1, 5, 0, 4, 5), (5, 4, 0, 2, 4), (7, 6, 0, 0, 6),
    ]  # fmt: skip
    for name in ("fragmentation", "thrash"):
        recording = run(PRESETS[name])
        shares = beside(recording, measure(recording))
        assert shares is not None and shares["paged"]["external"] == 0 < shares["oracle"]["external"]
        assert shares["oracle"]["internal"] <= shares["pow2"]["internal"] <= shares["max"]["internal"]
    alone = run(PRESETS["lru"])
    waste = simulate(jobs_of(alone), 32, "oracle", 32)
    assert list(waste.tokens) == list(measure(alone).waste.tokens), "requests of which no two live at once"


def test_a_request_longer_than_the_pool_has_no_bars() -> None:
    long = Scenario(4, 4, windows=(6,), script=(Act("add", "A", Prompt((("A", 9),))), Act("decode", "A", count=20)))
    recording = run(long)
    assert beside(recording, measure(recording)) is None
    view = SCENE.build(context(SCENE, "en", scenario=to_json(long)))
    assert view.plates and "longer than the whole pool" in str(view.facts["counts"])


def added(*prompts: int) -> dict[str, dict[str, float]]:
    """Bars beside a script that adds requests to nine blocks of four."""
    script = tuple(Act("add", name, Prompt(((name, n),))) for name, n in zip("ABC", prompts, strict=False))
    recording = run(Scenario(9, 4, script=script))
    shares = beside(recording, measure(recording))
    assert shares is not None
    return shares


def test_the_exact_length_is_exact() -> None:
    """In scripts too, whether a request gets its slots, never does, or fills the pool."""
    one = added(30, 30)["oracle"]
    assert one["tokens"] == pytest.approx(30 / 36) and one["internal"] == one["reserved"] == 0
    full = added(36)
    assert all(full[rule]["tokens"] == 1 for rule in full)
    served = run(Scenario(2, 4, requests=(Ask("A", Prompt((("A", 8),)), 1),)))
    shares = beside(served, measure(served))
    assert shares is not None and shares["oracle"]["tokens"] == 1
    for name in PRESETS:
        recording = run(PRESETS[name])
        shares = beside(recording, measure(recording))
        assert shares is not None and shares["oracle"]["internal"] == 0, name


def test_only_a_run_with_a_prefix_cache_speaks_of_hits() -> None:
    for policy in POLICIES:
        view = pa_presets.SCENE.build(context(pa_presets.SCENE, "en", preset="fragmentation", policy=policy))
        caches = POLICIES[policy].caches and PRESETS["fragmentation"].caching
        assert ("Prefix cache" in str(view.facts["counts"])) == caches
    assert "Prefix cache" in str(pa_presets.SCENE.build(context(pa_presets.SCENE, "en")).facts["counts"])


def test_the_numbers_count_steps_from_one() -> None:
    table = pa_presets.SCENE.build(context(pa_presets.SCENE, "en")).table
    assert table is not None and table["step"] == list(range(1, len(table["step"]) + 1))
    script = (Act("add", "A", Prompt((("A", 4),))), Act("finish", "A"), Act("decode", "A"))
    with pytest.raises(Problem, match="not running at step 3"):
        run(Scenario(4, 4, script=script))


def test_a_bad_link_opened_fresh_shows_the_usual_scenario() -> None:
    """With the sentence on what is wrong above the figure, for the text stands far below it on a phone."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params.update({"lang": "en", "scene": "own", "scenario": "{"})
    at.switch_page("pages/paged_attention.py")
    at.run()
    assert not at.exception and len(at.warning) == len(at.info) == 1 and at.metric
    assert at.info[0].value.startswith(at.warning[0].value)
