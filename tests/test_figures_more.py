"""Roofline, number lines, mirrored histogram, named points, block occupancy and stacked areas."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from viz_core.figures.areas import Band, areas
from viz_core.figures.labels import shortened
from viz_core.figures.layout import Look, alt_text, spec_bytes
from viz_core.figures.mirrored import mirrored, tally
from viz_core.figures.occupancy import occupancy, runs
from viz_core.figures.points import Point, points
from viz_core.figures.roofline import Kernel, Roof, roofline
from viz_core.figures.scales import Scale, reach
from viz_core.figures.slides import Line, slides
from viz_core.figures.theme import HUES, theme
from viz_core.i18n import LANGS, Lang, Problem

A100 = Roof("A100", 312e12, 2.0e12)


def spec(figure: Any) -> dict[str, Any]:
    return json.loads(figure.to_json())


def test_a_roof_is_the_lower_of_peak_and_bandwidth() -> None:
    made = spec(roofline(Look(), [A100], [Kernel("<s>", 62.0), Kernel("fast", 500.0)]))
    x, y = made["data"][0]["x"], made["data"][0]["y"]
    assert x[1] == 156
    assert y == [min(312e12, 2.0e12 * v) for v in x]
    assert made["data"][1]["y"] == [124e12]
    assert made["data"][2]["y"] == [312e12]
    assert [note["x"] for note in made["layout"]["annotations"][-2:]] == [math.log10(62), math.log10(500)]
    assert "<s>" not in made["data"][1]["hovertemplate"]


def test_values_stand_above_the_points_they_went_to() -> None:
    values, grid = np.array([0.1, -0.24, np.nan]), np.array([-0.25, 0.0, 0.25])
    made = spec(slides(Look(), values, [Line("Q4", grid, [0.0, -0.25, 0.0], hovers=("<b>", "x", "y"))], Scale("w")))
    ticks, strokes, hollow, solid = made["data"]
    assert hollow["x"] == [0.1, -0.24]
    assert solid["x"] == [0.0, -0.25]
    assert strokes["x"] == [0.1, 0.0, None, -0.24, -0.25, None]
    assert "&lt;b&gt;" in solid["customdata"][0]
    assert set(ticks["x"][3:]) >= {-0.25, 0.0}


def test_lines_that_look_alike_share_their_traces() -> None:
    """Fifty lines are a dozen traces, and every dot is where a line alone has it."""
    rows = [Line(f"f{k}", [0.0, 1.0], [0.0, 1.0], hovers=("a", "b"), hue=HUES[k % 2]) for k in range(50)]
    made = spec(slides(Look(), [0.1, 0.9], rows, Scale()))
    grids, first, hollow, solid, second, other = made["data"]
    assert [trace["mode"] for trace in (grids, first, second)] == ["lines"] * 3
    assert hollow["x"] == [0.1, 0.9] * 50 and hollow["y"][::2] == [k - 0.26 for k in range(50)]
    assert solid["y"] == [k for k in range(0, 50, 2) for _ in "ab"] and other["y"][0] == 1
    assert len(hollow["customdata"]) == 100 and len(solid["customdata"]) == 50


def test_a_dense_grid_is_thinned() -> None:
    made = spec(slides(Look(), [0.0, 1.0], [Line("fp16", np.linspace(0, 1, 60_000), [0.0, 1.0])], Scale()))
    assert len(made["data"][0]["x"]) < 1300


def test_a_line_needs_a_point_for_each_value() -> None:
    with pytest.raises(Problem, match="2 points for 3 values"):
        slides(Look(), [1.0, 2.0, 3.0], [Line("int8", [1.0], [1.0, 2.0])], Scale())


@given(
    st.lists(st.floats(-50, 50, width=32) | st.just(math.nan) | st.just(math.inf), max_size=80),
    st.integers(1, 50),
    st.sampled_from([1.0, 0.9]),
)
@settings(max_examples=60)
def test_no_value_is_lost_silently(values: list[float], bins: int, share: float) -> None:
    after = np.round(np.array(values, np.float32))
    found = tally(values, after, bins, share)
    assert found.before.sum() + found.after.sum() + found.left_out + found.beyond == 2 * len(values)
    assert len(found.edges) == bins + 1
    assert found.beyond == 0 or share < 1


@pytest.mark.parametrize("spacing", ["linear", "log"])
def test_both_halves_share_bins_and_counts(spacing: Any) -> None:
    values = np.random.default_rng(0).normal(size=5000)
    found = tally(values, np.round(values))
    made = spec(mirrored(Look(), found, Scale("w"), ("before", "<after>"), spacing))
    upper, lower = made["data"]
    assert sum(upper["y"]) == sum(lower["y"]) == 5000
    assert made["layout"]["yaxis2"]["range"] == made["layout"]["yaxis"]["range"][::-1]
    assert "<after>" not in json.dumps(made["data"])


@pytest.mark.parametrize("values", [[], [0.0], [2.0, 2.0], [math.nan]])
def test_a_histogram_of_next_to_nothing(values: list[float]) -> None:
    assert alt_text(mirrored(Look(), tally(values, values), Scale("w"), ("a", "b")))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(0, 3), st.sampled_from([1.0, 0.9]))
@example(1e16, 0, 1.0)
@example(-3e38, 1, 1.0)
@settings(max_examples=80)
def test_equal_and_nearly_equal_values_have_an_axis(at: float, ulps: int, share: float) -> None:
    """At any size, in float64 too: all edges of the bins differ, and all values are within them."""
    other = at
    for _ in range(ulps):
        other = float(np.nextafter(other, np.inf))
    found = tally([at] * 5, [at, other], share=share)
    assert (np.diff(found.edges) > 0).all() and found.before.sum() == 5 and found.beyond <= 1
    lines = slides(Look(), [at], [Line("a", [at], [other])], Scale())
    for ends in (reach(Scale(), [np.array([at, other])]), low_high(lines)):
        assert ends[0] <= at <= ends[1] and ends[0] < ends[1]
    assert np.isfinite(found.edges).all()


def low_high(figure: Any) -> tuple[float, float]:
    low, high = figure.layout.xaxis.range
    return float(low), float(high)


def test_points_that_are_not_finite_are_left_out() -> None:
    made = spec(points(Look(), [Point("<b>", 4.5, 20.9), Point("∞", 4.5, math.inf)], Scale("bits"), Scale("dB")))
    assert made["data"][0]["x"] == [4.5]
    assert made["data"][0]["text"] == ["&lt;b&gt;"]


def cells(figure: Any) -> np.ndarray:
    packed = spec(figure)["data"][0]["z"]
    shape = [int(length) for length in packed["shape"].split(",")]
    return np.frombuffer(base64.b64decode(packed["bdata"]), np.uint8).reshape(shape)


def test_each_owner_has_its_own_tone() -> None:
    owners = np.array([[0, 1, 2], [3, 1, 2]])
    figure = occupancy(Look(), owners, ["A", "B", "C"])
    made = spec(figure)["data"][0]
    assert np.array_equal(cells(figure), owners.T)
    for owner in range(4):
        at = (owner + 0.5) / 4
        tone = next(colour for (low, colour), (high, _) in zip(made["colorscale"][::2], made["colorscale"][1::2],
                                                              strict=True) if low <= at <= high)  # fmt: skip
        light = theme("light")
        assert tone == (light.fill(HUES[owner - 1]) if owner else light.sequential[0])


def test_what_several_own_is_grey_and_named() -> None:
    figure = occupancy(Look(), np.array([[0, 1], [0, 3]]), ["A", "B"], shared="shared")
    made = spec(figure)["data"][0]
    assert made["colorscale"][-1][1] == theme("light").shared and made["zmax"] == 3.5
    assert made["text"] == [["free", "free"], ["A", "shared"]] and "%{text}" in made["hovertemplate"]
    many = [str(i) for i in range(250)]
    assert cells(occupancy(Look(), np.array([[0, 251]]), many, shared="shared")).tolist() == [[0], [251]]


@pytest.mark.parametrize("steps", [1, 2, 3, 8, 22, 997])
def test_steps_are_counted_from_one_in_whole_ticks(steps: int) -> None:
    owners = np.ones((steps, 3), int)
    made = spec(occupancy(Look(), owners, ["A"], cursor=steps - 1))
    shown, axis = made["data"][0], made["layout"]["xaxis"]
    assert (shown["x0"], shown["dx"], made["layout"]["shapes"][0]["x0"]) == (1, 1, steps)
    assert axis["range"] == [0.5, steps + 0.5] and axis["tickvals"][0] == 1 and len(axis["tickvals"]) <= 9
    assert all(isinstance(at, int) and 1 <= at <= steps for at in axis["tickvals"])
    assert made["layout"]["yaxis"]["tickvals"] == [0, 1, 2]


def test_a_long_name_keeps_both_ends_in_its_run_and_is_whole_in_the_hover() -> None:
    name = "request-of-the-first-reader-number-17"
    made = spec(occupancy(Look(), np.ones((4, 2), int), [name]))["data"]
    assert made[1]["text"] == [shortened(name, 12)] * 2 and len(shortened(name, 12)) == 12
    assert shortened(name, 12).startswith("reques") and shortened(name, 12).endswith("er-17")
    assert made[0]["text"][0] == [name] * 4
    assert len(spec(occupancy(Look(), np.ones((400, 2), int), [name] * 1))["data"]) == 2
    short = np.array([[1, 0]] * 1 + [[0, 0]] * 399)
    assert made[1]["text"] and spec(occupancy(Look(), short, [name]))["data"][1:] == [], "no room, no name"


def test_a_long_run_is_thinned_and_says_so() -> None:
    owners = np.random.default_rng(0).integers(0, 30, (5000, 512))
    figure = occupancy(Look(), owners, [f"r{i}" for i in range(30)])
    assert spec_bytes(figure) < 500_000
    assert "one in 8" in spec(figure)["layout"]["xaxis"]["title"]["text"]
    assert np.array_equal(cells(figure), owners[::8].T)


def test_an_owner_needs_a_name() -> None:
    with pytest.raises(Problem, match="Give each owner a name"):
        occupancy(Look(), np.array([[2]]), ["A"])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_runs_rebuild_the_row(row: list[int]) -> None:
    found = runs(np.array(row, np.uint8))
    assert [row[a] for a, b in found for _ in range(b - a)] == row
    assert all(row[a] != row[a - 1] for a, _ in found[1:])


def test_a_band_is_named_with_its_peak() -> None:
    figure = areas(Look(), [1, 2, 3], [Band("tokens", [1, 9, 0], "A")], Scale(), Scale())
    assert any("tokens <b>≤ 9</b>" in note.text for note in figure.layout.annotations)


def test_areas_stack_in_order() -> None:
    made = spec(areas(Look(), [0, 1, 2], [Band("<i>", [1, 2, 3], "A"), Band("free", [3, 2, 1], "C")], Scale(), Scale()))
    assert [trace["y"] for trace in made["data"]] == [[1, 2, 3, 3], [3, 2, 1, 1]], "the last step has a width too"
    assert [made["data"][0][key] for key in ("x", "customdata")] == [[0, 1, 2, 3], [0, 1, 2, 2]]
    assert made["layout"]["xaxis"]["range"][1] >= 3
    assert made["layout"]["yaxis"]["range"][0] == 0
    with pytest.raises(Problem, match="one for each step"):
        areas(Look(), [0, 1], [Band("a", [1], "A")], Scale(), Scale())


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("width", [1100, 358])
def test_words_and_budget(lang: Lang, width: int) -> None:
    look = Look(theme("dark"), lang, width)
    made = [
        roofline(look, [A100], [Kernel("k", 9.0)]),
        slides(look, [0.1, 0.2], [Line("int8", [0.1, 0.2], [0.1, 0.2])], Scale("w")),
        mirrored(look, tally([1.0, 2.0], [1.0, 2.0]), Scale("w"), ("a", "b")),
        points(look, [Point("p", 1.0, 2.0)], Scale("x"), Scale("y")),
        occupancy(look, np.array([[0, 1]]), ["A"], cursor=0),
        areas(look, [0, 1], [Band("a", [1, 2], "A")], Scale("x"), Scale("y"), cursor=1),
        occupancy(look, np.zeros((0, 0), int), []),
        areas(look, [], [], Scale(), Scale()),
        points(look, [], Scale(), Scale()),
        roofline(look, [], []),
        slides(look, [], [], Scale()),
    ]
    for figure in made:
        assert alt_text(figure)
        assert spec_bytes(figure) < 50_000
