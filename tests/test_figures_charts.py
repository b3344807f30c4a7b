"""Curves, bars, the time line and the shared layout: ranges, names, numbers, escapes, both languages."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_core.figures.bars import Bar, Stack, bars, stacks
from viz_core.figures.curves import Curve, Panel, curves, panels
from viz_core.figures.end_names import spread
from viz_core.figures.layout import Look, alt_text, config, spec_bytes
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, place, reach, ticks
from viz_core.figures.theme import theme
from viz_core.figures.timeline import Ridge, Segment, timeline, verdict
from viz_core.i18n import LANGS, Lang, Problem

N = np.arange(1, 101)


def spec(figure: Any) -> dict[str, Any]:
    return json.loads(figure.to_json())


def looks() -> list[Look]:
    return [Look(theme(mode), lang, width, zoom) for mode in ("light", "dark") for lang in LANGS
            for width, zoom in ((920, 1.0), (358, 1.0), (1200, 1.5))]  # fmt: skip


def some_figures(look: Look) -> list[Any]:
    step = Segment("prefill", 300, 0.3, 290.0)
    return [
        curves(look, [Curve("a", N, N**2, end="10,000"), Curve("<b>", N, 2 * N)], Scale("n"), Scale("y"), cursor=5),
        curves(look, [Curve("a", N, N**3.0)], Scale("n", "log"), Scale("y", "log"), ridges=[(50.0, "A100")]),
        bars(look, [Bar("one", 3.0), Bar("two", 0.0, pale=True, detail="<i>")], Scale("kB")),
        stacks(look, [Stack("x", (1.0, 2.0)), Stack("y", (0.0, 3.0))], ["p", "q"], Scale("%")),
        timeline(look, [step, *[Segment("decode", 1, 0.02, 1.0)] * 20], [Ridge("A100", 153.0)], Scale("s")),
    ]


@pytest.mark.parametrize("look", looks(), ids=lambda look: f"{look.theme.name}-{look.lang}-{look.width}")
def test_every_chart_has_words_a_budget_and_readable_type(look: Look) -> None:
    for figure in some_figures(look):
        made = spec(figure)
        assert alt_text(figure)
        assert spec_bytes(figure) < 100_000
        assert made["layout"]["paper_bgcolor"] == "rgba(0,0,0,0)"
        sizes = [note["font"]["size"] for note in made["layout"].get("annotations", [])]
        sizes += [made["layout"][axis]["tickfont"]["size"] for axis in ("xaxis", "yaxis")]
        assert min(sizes) >= (20 if look.zoom > 1 else 12)


def test_the_alt_text_is_in_the_readers_language() -> None:
    for zh, en in zip(some_figures(Look(lang="zh")), some_figures(Look(lang="en")), strict=True):
        assert alt_text(zh) != alt_text(en)


def test_a_gap_in_a_curve_is_null() -> None:
    made = spec(curves(Look(), [Curve("a", [1, 2, 3], [1.0, np.nan, 3.0])], Scale(), Scale()))
    assert made["data"][0]["y"] == [1.0, None, 3.0]


def test_a_curve_needs_one_y_for_each_x() -> None:
    with pytest.raises(Problem, match="one y for each x"):
        curves(Look(), [Curve("a", [1, 2], [1.0])], Scale(), Scale())


def test_what_is_left_over_is_pale() -> None:
    for mode in ("light", "dark"):
        look = Look(theme(mode))
        made = spec(stacks(look, [Stack("x", (60.0, 40.0))], ["used", "free"], Scale("%"), rest=True))["data"]
        assert made[1]["marker"]["color"] == look.theme.sequential[0] and made[1]["textfont"]["color"] == look.theme.ink
        assert made[0]["marker"]["color"] == look.theme.fill("A")


def test_names_are_text() -> None:
    made = spec(curves(Look(), [Curve("<script>$x$", [1, 2], [1, 2])], Scale("<b>"), Scale("$y$")))
    del made["layout"]["meta"]  # the spoken description is an attribute, not markup
    assert "<script" not in json.dumps(made)
    assert made["layout"]["xaxis"]["title"]["text"] == "&lt;b&gt;"
    assert all("$" not in note["text"] for note in made["layout"]["annotations"])


@pytest.mark.parametrize(
    ("values", "low", "high"), [([1, 10], 0, 10), ([90, 100], 90, 100), ([-2, 2], -2, 2), ([5, 5], 5, 5)]
)
def test_the_range_holds_the_values(values: list[float], low: float, high: float) -> None:
    found = reach(Scale(), [np.array(values, float)])
    assert found[0] <= low
    assert found[1] > high
    assert found[1] - found[0] < 1.2 * max(high - low, 2)


def test_a_log_range_ignores_what_it_cannot_show() -> None:
    low, high = reach(Scale(spacing="log"), [np.array([0.0, -1, 10, 1000, np.nan])])
    assert 5 < low < 10
    assert 1000 < high < 2000
    assert place(100.0, (10.0, 1000.0), Scale(spacing="log")) == pytest.approx(0.5)


def test_an_empty_chart_is_no_error() -> None:
    assert curves(Look(), [], Scale(), Scale()) is not None
    assert curves(Look(), [Curve("a", [], [])], Scale(), Scale(spacing="log")) is not None
    assert bars(Look(), [], Scale()) is not None
    assert stacks(Look(), [], [], Scale()) is not None
    assert timeline(Look(), [], [], Scale()) is not None


@given(st.lists(st.floats(0, 300), max_size=6))
def test_spread_names_do_not_touch_and_keep_their_order(places: list[float]) -> None:
    out = spread(places, 17)
    order = sorted(range(len(places)), key=lambda i: places[i])
    assert all(out[b] - out[a] > 16.5 for a, b in pairwise(order))


@pytest.mark.parametrize(
    ("value", "text"),
    [(10_100, "10,100"), (0.0123, "0.0123"), (-3.5, "−3.5"), (1234.5, "1,234"), (0, "0"), (1.3e-7, "1.3 × 10⁻⁷")],
)
def test_numbers_in_words(value: float, text: str) -> None:
    assert spoken(value) == text


def test_the_verdict_is_the_comparison_with_the_ridge() -> None:
    assert verdict(Segment("prefill", 1, 1, 153.1), Ridge("A100", 153.0)) == "figure.compute_bound"
    assert verdict(Segment("decode", 1, 1, 153.0), Ridge("A100", 153.0)) == "figure.memory_bound"


@pytest.mark.parametrize("lang", LANGS)
def test_the_time_line_lays_passes_end_to_end(lang: Lang) -> None:
    passes = [Segment("prefill", 10, 2.0, 50.0), Segment("decode", 1, 1.0, 1.0), Segment("decode", 1, 1.5, 1.0)]
    made = spec(timeline(Look(lang=lang), passes, [Ridge("A100", 153.0)], Scale("s")))
    bar = [trace for trace in made["data"] if trace["type"] == "bar"]
    edges = [(x - w / 2, x + w / 2) for trace in bar for x, w in zip(trace["x"], trace["width"], strict=True)]
    assert edges == [(0, 2), (2, 3), (3, 4.5)]
    assert "A100" in bar[0]["customdata"][0]


def test_stacked_parts_are_told_apart_without_colour() -> None:
    made = spec(stacks(Look(), [Stack("x", (1.0, 2.0, 3.0))], ["p", "q", "r"], Scale("%")))
    assert len({trace["marker"]["pattern"]["shape"] for trace in made["data"]}) == 3


def test_the_image_button_saves_one_of_two_formats() -> None:
    assert config("head", "svg")["toImageButtonOptions"]["format"] == "svg"
    assert config("head")["toImageButtonOptions"]["filename"] == "head"


@pytest.mark.parametrize("width", [920, 358])
def test_panels_leave_room_for_names_and_keep_their_proportion(width: int) -> None:
    lines = [Curve("a", N, N), Curve("b", N, 2 * N)]
    spans = ((0.5, 1.0), (0.25, 0.5), (0.0, 1.0))
    parts = [Panel(lines, Scale(name), span) for name, span in zip("abc", spans, strict=True)]
    made = spec(panels(Look(width=width), parts, Scale("x"), height=500))["layout"]
    one, two, three = (made[f"yaxis{k}"]["domain"] for k in ("", "2", "3"))
    area = made["height"] - made["margin"]["t"] - 52
    needed = 30 + (40 if width < 480 else 0)
    assert one[1] == 1
    assert three[0] == pytest.approx(0, abs=1e-9)
    assert (one[0] - two[1]) * area == pytest.approx(needed, abs=1)
    assert (two[0] - three[1]) * area == pytest.approx(needed, abs=1)
    assert (one[1] - one[0]) == pytest.approx(2 * (two[1] - two[0]))


def test_ticks_of_a_log_axis_are_written_in_the_size_of_others() -> None:
    """Plotly draws its own powers a quarter larger; these are words with raised digits, each at its power."""
    found = ticks(Scale(spacing="log"))
    said = dict(zip(found["tickvals"], found["ticktext"], strict=True))
    assert "exponentformat" not in found
    assert [said[v] for v in (1e-45, 0.1, 1.0, 10.0, 1e5, 1e38)] == ["10⁻⁴⁵", "0.1", "1", "10", "10⁵", "10³⁸"]


def test_points_on_the_edge_of_a_curve_are_drawn_whole() -> None:
    lines = [Curve("a", [4, 5], [18, 20], points=True), Curve("b", [4, 5], [18, 20])]
    figure = curves(looks()[0], lines, Scale(), Scale())
    assert [trace.cliponaxis for trace in figure.data] == [False, True]
