"""The FlashAttention page's scenes where their controls are moved: what is said stays true."""

from __future__ import annotations

import pytest

from tests.scenes import context
from tests.test_pages import opened
from viz_core.i18n import t
from viz_core.sizing.hardware import GPUS
from viz_core.ui.scene import View
from viz_core.ui.scenes import fa_bytes, fa_costs, fa_decode, fa_hand, fa_paper, fa_walk


def last(view: View) -> str:
    """The caption under the last frame."""
    assert view.trace is not None
    return view.trace.captions[view.trace.steps - 1].key


SAID = (("1", "parts of the keys"), ("64", "1 part."), ("256", "without splitting"))


@pytest.mark.parametrize(("batch", "said"), SAID)
def test_decode_says_whether_splitting_helps(batch: str, said: str) -> None:
    view = fa_decode.SCENE.build(context(fa_decode.SCENE, "en", decode_batch=batch))
    told = str(view.facts["told"])
    assert said in told and "1 parts" not in told


@pytest.mark.parametrize(("block", "gb"), [("64", "15.70"), ("128", "8.19"), ("256", "4.43"), ("512", "2.55")])
def test_the_paper_scene_says_the_bytes_of_the_chosen_tile(block: str, gb: str) -> None:
    scene = fa_paper.SCENE
    notes = t(f"{scene.table}.notes", "en", **scene.build(context(scene, "en", paper_tile=block)).facts)
    assert f"**{gb}" in notes and "comes out with 256 keys a tile (4.43 GB)" in notes


@pytest.mark.parametrize("text", ["", "0,0 0,1"])
def test_an_order_that_stops_early_is_not_called_complete(text: str) -> None:
    view = fa_walk.SCENE.build(context(fa_walk.SCENE, "en", visit="own", visit_tiles=text))
    assert last(view) == "attention.walk.stopped" and "Not visited" in str(view.facts["told"])


@pytest.mark.parametrize("visit", ["fa1", "fa2", "snake", "random"])
@pytest.mark.parametrize("kind", ["normal", "masked", "holes"])
def test_a_whole_walk_leaves_no_tile(visit: str, kind: str) -> None:
    view = fa_walk.SCENE.build(context(fa_walk.SCENE, "en", visit=visit, fa_input=kind))
    assert last(view) == "attention.walk.end" and "Not visited" not in str(view.facts["told"])


@pytest.mark.parametrize(("scores", "kind"), [("1 3 2 5", "caption"), ("5 1 1 1", "same_caption")])
def test_by_hand_a_maximum_that_stays_shrinks_nothing(scores: str, kind: str) -> None:
    view = fa_hand.SCENE.build(context(fa_hand.SCENE, "en", scores=scores))
    assert view.trace is not None and view.trace.captions[1].key == f"scene.flash_attention.hand.{kind}"


def test_by_hand_the_question_comes_before_its_answer() -> None:
    view = fa_hand.SCENE.build(context(fa_hand.SCENE, "en"))
    assert view.start == 0 and view.question is not None
    assert view.question.options == ("e^(−2)", "e^(0)", "e^(2)") and view.question.right == 0


@pytest.mark.parametrize(("old", "top", "right"), [
    (3, 5, "e^(−2)"), (5, 1, "e^(0)"), (5, 5, "e^(0)"), (-1000, 1000, "e^(−2000)"), (1, 2, "e^(−1)"),
])  # fmt: skip
def test_by_hand_three_different_powers(old: float, top: float, right: str) -> None:
    options, index = fa_hand.powers(old, top)
    assert len(set(options)) == 3 and options[index] == right


@pytest.mark.parametrize(("values", "said"), [
    ({"probe": 511}, "Query 15 is followed"), ({"tile": 64}, "one tile of 16"),
    ({"visit": "own", "visit_tiles": "0,0 9,9"}, "not on the grid"),
    ({"visit": "own", "visit_tiles": "0,0 0,0"}, "more than once"),
    ({"visit": "own", "visit_tiles": "0,0 x"}, "is not a tile"),
    ({"visit": "own", "visit_tiles": "0,0"}, "Not visited yet (15)"),
])  # fmt: skip
def test_the_walk_is_shown_whatever_a_link_holds(values: dict[str, object], said: str) -> None:
    view = fa_walk.SCENE.build(context(fa_walk.SCENE, "en", **values))
    assert view.trace is not None and view.notice is not None and said in view.notice
    assert view.proofs == () if "visit" in values else view.proofs[0].holds


def test_one_tile_left_is_counted_without_a_plural() -> None:
    tiles = " ".join(f"{i},{j}" for i in range(4) for j in range(4) if (i, j) != (3, 3))
    view = fa_walk.SCENE.build(context(fa_walk.SCENE, "en", visit="own", visit_tiles=tiles))
    assert view.notice is not None and view.notice.startswith("Not visited yet (1): (3, 3).")
    assert "1 of 16 tiles" in str(view.facts["told"])


def test_bytes_of_the_shortest_input() -> None:
    view = fa_bytes.SCENE.build(context(fa_bytes.SCENE, "en", fa_tokens=16))
    assert (view.facts["rows"], view.facts["cols"]) == (16, 16) and "16 × 16" in str(view.notice)
    assert fa_bytes.SCENE.build(context(fa_bytes.SCENE, "en")).notice is None


def test_bytes_are_decimal_and_sourced() -> None:
    view = fa_bytes.SCENE.build(context(fa_bytes.SCENE, "en"))
    assert view.table is not None
    shown = [view.facts[name] for name in ("standard", "fa1", "random", "fa2", "snake", "least")]
    assert shown == [f"{x / 1000:.1f} kB" for x in view.table["bytes"]]
    assert all(g.source in str(view.facts["sources"]) for g in GPUS)
    alone = fa_costs.SCENE.build(context(fa_costs.SCENE, "en")).numbers[1].value
    assert "iB" not in alone and alone.endswith("B")


def test_a_button_takes_the_last_tile_out() -> None:
    at = opened("pages/flash_attention.py", lang="en", scene="walk", visit="own", visit_tiles="0,0 1,1")
    label = t("scene.flash_attention.walk.undo", "en")
    for left in ("0,0", ""):
        next(b for b in at.button if b.label == label).click().run()
        assert not at.exception and at.query_params["visit_tiles"] in (left, [left])
    assert all(b.label != label for b in at.button)


@pytest.mark.parametrize("query", [{"scene": "walk", "probe": "511"}, {"scene": "bytes", "fa_tokens": "16"},
                                   {"scene": "walk", "visit": "own", "visit_tiles": "9,9"}])  # fmt: skip
def test_a_fresh_link_never_opens_an_empty_page(query: dict[str, str]) -> None:
    at = opened("pages/flash_attention.py", lang="en", **query)
    assert not at.exception and at.get("plotly_chart") and len(at.warning) == 0 and len(at.info) <= 1
