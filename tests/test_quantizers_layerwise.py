"""Methods that make a layer easier to round: the product stays, the outputs come closer; and what a layer is given."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core.model.held_out import held_out
from viz_core.model.layer_inputs import Matrix, layer_inputs
from viz_core.model.library import load
from viz_core.model.linear import Dense
from viz_core.model.llama import rms_norm
from viz_core.quantizers.ggml import HALF
from viz_core.quantizers.layerwise import GROUP, Rounded, by_awq, by_hqq, by_smoothing
from viz_core.quantizers.registry import asymmetric, hqq
from viz_core.quantizers.rescale import smooth_factors
from viz_core.ui import quantizing_model

Layer = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def layer() -> Layer:
    """Inputs (tokens, 128) with two outlier channels, and a weight (128, 32)."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 128))
    x[:, [3, 70]] *= 40
    return x.astype(np.float32), (0.05 * rng.standard_normal((128, 32))).astype(np.float32)


def off(found: Rounded, layer: Layer) -> list[float]:
    """Mean squared error of the outputs, plainly and by the method."""
    x, w = layer
    return [float(np.mean((answer(x) - x @ w) ** 2)) for answer in found.outputs]


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.75])
def test_smoothing_moves_outliers_and_keeps_the_product(layer: Layer, alpha: float) -> None:
    x, w = layer
    factors = smooth_factors(x, w, alpha)
    found = by_smoothing(x, w, 8, alpha)
    assert np.allclose(found.seen[1] * factors, x, rtol=1e-5)
    assert np.allclose((x / factors) @ (w * factors[:, None]), x @ w, atol=1e-3)
    assert found.detail == pytest.approx(np.abs(found.seen[1]).max() / np.abs(x).max())
    plain, eased = off(found, layer)
    assert eased < 0.5 * plain
    many = by_smoothing(x, w, 16, alpha)
    assert max(off(many, layer)) < 1e-4 * plain, "with many bits both ways answer as the layer does"


@pytest.mark.parametrize("bits", [3, 4, 8])
def test_awq_is_never_worse_on_what_it_saw(layer: Layer, bits: int) -> None:
    """The exponent 0 is plain rounding and among those tried."""
    x, w = layer
    found = by_awq(x, w, bits)
    plain, eased = off(found, layer)
    assert eased < plain and 0 < found.detail < 1
    assert np.array_equal(found.weights[0], asymmetric(bits, GROUP, scale=HALF).round(w.T.copy()).T)
    large = np.abs(found.weights[1] - w)[[3, 70]].mean() / np.abs(found.weights[0] - w)[[3, 70]].mean()
    assert large < 0.5, "the dimensions with large activations are rounded more finely"


def test_hqq_lowers_what_it_is_about(layer: Layer) -> None:
    x, w = layer
    found = by_hqq(x, w, 4)
    spread = [np.mean(np.abs(v - w) ** 0.7) for v in found.weights]
    assert found.detail == pytest.approx(spread[1] / spread[0], rel=1e-4) and found.detail < 1
    assert np.array_equal(found.weights[1], hqq(4, GROUP).round(w.T.copy()).T)


@pytest.mark.parametrize("name", ["qkv", "o", "gate_up", "down"])
def test_a_layer_is_heard_without_being_disturbed(name: Matrix) -> None:
    model = load("bundled")
    ids = model.encode(held_out("en")[0])
    blocks, before = model.llama.blocks, model.llama.forward(ids)
    x = layer_inputs(model.llama, 1, name, [ids, ids[:5]])
    part = getattr(blocks[1], name)
    assert isinstance(part, Dense) and x.shape == (len(ids) + 5, part.w.shape[0])
    assert np.allclose(x[len(ids) :], x[:5], atol=1e-4), "what comes later changes nothing before it"
    assert model.llama.blocks is blocks and np.array_equal(model.llama.forward(ids), before)


def test_the_first_layer_is_given_the_normed_embedding() -> None:
    llama, ids = load("bundled").llama, [3, 50, 7]
    embedding = rms_norm(llama.head.columns(np.array(ids)), llama.blocks[0].norm, llama.config.eps)
    assert np.allclose(layer_inputs(llama, 0, "qkv", [ids]), embedding, atol=1e-6)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_gptq_s_paradox_on_a_real_layer(lang: str) -> None:
    """Weights further away, outputs closer on what it saw, and less so on other text."""
    layer = quantizing_model.layer(lang, 0, "down")  # type: ignore[arg-type]
    plain, ours = quantizing_model.gptq_weights(lang, 0, "down", 4, None)  # type: ignore[arg-type]
    moved = [np.mean((w - layer.weight) ** 2) for w in (plain, ours)]
    inputs = layer.inputs, layer.unseen
    seen, new = ([np.mean((x @ w - x @ layer.weight) ** 2) for w in (plain, ours)] for x in inputs)
    assert moved[1] > 1.5 * moved[0] and seen[1] < 0.6 * seen[0]
    assert seen[1] / seen[0] < new[1] / new[0]
    assert len(layer.unseen) < len(layer.inputs)
