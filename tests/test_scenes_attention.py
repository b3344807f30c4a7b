"""The attention page's scenes where their controls are moved: orders, other texts, long and short prompts, the log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.scenes import context
from viz_core.i18n import Problem
from viz_core.ui.controls import fixed
from viz_core.ui.scene import Bench, Context, Scene, View
from viz_core.ui.scenes import (
    attention_group,
    attention_head,
    attention_learning,
    attention_mosaic,
    attention_pair,
    attention_probes,
    attention_texts,
    attention_value,
    attention_window,
)

OF_A_PROMPT = [m.SCENE for m in (attention_head, attention_mosaic, attention_group, attention_pair, attention_texts,
                                 attention_value, attention_probes)]  # fmt: skip


def on(scene: Scene, prompt: str, **values: object) -> Context:
    """The context of a scene on another prompt."""
    bench = Bench("bundled", prompt, 0)
    start = {p.name: p.default for p in fixed(scene.params, bench)}
    return replace(context(scene, "en"), bench=bench, values=start | values)


def order_of(view: View) -> list[tuple[int, int]]:
    """Heads in the order of the mosaic's click targets."""
    return [tuple(place) for place in view.plates[0].figure.data[1].customdata]


@pytest.mark.parametrize("order", ["previous", "sink", "induction", "spread", "focused"])
def test_the_mosaic_is_sorted_by_what_it_names(order: str) -> None:
    scene = attention_mosaic.SCENE
    view = scene.build(context(scene, "en", order=order))
    measured = attention_mosaic.scores(context(scene, "en").bench)[order]
    values = [measured[place] for place in order_of(view)]
    assert values == sorted(values, reverse=True) and len(values) == measured.size
    assert order_of(scene.build(context(scene, "en"))) == list(np.ndindex(*measured.shape))


def test_a_click_names_the_controls_and_the_head_is_drawn() -> None:
    scene = attention_mosaic.SCENE
    view = scene.build(context(scene, "en", layer=2, head=1))
    assert view.plates[0].on_click == ("layer", "head")
    assert "L2 H1" in view.plates[1].figure.layout.annotations[0].text


def test_tiles_are_the_heads_they_stand_for() -> None:
    scene = attention_mosaic.SCENE
    from viz_core.ui import cached, cached_heads

    bench = context(scene, "en").bench
    every = cached_heads.tiles(bench.model, bench.prompt, 400)
    weights = cached.capture(bench.model, bench.prompt).weights(2)[3]
    assert np.array_equal(np.nan_to_num(every[2 * 4 + 3]), np.tril(weights))


def test_heads_of_one_kv_head() -> None:
    assert attention_group.group(9, 3, 4) == [3, 4, 5]
    assert attention_group.group(4, 4, 2) == [2]
    same = np.stack([np.eye(4), np.eye(4), np.eye(4, k=-1) + np.eye(4) * [1, 0, 0, 0]])
    near, far = attention_group.inside(same, 2)
    assert near == pytest.approx(1) and far < 0.5
    assert np.isnan(attention_group.inside(same[:1], 1)[0])


def test_texts_of_other_lengths_are_refused_in_words() -> None:
    scene = attention_texts.SCENE
    with pytest.raises(Problem, match="tokens"):
        scene.build(on(scene, "In the beginning", other_text="Quite another text of more tokens"))
    view = scene.build(on(scene, "In the beginning", other_text="In the beginning"))
    assert view.numbers[0].value == "0" and view.proofs[0].measured == 0


@pytest.mark.parametrize("scene", OF_A_PROMPT, ids=lambda s: s.id)
@pytest.mark.parametrize("prompt", ["x", "a b c d e f g", "床" * 600, "the lamb of God " * 150])
def test_any_prompt_is_shown_or_refused_in_words(scene: Scene, prompt: str) -> None:
    try:
        view = scene.build(on(scene, prompt))
    except Problem as problem:
        assert prompt == "x" and scene.id in ("probes", "texts"), problem
        return
    assert all(len(plate.figure.to_json()) < (1_000_000 if scene.id == "mosaic" else 500_000) for plate in view.plates)
    assert (view.notice is not None) == (len(prompt) > 500 and scene.id != "texts")
    assert all(proof.holds for proof in view.proofs)


def test_a_window_needs_a_text_that_leaves_something_behind() -> None:
    scene = attention_window.SCENE
    with pytest.raises(Problem, match="Perplexity"):
        scene.build(on(scene, "In the beginning", text="prompt"))
    assert attention_window.recovered(10, 1000, 10) == attention_window.percent(1)
    assert attention_window.recovered(10, 10.1, 10) == "–"


def test_a_jump_is_told_only_where_the_log_has_one() -> None:
    def log(*copied: float) -> dict[str, np.ndarray]:
        return {"step": np.arange(len(copied)) * 100.0, attention_learning.COPIED: np.array(copied)}

    assert attention_learning.jump(log(0, 2, 50, 95, 100)) == (100, 300)
    assert attention_learning.jump(log(0, 2, 50)) is None
    assert attention_learning.jump(log(0, float("nan"), 99)) == (100, 200)


def test_the_log_says_where_rows_are_long_and_where_training_began_again() -> None:
    rows, rate = [1, 1, 5, 5, 1, 1, 5], [9.0, 4.0, 2.0, 0.1, 9.0, 5.0, 0.1]
    log = {"step": np.arange(1, 8) * 100.0, attention_learning.ROW: np.array(rows, float)}
    log[attention_learning.RATE] = np.array(rate)
    assert attention_learning.long_rows(log) == [(300, 400), (700, 700)]
    assert attention_learning.restarts(log) == [400]
    log[attention_learning.ROW][:] = 5
    assert attention_learning.long_rows(log) == []
