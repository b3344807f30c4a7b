"""A run as a Trace shows exactly the states of the log; K/V read through a block table give the same attention."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core.attention.paged import Paged
from viz_core.model.capture import Capture
from viz_core.model.paged import attend_paged, placed, scatter, worst_difference
from viz_core.paging.config import SchedulerConfig
from viz_core.paging.film import film, owners, requests_of
from viz_core.paging.film_lanes import MOST_QUEUED, QUEUE_HEAD
from viz_core.paging.presets import PRESETS, SOURCE, under
from viz_core.paging.replay import replay, state_at
from viz_core.paging.run import run
from viz_core.paging.scenario import Act, Ask, Prompt, Scenario
from viz_core.trace import State


@pytest.mark.parametrize("name", PRESETS)
def test_every_frame_is_the_pool(name: str) -> None:
    scenario = PRESETS[name]
    recording = run(scenario)
    trace = film([(name, recording)], name)
    lanes = {getattr(lane.label, "key", ""): lane for lane in trace.lanes}
    pool, queue = lanes["paging.lane.pool"], lanes["paging.lane.queue"]
    null = int(recording.config.rules.null_block)
    assert trace.steps == recording.log.num_steps
    for step in range(trace.steps):
        planes, state = trace.state(step), state_at(recording.config, recording.log, step)
        cells = slice(pool.first, pool.first + pool.count)
        assert list(planes["ref"][cells]) == list(state.ref)[null:]
        assert [s != State.FREE for s in planes["state"][cells]] == [r > 0 for r in list(state.ref)[null:]]
        fill = state.fill()
        filled = [fill[b] if state.ref[b] else 0 for b in range(null, recording.config.num_blocks)]
        assert list(planes["fill"][cells]) == filled
        hues = {name: i for i, name in enumerate(requests_of(recording.log), 1)}
        for block, hue in enumerate(planes["hue"][cells], null):
            holders = {hues[n] for n, tables in state.tables.items() if any(block in table for table in tables)}
            assert hue in holders or (not holders and (hue == 0 or state.node[block]))
        tables = lanes["paging.lane.tables"]
        width = tables.columns
        for name, row in hues.items():
            first = tables.first + (row - 1) * width
            table = list(state.tables.get(name, [[]])[0])
            shown = [f"P{b - null}" if b or not null else "" for b in table] + [""] * (width - len(table))
            assert [trace.texts[i] for i in planes["text"][first : first + width]] == shown
        texts = [trace.texts[i] for i in planes["text"][queue.first : queue.first + queue.count]]
        assert [text for text in texts if text] == [f"P{block - null}" for block in state.queue.order()]


@pytest.mark.parametrize("policy", ["vllm-0.33", "vllm-classic", "early-vllm"])
def test_a_crowded_pool_is_drawn_as_it_is(policy: str) -> None:
    """Preemptions, prefixes held by several and evicted blocks, over hundreds of steps."""
    requests = tuple(
        Ask(f"r{i}", Prompt((("s", 8), (f"r{i}", 3 + 5 * i % 23))), 20 + 7 * i % 31, at=3 * i) for i in range(13)
    )
    recording = run(Scenario(24, 4, policy, policy != "early-vllm", requests=requests))
    trace = film([("", recording)], "")
    null, first = int(recording.config.rules.null_block), trace.lanes[-2].first
    names = requests_of(recording.log)
    for step, state in enumerate(replay(recording.config, recording.log)):
        fill, planes = state.fill(), {name: plane.at(step, trace.cells) for name, plane in trace.planes.items()}
        for block in range(null, recording.config.num_blocks):
            cell, held = first + block - null, state.ref[block] > 0
            assert planes["ref"][cell] == state.ref[block] and planes["fill"][cell] == (fill[block] if held else 0)
            assert planes["hashed"][cell] == (state.node[block] > 0) if "hashed" in planes else not state.node[block]
            if held:
                assert block in state.tables[names[planes["hue"][cell] - 1]][0]


def test_a_reset_is_seen_in_every_cell() -> None:
    scenario = Scenario(6, 2, script=(*PRESETS["aligned"].script[:1], Act("finish", "A"), Act("reset")))
    trace = film([("", run(scenario))], "")
    assert trace.state(1)["hashed"].any() and not trace.state(2)["hashed"].any()


def test_tables_beside_each_other_show_both_runs() -> None:
    runs = [(code, run(under(SOURCE, code, code == "vllm-0.33"))) for code in ("seed-fifo", "vllm-0.33")]
    trace = film(runs, "both")
    tables = [lane for lane in trace.lanes if getattr(lane.label, "key", "") == "paging.lane.tables"]
    ends = []
    for lane in tables:
        text = trace.state(trace.steps - 1)["text"]
        ends.append([trace.texts[i] for i in text[lane.first : lane.first + lane.count]])
    assert ends == [["P0", "P1", "P4", "", "", "P5", "P6", "P7"], ["P0", "P1", "P4", "", "", "P5", "P3", "P6"]]


def test_owners_follow_the_tables() -> None:
    recording = run(SOURCE)
    assert list(owners(recording)[-1]) == [1, 1, 0, 0, 1, 3, 4, 4, 0]


def test_a_block_of_several_is_nobody_s_own() -> None:
    recording = run(PRESETS["shared_prompt"])
    rows, shared = owners(recording), len(requests_of(recording.log)) + 1
    for row, state in zip(rows, replay(recording.config, recording.log), strict=True):
        assert [owner == shared for owner in row] == [count > 1 for count in list(state.ref)[1:]]
    assert (rows == shared).any()


def test_a_hybrid_model_has_a_table_a_group() -> None:
    recording = run(Scenario(12, 4, windows=(0, 6), script=PRESETS["window"].script))
    trace = film([("it", recording)], "")
    full, window = trace.lanes[:2]
    assert [getattr(lane.label, "key", "") for lane in (full, window)] == [
        "paging.lane.tables_full", "paging.lane.tables_window",
    ]  # fmt: skip
    for step, state in enumerate(replay(recording.config, recording.log)):
        texts = [trace.texts[v] for v in trace.planes["text"].at(step, trace.cells)]
        for group, lane in enumerate((full, window)):
            for row, name in enumerate(lane.row_names):
                table = state.tables[name][group] if name in state.tables else ()
                first = lane.first + row * lane.columns
                assert texts[first : first + len(table)] == [f"P{block - 1}" if block else "" for block in table]
    assert any(block == 0 for block in state.tables["B"][1]) or state.computed["B"] < 10


def test_a_table_entry_names_only_tokens_that_are_there() -> None:
    for name in PRESETS:
        recording = run(PRESETS[name])
        trace = film([("", recording)], "")
        details = trace.planes["detail"]
        tables = trace.lanes[0]
        for step, state in enumerate(replay(recording.config, recording.log)):
            for at in details.at(step, trace.cells)[tables.first : tables.first + tables.count]:
                told = trace.details[int(at) - 1].params if at else {}
                if "last" in told:
                    assert told["last"] < state.computed[str(told["request"])]


def captured(n: int, window: int | None = None) -> Capture:
    """q, k and v of two layers, 4 query heads on 2 KV heads."""
    rng, capture = np.random.default_rng(n), Capture()
    for layer in range(2):
        q, k, v = (rng.standard_normal((heads, n, 8)).astype(np.float32) for heads in (4, 2, 2))
        capture.keep(layer, q, k, v, window, None)
    return capture


@pytest.mark.parametrize("size", [1, 3, 4, 16])
@pytest.mark.parametrize("window", [None, 5])
def test_attention_through_a_table_is_attention(size: int, window: int | None) -> None:
    place = placed(list(range(13)), size)
    assert list(place.table) != list(range(len(place.table)))
    assert worst_difference(captured(13, window), place.table, place.blocks, size) < 1e-12


def test_a_wrong_table_shows() -> None:
    """The mutants of a paged gather: identity table, table shifted by one block."""
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal(8), rng.standard_normal((12, 8)), rng.standard_normal((12, 8))
    table = (5, 2, 7)
    pools = [scatter(rows, table, 9, 4) for rows in (k, v)]
    right = attend_paged(q, *(Paged(pool, table, 12) for pool in pools), 4)
    for wrong in ((0, 1, 2), (2, 7, 5), (6, 3, 8)):
        other = attend_paged(q, *(Paged(pool, wrong, 12) for pool in pools), 4)
        if wrong == (2, 7, 5):  # a permutation of whole blocks: attention itself does not mind the order of keys
            assert np.allclose(other, right)
        else:
            assert not np.allclose(other, right)


@pytest.mark.parametrize(("tokens", "places"), [(1990, MOST_QUEUED), (2010, QUEUE_HEAD)])
def test_a_long_run_draws_less_of_its_queue(tokens: int, places: int) -> None:
    scenario = Scenario(100, 256, requests=(Ask("A", Prompt((("A", 1),)), tokens),))
    assert film([("", run(scenario))], "").lanes[-1].count == places


def test_who_has_not_begun_is_said_to_wait() -> None:
    requests = tuple(Ask(name, Prompt(((name, 3),)), 2) for name in "ABC")
    recording = run(Scenario(9, 4, requests=requests, scheduler=SchedulerConfig(max_num_seqs=1)))
    captions = film([("", recording)], "").captions
    assert [captions[step].params["waiting"] for step in range(len(captions))] == [2, 2, 1, 1, 0, 0]
