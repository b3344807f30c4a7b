"""A cache in few bits: the same however it was filled, exact where nothing is rounded, and told by its axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import tiny

from viz_core.model.capture import Capture
from viz_core.model.one_pass import OnePass, fold
from viz_core.model.quantized_cache import Axis, QuantizedCache, Side


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=6), st.integers(1, 5), st.sampled_from([2, 4, 8]))
def test_filled_in_any_chunks_it_answers_the_same(sizes: list[int], group: int, bits: int) -> None:
    n = sum(sizes)
    k, v = np.random.default_rng(0).standard_normal((2, 3, n, 4)).astype(np.float32)
    sides = Side(bits, "channel", group), Side(bits, "token", 4)
    steps, once, at = QuantizedCache(1, 3, n, 4, *sides, group), QuantizedCache(1, 3, n, 4, *sides, group), 0
    for size in sizes:
        keys, values = steps.put(0, k[:, at : at + size], v[:, at : at + size])
        steps.advance(size)
        at += size
    at_once = once.put(0, k, v)
    assert np.array_equal(keys, at_once[0])
    assert np.array_equal(values, at_once[1])
    whole = n // group * group
    assert np.array_equal(keys[:, whole:], k[:, whole:])  # the open group stays exact
    newest = values[:, max(0, n - group) :]
    assert np.array_equal(newest, v[:, max(0, n - group) :])


def test_an_outlier_channel_spoils_its_own_blocks_only_per_channel() -> None:
    k = np.random.default_rng(0).standard_normal((1, 8, 4)).astype(np.float32)
    k[:, :, 2] += 100
    others = [0, 1, 3]
    errors = [np.abs(Side(4, axis, 4).stored(k) - k)[:, :, others].max() for axis in ("channel", "token")]
    assert errors[0] < 0.3 < 1 < errors[1]


def test_sixteen_bits_are_the_plain_cache() -> None:
    model, _ = tiny()
    c, ids = model.config, [0, *range(2, 21)]
    exact = QuantizedCache(len(c.layers), c.kv_heads, 30, c.d_head, Side(), Side())
    assert np.array_equal(model.forward(ids, exact), model.forward(ids, model.new_cache(30)))
    few = QuantizedCache(len(c.layers), c.kv_heads, 30, c.d_head, Side(2, "channel", 5), Side())
    assert not np.allclose(model.forward(ids, few), model.forward(ids), atol=1e-2)
    assert few.bytes_per_token < exact.bytes_per_token


@pytest.mark.parametrize("recent", [4, 8, 20])
@pytest.mark.parametrize(
    "sides",
    [
        (Side(2, "channel", 4), Side(2, "token", 4)),
        (Side(3, "token", 4), Side(2, "channel", 4)),
        (Side(2, "channel", 4), Side()),
        (Side(), Side(2, "channel", 2)),
    ],
)
def test_one_pass_is_reading_token_by_token(sides: tuple[Side, Side], recent: int) -> None:
    """Each token sees its own newest ones exactly; the oracle decodes with the cache as it stands at every step."""
    model, _ = tiny()
    c, ids = model.config, [0, *range(2, 21)]
    whole = OnePass(len(c.layers), c.kv_heads, len(ids), c.d_head, *sides, recent)
    capture = Capture()
    at_once = model.forward(ids, whole, capture=capture, bias=whole.bias)
    cache = QuantizedCache(len(c.layers), c.kv_heads, len(ids), c.d_head, *sides, recent)
    steps, weights = [], []
    for token in ids:
        kept = Capture()
        steps.append(model.forward([token], cache, capture=kept)[0])
        weights.append(kept.weights(0)[:, 0])
    assert np.allclose(at_once, steps, atol=3e-4)  # logits of about 10; an FP16 scale may tip over by one place
    folded = fold(capture.weights(0))
    assert np.allclose(folded.sum(axis=-1), 1, atol=1e-5)
    assert all(np.allclose(folded[:, i, : i + 1], row, atol=1e-5) for i, row in enumerate(weights))
    plain = model.forward(ids, QuantizedCache(len(c.layers), c.kv_heads, len(ids), c.d_head, *sides))
    assert not np.allclose(at_once, plain, atol=1e-3), "the residual matters here"


def test_the_newest_are_kivi_s() -> None:
    """Of K all since the last full stretch of R, of V the last R (modeling_llama_kivi: n % R, and n − R coded)."""
    k, v = Side(2, "channel", 32), Side(2, "token", 32)
    assert [k.exact(n, 128) for n in (1, 127, 128, 129, 256, 300)] == [1, 127, 0, 1, 0, 44]
    assert [v.exact(n, 128) for n in (1, 127, 128, 129, 256, 300)] == [1, 127, 128, 128, 128, 128]
    assert k.exact(100, 40) == 36, "a stretch is whole groups: 64 tokens"
    assert Side(16).exact(9, 0) == 9 and k.exact(9, 0) == v.exact(9, 0) == 0
    cache = QuantizedCache(2, 3, 300, 32, k, v, 128)
    cache.length = 300
    coded = (300 - 44) * 3 + (300 - 128) * 3  # 2-bit codes and 32 / 32 bits of scale and minimum
    assert cache.nbytes == 2 * 3 * 32 * (coded + (44 + 128) * 16) // 8


def counted(side: Side, held: int, heads: int, width: int, recent: int) -> int:
    """Bits of one layer's K or V, number by number: a scale and a minimum, 16 bits each, wherever a group begins."""
    exact = side.exact(held, recent)
    bits = exact * heads * width * 16
    for _head in range(heads):
        for token in range(held - exact):
            for channel in range(width):
                at = token if side.axis == "channel" else channel
                bits += 16 if side.bits == 16 else side.bits + 32 * (at % side.group == 0)
    return bits


@pytest.mark.parametrize("recent", [0, 8, 20])
@pytest.mark.parametrize("held", [1, 2, 16, 33, 40])
@pytest.mark.parametrize("axis", ["channel", "token"])
@pytest.mark.parametrize(("bits", "group"), [(2, 5), (4, 8), (8, 32), (3, 64), (16, 32)])
def test_bytes_are_counted_number_by_number(bits: int, group: int, axis: Axis, held: int, recent: int) -> None:
    k, v = Side(bits, axis, group), Side(2, "token", 8)
    cache = QuantizedCache(2, 3, 64, 12, k, v, recent)
    cache.length = held
    assert cache.nbytes == round(2 * sum(counted(side, held, 3, 12, recent) for side in (k, v)) / 8)


def test_a_short_group_costs_as_many_scales_as_a_full_one() -> None:
    """16 tokens of 256 numbers: 256 × (16 · 2 + 32) bits of K by channel; 2 tokens take more than in 16 bits."""
    usual = QuantizedCache(4, 2, 99, 32, Side(2, "channel", 32), Side(2, "token", 32))
    usual.length = 16
    assert usual.nbytes == 2048 + 1536
    short = QuantizedCache(4, 2, 99, 32, Side(2, "channel", 64), Side(2, "channel", 64))
    plain = QuantizedCache(4, 2, 99, 32, Side(), Side())
    short.length = plain.length = 2
    assert (short.nbytes, plain.nbytes) == (2304, 2048)
    assert Side(2, "token", 8).token_bits(12) == 12 * 2 + 2 * 32, "12 channels are two groups of 8"
