"""All heads at once, two matrices together, the loss curve and the probes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.figures.cells import Matrix, causal
from viz_core.figures.compare import minus, side_by_side
from viz_core.figures.dots import Measure, dots
from viz_core.figures.labels import labels
from viz_core.figures.layout import Look, alt_text, spec_bytes
from viz_core.figures.mosaic import BRIGHT, Head, cells_a_side, mosaic, pool
from viz_core.figures.scales import Scale
from viz_core.figures.theme import theme
from viz_core.figures.training import Column, read_log, training
from viz_core.i18n import LANGS, Lang, Problem


def spec(figure: Any) -> dict[str, Any]:
    return json.loads(figure.to_json())


def image(figure: Any) -> np.ndarray:
    packed = spec(figure)["data"][0]["z"]
    assert packed["dtype"] == "u1"
    rows, columns = (int(length) for length in packed["shape"].split(","))
    return np.frombuffer(base64.b64decode(packed["bdata"]), np.uint8).reshape(rows, columns)


def model(layers: int, heads: int) -> list[Head]:
    return [Head(layer, head, "0.5") for layer in range(layers) for head in range(heads)]


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 20), st.integers(0, 9))
@settings(max_examples=60)
def test_pooling_keeps_the_largest_of_each_square(n: int, m: int, side: int, seed: int) -> None:
    weights = np.random.default_rng(seed).random((n, m))
    weights[np.random.default_rng(seed + 1).random((n, m)) < 0.3] = np.nan
    small = pool(weights, side)
    step = -(-max(n, m) // side)
    assert max(small.shape) <= side
    for i in range(small.shape[0]):
        for j in range(small.shape[1]):
            square = weights[i * step : (i + 1) * step, j * step : (j + 1) * step]
            seen = square[~np.isnan(square)]
            assert np.isnan(small[i, j]) if not seen.size else small[i, j] == np.float32(seen.max())


def test_pooling_keeps_a_diagonal() -> None:
    """The mean would fade it to a fifth; the maximum leaves it at 1."""
    small = pool(causal(np.eye(200)), 40)
    assert np.array_equal(np.diag(small), np.ones(40))


SIZES = [(4, 4, 512), (30, 9, 52), (30, 9, 512), (32, 32, 200), (1, 1, 1)]


@pytest.mark.parametrize(("layers", "heads", "tokens"), SIZES)
@pytest.mark.parametrize("width", [920, 358])
def test_budget(layers: int, heads: int, tokens: int, width: int) -> None:
    look, named = Look(width=width), model(layers, heads)
    side = cells_a_side(look, named, tokens)
    head = pool(causal(np.random.default_rng(0).random((tokens, tokens))), side)
    figure = mosaic(look, np.stack([head] * len(named)), named, tokens)
    assert spec_bytes(figure) < 1_000_000
    assert len(spec(figure)["data"][1]["x"]) == len(named)


@pytest.mark.parametrize("width", [920, 358])
def test_each_tile_stands_where_its_click_says(width: int) -> None:
    """The mean tone under every click target tells the head: tile k has the value k + 1."""
    named = model(3, 4)
    tiles = np.stack([np.full((5, 5), (k + 1) / 12) for k in range(12)])
    figure = mosaic(Look(width=width), tiles, named, 5, top=1.0)
    made, cells = spec(figure), image(figure)
    pitch = round(1 / made["data"][0]["dx"])
    for k, (x, y) in enumerate(zip(made["data"][1]["x"], made["data"][1]["y"], strict=True)):
        tile = cells[int(y) * pitch : int(y + 1) * pitch, int(x) * pitch : int(x + 1) * pitch]
        assert set(np.unique(tile)) == {0, 1 + round((BRIGHT - 1) * (k + 1) / 12)}
        assert (tile > 0).sum() == 25
        assert made["data"][1]["customdata"][k] == [named[k].layer, named[k].head]


def test_the_callers_order_is_kept() -> None:
    order = [Head(2, 1), Head(0, 0), Head(1, 3)]
    made = spec(mosaic(Look(), np.ones((3, 2, 2)), order, 2))
    assert made["data"][1]["customdata"] == [[2, 1], [0, 0], [1, 3]]
    assert made["data"][1]["y"] == [0.5, 0.5, 0.5]


def test_zero_is_a_tone_and_masked_is_empty() -> None:
    cells = image(mosaic(Look(), np.array([[[0.0, np.nan], [0.5, 0.5]]]), [Head(0, 0)], 2, top=0.5))
    assert {0, 1, BRIGHT} == set(np.unique(cells))
    assert (cells == 1).sum() == 1


def test_the_chosen_head_is_framed_and_no_other() -> None:
    made = spec(mosaic(Look(), np.ones((4, 2, 2)), model(2, 2), 2, chosen=(0, 0)))
    (shape,), (low, high) = made["layout"]["shapes"], made["layout"]["xaxis"]["range"]
    tile = 2 * made["data"][0]["dx"]  # 2 cells; tiles begin at 0 and 1, each followed by its gutter
    assert low <= shape["x0"] < 0 < tile < shape["x1"] < 1 < 1 + tile < high + 1e-9
    assert (shape["y0"], shape["y1"]) == (0, 1)


@pytest.mark.parametrize("lang", LANGS)
def test_pooling_is_said(lang: Lang) -> None:
    look = Look(lang=lang)
    pooled = spec(mosaic(look, np.ones((4, 40, 40)), model(2, 2), 200))["layout"]["annotations"][0]["text"]
    plain = spec(mosaic(look, np.ones((4, 40, 40)), model(2, 2), 40))["layout"]["annotations"][0]["text"]
    assert "5 × 5" in pooled
    assert "5 × 5" not in plain


def test_what_a_mosaic_refuses() -> None:
    with pytest.raises(Problem, match="3 tiles for 4 heads"):
        mosaic(Look(), np.ones((3, 2, 2)), model(2, 2), 2)
    with pytest.raises(Problem, match="Pool"):
        mosaic(Look(), np.ones((4, 900, 900), np.float32), model(2, 2), 900)
    assert alt_text(mosaic(Look(), np.ones((0, 1, 1)), [], 0))


def matrix(pieces: str, seed: int) -> Matrix:
    weights = np.random.default_rng(seed).random((len(pieces),) * 2)
    axis = labels(list(pieces), "plain", "en")
    return Matrix(causal(weights), axis, axis)


def test_two_heads_side_by_side_share_their_range() -> None:
    one, two = side_by_side(Look(), [matrix("abcd", 1), matrix("abcd", 2)], ["L0 H0", "<b>"])
    assert spec(one)["data"][0]["zmax"] == spec(two)["data"][0]["zmax"]
    assert "L0 H0" in spec(one)["layout"]["annotations"][0]["text"]
    assert "&lt;b&gt;" in spec(two)["layout"]["annotations"][0]["text"]


def test_a_difference_is_the_difference() -> None:
    one, two = matrix("ab<", 1), matrix("axc", 2)
    both = minus(one, two, "Δ")
    assert np.array_equal(both.values, one.values - two.values, equal_nan=True)
    assert both.keys.texts == ("a", "b/x", "</c")
    assert both.keys.hovers[0] == one.keys.hovers[0]
    assert "&lt;" in both.keys.hovers[2]
    with pytest.raises(Problem, match="no difference"):
        minus(one, matrix("ab", 1), "Δ")


def test_the_loss_curve_shows_the_logs_own_numbers(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("step,en,copied\n100,2.5,0\n200,nan,1.5\n300,1.25,99.7\n")
    log = read_log(file, ["step", "en", "copied"])
    copied = [Column("copied", "copied", "C", " %")]
    made = spec(training(Look(), log, Scale("step"), Scale("bits"), [Column("en", "English", "A")], Scale("%"), copied))
    assert made["data"][0]["y"] == [2.5, None, 1.25]
    assert made["data"][1]["y"] == [0, 1.5, 99.7]
    assert any("99.7 %" in note["text"] for note in made["layout"]["annotations"])
    assert made["layout"]["yaxis2"]["domain"][1] < made["layout"]["yaxis"]["domain"][0]


def test_a_field_that_is_no_finite_number_is_a_gap(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("step,en\n1,inf\n2,\n3,x\n4,0.5\n5\n")
    found = read_log(tmp_path / "log.csv", ["en"])["en"]
    assert np.isnan(found).tolist() == [True, True, True, False, True]


@pytest.mark.parametrize(
    ("text", "match"),
    [("", "lacks these columns"), ("step,en\n", "lacks"), ("step\n1\n", "en"), (None, "cannot be read")],
)
def test_a_log_that_is_none_is_refused(tmp_path: Path, text: str | None, match: str) -> None:
    file = tmp_path / "log.csv"
    if text is not None:
        file.write_text(text)
    with pytest.raises(Problem, match=match):
        read_log(file, ["step", "en"])


def test_a_log_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(b"step,en\n\xff\xfe\x00,1\n")
    with pytest.raises(Problem, match="UTF-8"):
        read_log(tmp_path / "log.csv", ["step", "en"])


def test_a_dot_a_head_and_the_best_is_named() -> None:
    names = tuple(f"L0 H{i}" for i in range(4))
    sink = Measure("sink", [0.1, np.nan, 0.8, 0.3], names, band=(0.4, 1.0))
    figure = dots(Look(theme("dark")), [sink], Scale("share"))
    made = spec(figure)
    assert made["data"][0]["x"] == [0.1, 0.8, 0.3]
    assert made["data"][0]["customdata"] == ["L0 H0", "L0 H2", "L0 H3"]
    assert "0.8 (L0 H2)" in made["layout"]["annotations"][0]["text"]
    assert "L0 H2" in alt_text(figure)
    assert alt_text(dots(Look(), [Measure("sink", [], ())], Scale("share")))
