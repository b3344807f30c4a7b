"""The trace: what a builder records, and that its bytes say the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.traces import any_trace, blocks, recorded
from viz_core.i18n import LANGS, Lang, Problem, t
from viz_core.trace import MOST_CELLS, State, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.trace_codec import Decoded, decode, encode, said


def small(settle: State | None = None) -> TraceBuilder:
    builder = TraceBuilder(settle=settle)
    builder.lane("K", 3, labels=list("abc"))
    return builder


def test_a_step_carries_only_what_changed() -> None:
    builder = small()
    builder.set("hue", range(3), 2)
    builder.step("player.first")
    builder.set("hue", 1, 2)  # as before: no change
    builder.set("hue", 2, 1)
    builder.set("hue", 2, 2)  # taken back within the step: no change
    builder.set("hue", 0, 3)
    builder.step("player.last")
    plane = builder.build().planes["hue"]
    assert plane.counts.tolist() == [3, 1]
    assert (plane.cells[-1], plane.values[-1]) == (0, 3)


def test_what_is_computed_settles_in_the_next_step() -> None:
    builder = small(settle=State.REUSED)
    seen = []
    for cells in ([0, 1], [1, 2], []):
        builder.set("state", cells, State.COMPUTED)
        builder.cursor(cells)
        builder.step("player.step")
    trace = builder.build()
    seen = [trace.state(step) for step in range(3)]
    assert [s["state"].tolist() for s in seen] == [[3, 3, 0], [4, 3, 3], [4, 4, 4]]
    assert [s["cursor"].tolist() for s in seen] == [[1, 1, 0], [0, 1, 1], [0, 0, 0]]


def test_planes_that_start_late_are_zero_before() -> None:
    builder = small()
    builder.step("player.first")
    builder.set("ref", 2, 7)
    builder.step("player.last")
    trace = builder.build()
    assert [trace.state(step)["ref"].tolist() for step in (0, 1)] == [[0, 0, 0], [0, 0, 7]]


def test_captions_speak_both_languages() -> None:
    builder = small()
    builder.step("player.filled", n=3, full=Text("player.step"))
    trace = builder.build()
    assert decode(encode(trace, "en")).sentences("captions") == ["3 of Step filled"]
    assert decode(encode(trace, "zh")).sentences("captions") == ["已填 3 / 步"]


def test_half_a_character_becomes_a_visible_mark() -> None:
    builder = TraceBuilder()
    builder.lane("\ud800", 1, labels=["a\udfff"])
    builder.step("player.first")
    (lane,) = decode(encode(builder.build(), "en")).header["lanes"]
    assert (lane["label"], lane["labels"]) == ("\ufffd", ["a\ufffd"])


def test_too_many_cells_are_a_sentence() -> None:
    builder = small()
    with pytest.raises(Problem, match=str(MOST_CELLS)):
        builder.lane("pool", MOST_CELLS)


@pytest.mark.parametrize("misuse", [
    lambda b: b.set("colour", 0, 1), lambda b: b.set("hue", 3, 1), lambda b: b.set("hue", 0, -1),
    lambda b: b.set("hue", [0, 1], [1, -1]), lambda b: b.value("player.step", 1), lambda b: b.build(),
    lambda b: b.lane("K", 2, labels=["one"]),
])  # fmt: skip
def test_misuse_is_caught_where_it_happens(misuse: object) -> None:
    with pytest.raises(AssertionError):
        misuse(small())  # type: ignore[operator]


@given(any_trace())
@settings(max_examples=60, deadline=None)
def test_bytes_say_what_the_trace_says(trace: Trace) -> None:
    for lang in LANGS:
        decoded = decode(encode(trace, lang, {"start": 1}))
        assert decoded.header["start"] == 1
        same(trace, lang, decoded)


@pytest.mark.parametrize("trace", [blocks(64, 3000), recorded()], ids=["blocks", "recorded"])
def test_habits_twins_and_differences_give_the_deltas_back(trace: Trace) -> None:
    decoded = decode(encode(trace, "en"))
    same(trace, "en", decoded)
    assert any(apart for _, _, apart in decoded.header["arrays"])
    changed = sum(int(plane.counts.sum()) for plane in trace.planes.values())
    assert len(decoded.arrays[decoded.header["changes"][3]]) < changed / 2


def test_what_follows_from_another_number_travels_once() -> None:
    planes = decode(encode(recorded(), "en")).header["planes"]
    assert planes["text"]["like"] == "key", "a block's name follows from its number"
    assert planes["fill"]["rising"], "a block is filled a token at a time"


def same(trace: Trace, lang: Lang, decoded: Decoded) -> None:
    assert decoded.planes.keys() == trace.planes.keys()
    for name, plane in trace.planes.items():
        again = decoded.planes[name]
        for part in ("counts", "cells", "values"):
            assert np.array_equal(getattr(plane, part), getattr(again, part))
    for table, messages in (("captions", trace.captions), ("details", trace.details)):
        assert decoded.sentences(table) == [said(messages[i], lang) for i in range(len(messages))]
    events = {(entry["kind"], step) for entry in decoded.header["events"] for step in decoded.arrays[entry["steps"]]}
    assert events == {(t(event.kind, lang), event.step) for event in trace.events}


@given(any_trace())
@settings(max_examples=40, deadline=None)
def test_deltas_replayed_one_by_one_give_the_state(trace: Trace) -> None:
    for name, plane in trace.planes.items():
        now, at = [0] * trace.cells, 0
        for step in range(trace.steps):
            for i in range(at, at + int(plane.counts[step])):
                assert now[plane.cells[i]] != plane.values[i], "a delta that changes nothing"
                now[plane.cells[i]] = int(plane.values[i])
            at += int(plane.counts[step])
            assert trace.state(step)[name].tolist() == now


def test_numbers_are_rounded_once() -> None:
    builder = small()
    builder.series("player.step", places=2, unit="%")
    builder.series("player.speed", unit="bytes")
    builder.series("player.save", places=None)
    for percent, size, error in ((12.341, 640, 2.44e-7), (None, 3 * 2**20, 0.0), (float("-inf"), 2**19, None)):
        builder.value("player.step", percent)
        builder.value("player.speed", size)
        builder.value("player.save", error)
        builder.step("player.first")
    decoded = decode(encode(builder.build(), "en"))
    percent, size, error = decoded.header["series"]
    assert decoded.arrays[percent["line"]].astype(str).tolist() == ["1234.0", "nan", "-inf"]
    assert (size["unit"], size["places"], decoded.arrays[size["line"]].tolist()) == ("MiB", 1, [0, 30, 5])
    assert [error["texts"][i] for i in decoded.arrays[error["at"]]] == ["2.4e−7", "0", ""]
