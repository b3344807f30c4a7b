"""8-bit linear layers: what they multiply by, how far that is from the weights, and what they keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import Arrays, tiny

from viz_core.model import arena, int8
from viz_core.model.counts import Tally
from viz_core.model.generate import generate
from viz_core.model.int8 import Int8, quantize
from viz_core.model.library import load
from viz_core.model.linear import Dense, transpose_into
from viz_core.model.weights import build


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.lists(st.integers(1, 30), min_size=1, max_size=3), st.integers(1, 5), st.integers(0, 99))
def test_it_multiplies_by_its_rounded_weights(inputs: int, outs: list[int], n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((out, inputs)).astype(np.float32) for out in outs]
    parts[0][0] = 0
    bias = rng.standard_normal(sum(outs)).astype(np.float32)
    x = rng.standard_normal((n, inputs)).astype(np.float32)
    original, int8.PANEL = int8.PANEL, 64  # many panels
    layer = Int8.of(parts, (sum(outs), inputs), bias)
    int8.PANEL = original
    w = np.concatenate(parts)
    scale = np.abs(w).max(1, keepdims=True) / 127
    rounded = np.rint(w / np.where(scale == 0, 1, scale)) * scale
    assert np.abs(rounded - w).max() <= scale.max() / 2 * (1 + 1e-5)
    assert np.allclose(layer(x, Tally()), x @ rounded.T + bias, atol=1e-4)
    index = rng.integers(0, len(w), 7)
    assert np.allclose(layer.columns(index), rounded[index], atol=1e-6)
    assert layer.nbytes == w.size + 4 * len(w)


def test_a_row_of_zeros_stays_zero() -> None:
    codes, scale = quantize(np.zeros((2, 3), np.float32))
    assert not codes.any()
    assert not scale.any()


def test_the_largest_weight_of_a_channel_is_exact() -> None:
    w = np.array([[0.5, -2.0, 1.0], [3.0, 0.1, 0.0]], np.float32)
    codes, scale = quantize(w)
    assert np.allclose((codes * scale[:, None])[[0, 1], [1, 0]], [-2.0, 3.0])
    assert np.abs(codes).max() == 127


@pytest.mark.parametrize("variant", ["llama", "untied", "qwen3", "biased"])
def test_a_whole_model_in_8_bits_stays_close(variant: str) -> None:
    model, tensors = tiny(variant)
    small = build(model.config, Arrays(tensors), Int8.of)
    ids = [0, 5, 17, 17, 2, 40]
    exact, near = model.forward(ids), small.forward(ids)
    assert 0 < np.abs(exact - near).max() < 0.1 * np.abs(exact).max()
    assert sum(b.down.nbytes for b in small.blocks) < sum(b.down.nbytes for b in model.blocks) / 3


def test_the_bundled_model_in_8_bits_mostly_says_the_same() -> None:
    exact, small = load("bundled"), load("bundled", "int8")
    ids = exact.encode("In the beginning God created the heaven and the earth.")
    a, b = exact.llama.forward(ids), small.llama.forward(ids)
    assert (a.argmax(1) == b.argmax(1)).mean() > 0.8
    assert all(0 <= s.token < 4096 for s in generate(small.llama, ids, 3))


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([1, 15, 16, 17, 40, 9000]), st.integers(1, 5))
def test_transposed_in_strips(rows: int, columns: int) -> None:
    a = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    out = np.empty((columns, rows + 2), np.float32)
    transpose_into(out[:, 1 : rows + 1], a)
    assert np.array_equal(out[:, 1 : rows + 1], a.T)
    assert np.array_equal(Dense.of([a, a], (2 * rows, columns)).w, np.concatenate([a, a]).T)


def test_arrays_of_the_arena_share_no_bytes() -> None:
    arrays = [arena.empty((n, 3), kind) for n in (1, 5, 1000) for kind in (np.float32, np.int8)]
    for i, array in enumerate(arrays):
        array[:] = i
    assert [set(array.ravel().tolist()) for array in arrays] == [{i} for i in range(len(arrays))]
    assert all(array.ctypes.data % arena.LINE == 0 and array.flags.c_contiguous for array in arrays)
    assert arena.empty((arena.BLOCK // 4 + 1,)).size == arena.BLOCK // 4 + 1


@pytest.mark.parametrize(("inputs", "outputs"), [(40, 3), (3, 40), (7, 7)])
def test_either_memory_order_is_the_same_layer(inputs: int, outputs: int) -> None:
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((n, inputs)).astype(np.float32) for n in (outputs - 1, 1)]
    x, layer = rng.standard_normal((2, inputs)).astype(np.float32), Dense.of(parts, (outputs, inputs))
    assert np.allclose(layer(x, Tally()), x @ np.concatenate(parts).T, atol=1e-5)
    assert np.array_equal(layer.columns(np.array([0, outputs - 1])), np.concatenate(parts)[[0, -1]])
    assert layer.w.shape == (inputs, outputs)
