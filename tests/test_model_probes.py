"""Probes on attention maps whose answer is known, and on the models."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_model import tiny

from viz_core.i18n import Problem
from viz_core.model import probes
from viz_core.model.capture import Capture
from viz_core.model.contribution import lengths, taken
from viz_core.model.library import load
from viz_core.model.streaming import perplexity, window_with_sinks

N = 12


def rows(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum(-1, keepdims=True)


def test_maps_with_a_known_answer() -> None:
    before = np.eye(N, k=-1)
    before[0, 0] = 1
    sink = np.zeros((N, N))
    sink[:, 0] = 1
    even = rows(np.tri(N))
    maps = np.stack([before, sink, even]).astype(np.float32)
    assert probes.previous_token(maps)[[0, 2]] == pytest.approx([1, (1 / np.arange(2, N + 1)).mean()])
    assert probes.sink_mass(maps) == pytest.approx([0, 1, (1 / np.arange(5, N + 1)).mean()])
    assert probes.entropy(maps) == pytest.approx([0, 0, 1], abs=1e-6)
    assert probes.redundancy(maps[:1]) == 1
    assert probes.redundancy(np.stack([maps[0], maps[0]])) == pytest.approx(1)
    assert probes.redundancy(np.stack([np.eye(4), np.eye(4, k=-1)])) == 0


def test_outliers_are_channels() -> None:
    x = np.ones((2, 5, 8), np.float32)
    x[1, :, 3] = -7
    assert probes.outliers(x).tolist() == [1, 7]


def test_losses_are_cross_entropies() -> None:
    logits = np.log(np.array([[0.25, 0.75], [0.5, 0.5]]))
    assert probes.losses(logits + 1000, [1, 0]) == pytest.approx([-np.log(0.75), np.log(2)])


def test_a_probe_has_one_number_a_head() -> None:
    model, _ = tiny()
    capture = Capture()
    model.forward([0, 5, 17, 17, 2, 40, 60, 33], capture=capture)
    p = probes.probe(capture)
    assert p.previous.shape == p.sink.shape == p.entropy.shape == (3, 6)
    assert p.redundancy.shape == (3,)
    assert p.k_outliers.shape == p.v_outliers.shape == (3, 2)
    assert all(np.isfinite(getattr(p, name)).all() for name in ("previous", "sink", "entropy", "k_outliers"))
    assert (p.k_outliers >= 1).all()
    short = Capture()
    model.forward([0, 1], capture=short)
    with pytest.raises(Problem):
        probes.probe(short)


def test_induction_is_deterministic_and_bounded() -> None:
    model, _ = tiny()
    a, b = probes.induction(model, 20, seed=3), probes.induction(model, 20, seed=3)
    assert np.array_equal(a.score, b.score)
    assert a.ids[1:21] == a.ids[21:]
    assert not {0, 1} & set(a.ids[1:])
    assert 0 <= a.copied <= 1
    for length in (1, 32):
        with pytest.raises(Problem):
            probes.induction(model, length)


def test_the_induction_target_is_the_token_that_followed() -> None:
    """A hand-made map that looks exactly there scores 1; the score picks the same cells."""
    length = 6
    queries = np.arange(length + 1, 2 * length)
    ids = [0, *range(10, 16), *range(10, 16)]
    assert [ids[q - length + 1] for q in queries] == [ids[q + 1] for q in queries]
    assert [ids[q - length] for q in queries] == [ids[q] for q in queries]


def test_window_with_sinks_sees_both_ends() -> None:
    seen = np.isfinite(window_with_sinks(6, 2, 1).whole(6, 6)) & np.tri(6, dtype=bool)
    assert seen[5].tolist() == [True, False, False, False, True, True]
    assert seen[1].tolist() == [True, True, False, False, False, False]
    with pytest.raises(Problem):
        window_with_sinks(6, 0)


def test_a_window_of_everything_changes_nothing() -> None:
    model, _ = tiny()
    ids = [0, *range(2, 40)]
    full = perplexity(model, ids, first=10)
    assert perplexity(model, ids, window=len(ids), first=10) == pytest.approx(full, rel=1e-6)
    assert perplexity(model, ids, window=1, kept=len(ids), first=10) == pytest.approx(full, rel=1e-6)
    assert perplexity(model, ids, window=3, first=10) != pytest.approx(full, rel=1e-3)
    with pytest.raises(Problem):
        perplexity(model, ids)


def test_a_window_by_bias_is_a_window_by_config() -> None:
    windowed, _ = tiny("mistral")
    plain, _ = tiny("mistral", sliding_window=None)
    ids, capture = [0, *range(2, 20)], Capture()
    logits = plain.forward(ids, bias=window_with_sinks(len(ids), 4), capture=capture)
    assert np.abs(logits - windowed.forward(ids)).max() < 1e-5
    assert np.all(capture.weights(0)[:, np.tri(len(ids), k=-4, dtype=bool)] == 0)


def test_the_bundled_model_reads_text_better_than_noise() -> None:
    model = load("bundled").llama
    text = load("bundled").encode("And God said unto Moses, Go down, and speak unto the children of Israel, saying, ")
    noise = [0, *np.random.default_rng(0).integers(300, 4000, len(text) - 1).tolist()]
    assert perplexity(model, text, first=4) < 0.1 * perplexity(model, noise, first=4)


@pytest.mark.parametrize("variant", ["llama", "biased"])
def test_value_weighting_is_the_size_of_what_each_key_adds(variant: str) -> None:
    model, tensors = tiny(variant)
    capture, d = Capture(), model.config.d_head
    model.forward([0, 5, 17, 17, 2, 40], capture=capture)
    w_o = tensors["model.layers.1.self_attn.o_proj.weight"].T[4 * d : 5 * d]
    weights, values = capture.head(1, 4).weights, capture.v[1][capture.kv_head(1, 4)]
    sizes = np.linalg.norm(weights[..., None] * (values @ w_o), axis=-1)
    assert np.allclose(taken(model, capture, 1, 4), sizes, atol=1e-5)
    assert np.allclose(taken(model, capture, 1, 4), weights * lengths(model, capture, 1, 4))
    assert np.all(taken(model, capture, 1, 4)[~np.tri(6, dtype=bool)] == 0)


def test_a_key_without_a_value_adds_nothing() -> None:
    model, _ = tiny()
    capture = Capture()
    model.forward([0, 5, 17], capture=capture)
    capture.v[0][:] = 0
    assert not taken(model, capture, 0, 0).any()


class Inductor:
    """Stands for a model whose one head looks exactly where a token was followed last time."""

    def __init__(self, length: int) -> None:
        self.config, self.length = tiny()[0].config, length

    def forward(self, ids: list[int], capture: Capture) -> np.ndarray:
        at = np.arange(len(ids))
        q = np.eye(len(ids), dtype=np.float32)[np.maximum(at - self.length + 1, 0)] * 1000
        k = np.eye(len(ids), dtype=np.float32)
        capture.keep(0, q[None], k[None], k[None], None, None)
        return np.eye(self.config.vocab)[np.array([*ids[1:], 0])] * 9


def test_a_perfect_induction_head_scores_one() -> None:
    found = probes.induction(Inductor(6), 6)  # type: ignore[arg-type]
    assert found.score == pytest.approx(np.ones((1, 1)))
    assert found.copied == 1
    assert found.nll_second < 0.1
