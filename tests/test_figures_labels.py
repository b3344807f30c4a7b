"""Token labels: joining split characters, folding a matrix over them, and text that Plotly must draw literally."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.figures.cells import causal
from viz_core.figures.labels import Group, joined, labels, merge, plot_text, tick_text
from viz_core.figures.visible import visible, visible_bytes
from viz_core.i18n import Problem
from viz_core.model.pieces import byte_symbols, piece_bytes

LETTER = byte_symbols()


def as_pieces(data: bytes, cuts: list[int]) -> list[str]:
    """Bytes cut at the given places, as a byte-level tokenizer would write them."""
    edges = sorted({0, len(data), *(c % (len(data) + 1) for c in cuts)})
    return ["".join(LETTER[b] for b in data[a:b]) for a, b in pairwise(edges)]


def test_split_characters_are_joined() -> None:
    assert joined(["æĿ", "±", "Ġa"], "byte-level") == (Group(0, 2, "東"), Group(2, 3, "␣a"))
    assert [g.text for g in joined(["ðŁ", "Ĵ", "©"], "byte-level")] == ["💩"]
    assert [g.text for g in joined(["<0xE4>", "<0xB8>", "<0xAD>", "▁x"], "sentencepiece")] == ["中", "␣x"]


def test_what_never_becomes_a_character_stays_single() -> None:
    assert [g.text for g in joined(["æĿ", "Ġa", "±"], "byte-level")] == ["<E6 9D>", "␣a", "<B1>"]
    assert [g.text for g in joined(["æĿ"], "byte-level")] == ["<E6 9D>"]


@given(st.text(min_size=1, max_size=12), st.lists(st.integers(0, 60), max_size=8))
@settings(max_examples=60)
def test_any_cut_of_any_text_joins_back(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8")
    pieces = as_pieces(data, cuts)
    groups = joined(pieces, "byte-level")
    assert [i for g in groups for i in range(g.start, g.stop)] == list(range(len(pieces)))
    for group in groups:
        run = b"".join(piece_bytes(piece, "byte-level") for piece in pieces[group.start : group.stop])
        assert group.text == visible_bytes(run)
        if len(group) > 1:
            run.decode("utf-8")  # what was joined is whole characters


@given(st.text(max_size=20))
@settings(max_examples=100)
def test_a_label_is_never_blank_and_never_breaks_json(text: str) -> None:
    for scheme in ("plain", "byte-level", "sentencepiece"):
        shown = visible(text, scheme)  # type: ignore[arg-type]
        assert shown.strip()
        shown.encode("utf-8")
        assert not {"<", "$"} & set(tick_text(shown))


def test_merging_adds_keys_and_averages_queries() -> None:
    rng = np.random.default_rng(5)
    weights = np.tril(rng.random((6, 6)))
    weights /= weights.sum(1, keepdims=True)
    groups = (Group(0, 1, "a"), Group(1, 3, "東"), Group(3, 6, "x"))
    merged = merge(causal(weights), groups, groups)
    assert np.allclose(np.nansum(merged, axis=1), 1)
    assert np.isnan(merged[0, 1:]).all()
    assert np.isnan(merged[1, 2])
    assert merged[1, 1] == pytest.approx(weights[1:3, 1:3].sum() / 2)
    assert merged[2, 0] == pytest.approx(weights[3:, 0].mean())


def test_merging_single_tokens_changes_nothing() -> None:
    weights = causal(np.random.default_rng(1).random((4, 4)))
    groups = tuple(Group(i, i + 1, "") for i in range(4))
    assert np.array_equal(merge(weights, groups, groups), weights, equal_nan=True)


@pytest.mark.parametrize("groups", [(Group(0, 1, ""),), (Group(0, 1, ""), Group(2, 4, "")), (Group(1, 4, ""),)])
def test_groups_that_do_not_cover_are_refused(groups: tuple[Group, ...]) -> None:
    with pytest.raises(Problem, match="groups"):
        merge(np.ones((4, 4)), groups, groups)


def test_the_hover_keeps_piece_id_position_and_character() -> None:
    split = labels(["æĿ", "±"], "byte-level", "en", ids=[30266, 109])
    assert "id 30266" in split.hovers[0]
    assert "position 1" in split.hovers[1]
    assert "&lt;E6 9D&gt; + &lt;B1&gt; = 東" in split.hovers[0]
    whole = labels(["æĿ", "±"], "byte-level", "zh", ids=[30266, 109], merged=True)
    assert whole.texts == ("東",)
    assert all(part in whole.hovers[0] for part in ("0–1", "30266, 109", "&lt;E6 9D&gt; + &lt;B1&gt;"))


def test_ids_must_match() -> None:
    with pytest.raises(Problem, match="2 tokens but 1"):
        labels(["a", "b"], "plain", "en", ids=[1])


def test_text_is_drawn_literally() -> None:
    assert plot_text("<b>&lt;$x$") == "&lt;b&gt;&amp;lt;&#36;x&#36;"
    assert tick_text("a" * 20) == "a" * 13 + "…" or tick_text("a" * 20).endswith("…\u2069")
    assert tick_text("שלום") == "\u2068שלום\u2069"
