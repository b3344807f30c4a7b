"""Files of the reader's own on the PagedAttention page: taken, refused with one sentence, and played again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scenes import context
from tests.test_paging_import import AZURE, MOONCAKE, VIDUR
from viz_core.i18n import LANGS, Problem
from viz_core.paging.excerpt import excerpt
from viz_core.paging.film import film
from viz_core.paging.kv_events import residency
from viz_core.paging.log_file import dump_lines
from viz_core.paging.presets import LRU, PRESETS, THRASH
from viz_core.paging.residency_film import residency_film
from viz_core.paging.run import run
from viz_core.paging.scenario_file import from_json, to_json
from viz_core.paging.serving_traces import load_trace
from viz_core.trace import State
from viz_core.trace_codec import decode, encode
from viz_core.ui.cached_paged import played, replayed
from viz_core.ui.hosted import HOSTED
from viz_core.ui.scenes import pa_own, pa_recorded

STORED = {"type": "BlockStored", "block_hashes": [7, 8], "token_ids": [1, 2, 3, 4], "block_size": 2}
BRANCH = STORED | {"block_hashes": [9], "parent_block_hash": 7, "token_ids": [5, 6]}
OTHER = STORED | {"block_hashes": [5], "token_ids": [9, 9]}
REMOVED = {"type": "BlockRemoved", "block_hashes": [8]}
EVENTS = "\n".join(map(json.dumps, [[1.0, [STORED]], [2.5, [BRANCH, OTHER]], [3.0, [REMOVED]], [4.0, [STORED]]]))


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_exported_comes_back_as_the_same_film(name: str) -> None:
    recording = run(PRESETS[name])
    again = replayed("\n".join(dump_lines(recording)).encode()).recording
    for lang in LANGS:
        assert encode(film([("", again)], name), lang) == encode(film([("", recording)], name), lang)


@pytest.mark.parametrize("name", PRESETS)
def test_a_scenario_file_fills_the_editor_with_itself(name: str) -> None:
    text, note = pa_own.filled(f"{name}.scenario.json", to_json(PRESETS[name]).encode())
    assert from_json(text) == PRESETS[name] and note is None


@pytest.mark.parametrize("text", [MOONCAKE, AZURE, VIDUR])
def test_a_serving_trace_fills_the_editor_with_a_run_that_fits(text: str) -> None:
    suffix = "jsonl" if text == MOONCAKE else "csv"
    filled, note = pa_own.filled(f"trace.{suffix}", text.encode())
    scenario, rows = from_json(filled), load_trace(text)
    assert note is not None and (note.params["requests"], note.params["all"]) == (len(rows), len(rows))
    scale = int(str(note.params["scale"]))
    assert [len(ask.prompt) for ask in scenario.requests] == [max(1, row.prompt // scale) for row in rows]
    assert run(scenario).log.num_steps > 0


def test_of_a_long_trace_the_beginning_is_taken() -> None:
    rows = load_trace(MOONCAKE) * 1000
    part = excerpt(rows, 4000)
    assert 1 < part.requests < 64 and len(to_json(part.scenario)) <= 4000
    with pytest.raises(Problem):
        excerpt(rows, 40)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv"])
@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"{", b"[]", b'{"blocks":0,"block_size":4}', b"a,b\n1,2\n"])
def test_a_bad_file_for_the_editor_gets_one_sentence(name: str, data: bytes) -> None:
    with pytest.raises(Problem) as caught:
        pa_own.filled(name, data)
    assert all(caught.value.text(lang) for lang in LANGS)


def test_a_server_s_events_show_what_was_resident_when() -> None:
    trace = residency_film(residency(EVENTS.encode()), "events")
    shots = [trace.state(step) for step in range(trace.steps)]
    assert [[State(v).name for v in shot["state"]] for shot in shots] == [
        ["COMPUTED", "COMPUTED", "EMPTY", "EMPTY"],
        ["HELD", "HELD", "COMPUTED", "COMPUTED"],
        ["HELD", "EVICTED", "HELD", "HELD"],
        ["HELD", "COMPUTED", "HELD", "HELD"],
    ]
    assert list(trace.series[0].values) == [2, 4, 3, 4]
    assert shots[-1]["hue"].tolist() == [1, 1, 1, 2], "one hue for all that begins alike"
    captions = decode(encode(trace, "en")).sentences("captions")
    assert captions[2] == "2.000 s: blocks stored 0, removed 1, in the cache 3."


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("data", [EVENTS.encode(), "\n".join(dump_lines(run(LRU))).encode()])
def test_a_recorded_file_is_shown(lang: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    pa_recorded.check("it", data)
    kept = pa_recorded.uploads.Kept("it", data, "0" * 16)
    monkeypatch.setattr(pa_recorded.uploads, "kept", lambda *_: kept)
    view = pa_recorded.build(context(pa_recorded.SCENE, lang, recording="0" * 16))  # type: ignore[arg-type]
    assert view.trace is not None and view.facts["what"] == "it" and view.notice is None


def test_a_link_to_a_file_that_is_gone_says_so() -> None:
    view = pa_recorded.build(context(pa_recorded.SCENE, "en", recording="0" * 16))
    assert view.notice and view.trace is not None


@pytest.mark.parametrize("data", [b"", b"[1.0, []]", b"{}", b"\xc1", b'[1.0, [{"type": "Nothing"}]]', b"[" * 9000])
def test_a_bad_recording_gets_one_sentence(data: bytes) -> None:
    with pytest.raises(Problem) as caught:
        pa_recorded.check("it", data)
    assert all(caught.value.text(lang) for lang in LANGS)


def test_a_public_server_draws_shorter_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSIGHT_HOSTED", "1")
    lines = list(dump_lines(run(LRU)))
    late = [json.dumps(json.loads(lines[-1]) | {"step": HOSTED.steps})]
    with pytest.raises(Problem) as caught:
        pa_recorded.check("it", "\n".join([*lines[:-1], *late]).encode())
    assert caught.value.key == "paging_film_long"


LINES = list(dump_lines(run(THRASH)))


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, len(LINES) - 1),
    st.sampled_from(["op", "request", "block", "value", "step", "drop"]),
    st.sampled_from(["take", "hit", "release", "finish", "slide", "copy", "reset", "A", "Z", "", -1, 0, 3, 9, 10**9]),
)
def test_a_damaged_log_is_drawn_or_refused(at: int, field: str, value: object) -> None:
    lines = LINES.copy()
    if field == "drop":
        del lines[at]
    else:
        lines[at] = json.dumps(json.loads(lines[at]) | {field: value})
    try:
        made = replayed("\n".join(lines).encode())
    except Problem as problem:
        assert problem.text("zh")
        return
    assert made.film.steps == made.recording.log.num_steps


def test_a_rerun_of_the_scene_runs_nothing_again() -> None:
    text = to_json(THRASH)
    assert played(text) is played(text) and played(text) is not played(to_json(LRU))
