"""What a head takes and what happens without it, against the same sums written plainly."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_model import tiny

from viz_core.i18n import LANGS, Problem
from viz_core.model import contribution, probes
from viz_core.model.capture import Capture
from viz_core.model.library import held_out, load
from viz_core.model.llama import Llama
from viz_core.model.rewrite import one_changed
from viz_core.proofs import attention

IDS = [0, 5, 17, 17, 2, 40, 60, 33]


def captured(ids: list[int] = IDS) -> tuple[Llama, Capture]:
    model, _ = tiny()
    capture = Capture()
    model.forward(ids, capture=capture)
    return model, capture


def test_what_heads_write_adds_up_to_the_layer() -> None:
    model, capture = captured()
    block = model.blocks[1]
    outs = [capture.head(1, head).out for head in range(model.config.heads)]
    parts = [contribution.written_by(model, 1, head, out) for head, out in enumerate(outs)]
    assert np.allclose(sum(parts), np.concatenate(outs, 1) @ block.o.w, atol=1e-5)  # type: ignore[attr-defined]


def test_taken_is_weight_times_length() -> None:
    model, capture = captured()
    d, o = model.blocks[2].layer.d_head, model.blocks[2].o.w  # type: ignore[attr-defined]
    v = capture.v[2][capture.kv_head(2, 4)]
    plain = np.array([np.sqrt(((row @ o[4 * d : 5 * d]) ** 2).sum()) for row in v])
    assert np.allclose(contribution.lengths(model, capture, 2, 4), plain, rtol=1e-5)
    taken = contribution.taken(model, capture, 2, 4, first=5)
    assert np.allclose(taken, capture.head(2, 4).weights[:5, :5] * plain[:5], atol=1e-6)


def test_a_short_first_value_is_overstated() -> None:
    """Halving the first value's length leaves its weight and halves what is taken from it."""
    model, capture = captured()
    before = contribution.overstated(model, capture)
    for layer in capture.layers:
        capture.v[layer][:, 0] *= 0.5
    assert (contribution.overstated(model, capture) > before).all()
    assert contribution.on_first(np.array([[1.0, 0], [0.25, 0.75], [0.5, 0.5]])) == pytest.approx(0.375)


def test_a_silenced_head_writes_nothing() -> None:
    model, capture = captured()
    quiet = Capture()
    contribution.silenced(model, 0, 3).forward(IDS, capture=quiet)
    assert np.array_equal(quiet.v[0], capture.v[0]), "the layer itself reads what it read"
    assert not np.allclose(quiet.v[1], capture.v[1]), "what follows sees the change"
    everything = model
    for head in range(model.config.heads):
        everything = contribution.silenced(everything, 0, head)
    x = np.ones((2, model.config.heads * model.blocks[0].layer.d_head), np.float32)
    from viz_core.model.counts import Tally

    assert not everything.blocks[0].o(x, Tally()).any()


def test_mean_loss_is_of_what_follows() -> None:
    model, _ = tiny()
    logits = model.forward(IDS).astype(np.float64)
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert probes.mean_loss(model, IDS) == pytest.approx(-np.log([p[i, IDS[i + 1]] for i in range(7)]).mean(), rel=1e-5)
    assert np.isnan(probes.mean_loss(model, [3]))


def test_the_most_moved_head_is_the_one_that_was_moved() -> None:
    _, one = captured()
    _, other = captured()
    other.q[1][5] *= -3
    assert probes.most_moved(one, other) == probes.most_moved(one, other, last=3) == (1, 5)
    assert np.allclose(one.weights(2, last=3), one.weights(2)[:, -3:], atol=1e-6)


@pytest.mark.parametrize("prompt", ["In the beginning God created the heaven", "床前明月光，疑是地上霜。", "ab"])
def test_one_token_is_changed(prompt: str) -> None:
    model = load("bundled")
    ids = model.encode(prompt)
    other = model.encode(one_changed(model, ids))
    assert len(other) == len(ids)
    assert sum(a != b for a, b in zip(ids, other, strict=True)) == 1
    with pytest.raises(Problem):
        one_changed(model, ids[:1])


def test_claims_hold_and_fail_when_broken() -> None:
    model, capture = captured()
    assert attention.layer_rows_sum_to_one(capture, 0).holds
    assert attention.shown_equals_used(capture, 1).holds
    assert attention.values_add_up(model, capture, 2, 3).holds
    assert attention.window_of_everything(model, IDS).holds
    a, b = np.eye(4), np.eye(4)
    b[2, 0] = 1e-3
    assert attention.past_is_equal(a, b, 2).holds and not attention.past_is_equal(a, b, 3).holds
    capture.v[1][0, 2] = np.nan
    assert not attention.shown_equals_used(capture, 1).holds
    capture.q[0][2, 4] = np.nan
    assert not attention.layer_rows_sum_to_one(capture, 0).holds


@pytest.mark.parametrize("lang", LANGS)
def test_held_out_texts_are_long_enough_to_measure(lang: str) -> None:
    model = load("bundled")
    assert len(model.encode(held_out(lang))) >= 192  # type: ignore[arg-type]
