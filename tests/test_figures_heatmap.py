"""The large matrix: cells, axes, hovers, budgets. A figure is read as the JSON that reaches the browser."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from viz_core.figures.cells import MOST, Matrix, causal, ranks
from viz_core.figures.heatmap import heatmap
from viz_core.figures.labels import Labels, labels
from viz_core.figures.layout import Look, alt_text, spec_bytes
from viz_core.figures.theme import theme
from viz_core.i18n import LANGS, Problem


def attention(n: int, sharp: float = 1.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Weights and scores of a random causal head."""
    scores = np.random.default_rng(seed).normal(size=(n, n)) * sharp
    scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True), scores


def named(pieces: list[str]) -> Labels:
    return labels(pieces, "plain", "en", ids=list(range(len(pieces))))


def spec(figure: Any) -> dict[str, Any]:
    return json.loads(figure.to_json())


def head(n: int, **options: Any) -> Any:
    weights, scores = attention(n)
    axis = named([f"t{i % 7}" for i in range(n)])
    return heatmap(Look(), Matrix(causal(weights), axis, axis, scores), **options)


def test_masked_is_absent_and_zero_is_drawn() -> None:
    weights = np.array([[1.0, 0, 0], [0, 1, 0], [0.5, 0, 0.5]])
    drawn = spec(heatmap(Look(), Matrix(causal(weights), named(list("abc")), named(list("abc")))))["data"][0]
    assert drawn["z"] == [[1.0], [0.0, 1.0], [0.5, 0.0, 0.5]]
    assert drawn["zmin"] == 0
    assert drawn["colorscale"][0][1] == theme("light").sequential[0]
    assert drawn["hoverongaps"] is False


def test_a_gap_inside_a_row_is_null() -> None:
    window = np.array([[1.0, np.nan, np.nan], [0.5, 0.5, np.nan], [np.nan, 0.5, 0.5]])
    drawn = spec(heatmap(Look(), Matrix(window, named(list("abc")), named(list("abc")))))["data"][0]
    assert drawn["z"][2] == [None, 0.5, 0.5]


def test_more_keys_than_queries_are_aligned_bottom_right() -> None:
    assert np.isnan(causal(np.ones((2, 4)))).tolist() == [[False, False, False, True], [False] * 4]


def test_equal_tokens_keep_their_columns() -> None:
    made = spec(heatmap(Look(), Matrix(causal(np.eye(7)), *[named(["the", "cat", "the", "the", "cat", ".", "."])] * 2)))
    for axis in ("xaxis", "yaxis", "xaxis2", "yaxis2"):
        assert made["layout"][axis]["tickvals"] == list(range(7))
        assert len(made["layout"][axis]["ticktext"]) == 7
        assert "type" not in made["layout"][axis]


@pytest.mark.parametrize("piece", ["<s>", "</s>", "<script>alert(1)</script>", "$x$", "&lt;", "10", "", "<b>"])
def test_hostile_labels_are_escaped_everywhere(piece: str) -> None:
    made = spec(heatmap(Look(), Matrix(causal(np.eye(2)), *[named([piece, "a"])] * 2), clickable=True))
    texts = [text for axis in ("xaxis", "xaxis2", "yaxis2") for text in made["layout"][axis]["ticktext"]]
    for text in texts:
        assert "$" not in text
        assert not set("<>") & set(text.replace("<b>", "", 1).replace("</b>", "", 1)) or text.startswith("<b>")
        assert "<s" not in text


def test_the_hover_tells_value_score_and_rank() -> None:
    drawn = spec(head(5))["data"][0]
    weights, scores = attention(5)
    assert drawn["customdata"][4] == [round(s, 3) for s in scores[4]]
    assert drawn["text"][4] == ranks(causal(weights))[4].tolist()
    assert all(part in drawn["hovertemplate"] for part in ("%{x}", "%{y}", "%{z", "%{text}", "%{customdata}"))
    assert sorted(drawn["text"][4]) == [1, 2, 3, 4, 5]


def test_ranks_ignore_masked_cells() -> None:
    assert ranks(np.array([[0.2, 0.5, np.nan, 0.2]])).tolist() == [[2, 1, 4, 3]]


def test_rows_show_their_measured_sum() -> None:
    weights, _ = attention(6)
    weights[3] *= 0.5
    made = spec(heatmap(Look(), Matrix(causal(weights), *[named(list("abcdef"))] * 2)))
    sums = made["data"][1]["text"]
    assert sums[2].strip() == "Σ 1.00"
    assert sums[3].strip() == "Σ 0.50"


@pytest.mark.parametrize("n", [160, 161, 320, MOST])
@pytest.mark.parametrize("sharp", [0.0, 1.5, 8.0])
def test_budget(n: int, sharp: float) -> None:
    weights, scores = attention(n, sharp)
    axis = labels([f"Ġword{i}" for i in range(n)], "byte-level", "en", ids=[10_000 + i for i in range(n)])
    figure = heatmap(Look(), Matrix(causal(weights), axis, axis, scores), clickable=True)
    assert spec_bytes(figure) < 500_000
    drawn = spec(figure)["data"][0]
    assert [len(row) for row in drawn["z"]] == list(range(1, n + 1))


def test_a_sliding_window_of_512_tokens_is_within_budget() -> None:
    near = np.tri(512, dtype=bool) & ~np.tri(512, k=-32, dtype=bool)
    near[:, :1] = True
    axis = named([f"t{i}" for i in range(512)])
    assert spec_bytes(heatmap(Look(), Matrix(np.where(near, 1 / 33, np.nan), axis, axis))) < 500_000


def test_signed_noise_of_512_tokens_is_within_budget() -> None:
    noise = causal(np.random.default_rng(0).normal(size=(512, 512)))
    axis = named([f"t{i}" for i in range(512)])
    assert spec_bytes(heatmap(Look(), Matrix(noise, axis, axis), signed=True)) < 500_000


def test_large_values_can_be_read_back_from_the_hover() -> None:
    weights, scores = attention(200)
    axis = named([f"t{i}" for i in range(200)])
    drawn = spec(heatmap(Look(), Matrix(causal(weights), axis, axis, scores)))["data"][0]
    step = float(drawn["hovertemplate"].split("× ")[1].split("<")[0])
    assert np.allclose(np.array(drawn["z"][-1]) * step, weights[-1], atol=step / 2 + 1e-12)


def test_the_colour_bar_admits_values_beyond_its_end() -> None:
    bar = spec(head(100))["data"][0]["colorbar"]
    assert bar["ticktext"][-1].startswith("≥ ")
    assert not spec(head(10))["data"][0]["colorbar"]["ticktext"][-1].startswith("≥")


def test_compared_heads_share_a_range() -> None:
    assert spec(head(4, top=0.7))["data"][0]["zmax"] == spec(head(9, top=0.7))["data"][0]["zmax"] == 0.7


def test_signed_values_are_centred() -> None:
    difference = np.array([[0.2, np.nan], [-0.4, 0.1]])
    drawn = spec(heatmap(Look(), Matrix(difference, *[named(["a", "b"])] * 2), signed=True))["data"][0]
    assert (drawn["zmin"], drawn["zmax"]) == (-0.4, 0.4)


def test_a_click_does_not_fade_the_numbers() -> None:
    """Plotly dims the text of every other trace unless its unselected colour is given."""
    for trace in spec(head(6, clickable=True))["data"]:
        if trace.get("mode") == "text":
            assert trace["unselected"]["textfont"]["color"] == trace["textfont"]["color"]


def test_clicks_name_row_and_column() -> None:
    points = spec(head(6, clickable=True))["data"][-1]
    assert [p[:2] for p in points["customdata"]] == [[i, j] for i in range(6) for j in range(i + 1)]
    assert len(spec(head(200, clickable=True))["data"][-1]["x"]) == 200


def test_too_many_tokens_are_refused() -> None:
    axis = Labels(("t",) * 4096, ("t",) * 4096)
    with pytest.raises(Problem, match="4096 tokens"):
        Matrix(np.ones((4096, 4096), np.float16), axis, axis)


def test_what_cannot_be_drawn_is_refused() -> None:
    two = named(["a", "b"])
    with pytest.raises(Problem, match="shape"):
        Matrix(np.ones((2, 3)), two, two)
    with pytest.raises(Problem, match="infinite"):
        Matrix(np.array([[np.inf, 0], [0, 0]]), two, two)


@pytest.mark.parametrize("lang", LANGS)
def test_no_tokens_and_one_token(lang: str) -> None:
    look = Look(lang=lang)  # type: ignore[arg-type]
    nothing = heatmap(look, Matrix(np.empty((0, 0)), named([]), named([])))
    assert alt_text(nothing)
    one = heatmap(look, Matrix(np.ones((1, 1)), named(["x"]), named(["x"])))
    assert "x" in alt_text(one)
    assert heatmap(look, Matrix(np.full((2, 2), np.nan), *[named(["a", "b"])] * 2)) is not None


def test_sizes_of_type() -> None:
    assert Look().size(10) == 12
    assert Look(zoom=1.5).size(12) >= 20
    assert Look(width=358).phone


def test_the_phone_has_straight_labels() -> None:
    axis = named([f"understanding{i}" for i in range(20)])
    made = spec(heatmap(Look(width=358), Matrix(causal(np.eye(20)), axis, axis)))
    assert made["layout"]["xaxis"]["tickangle"] == 0
    assert made["data"][0]["colorbar"]["orientation"] == "h"
