"""A cache in few bits: the same however it was filled, exact where nothing is rounded, and told by its axis."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import tiny

from viz_core.model.quantized_cache import QuantizedCache, Side


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=6), st.integers(1, 5), st.sampled_from([2, 4, 8]))
def test_filled_in_any_chunks_it_answers_the_same(sizes: list[int], group: int, bits: int) -> None:
    n = sum(sizes)
    k, v = np.random.default_rng(0).standard_normal((2, 3, n, 4)).astype(np.float32)
    sides = Side(bits, "channel", group), Side(bits, "token", 4)
    steps, once, at = QuantizedCache(1, 3, n, 4, *sides), QuantizedCache(1, 3, n, 4, *sides), 0
    for size in sizes:
        keys, values = steps.put(0, k[:, at : at + size], v[:, at : at + size])
        steps.advance(size)
        at += size
    at_once = once.put(0, k, v)
    assert np.array_equal(keys, at_once[0])
    assert np.array_equal(values, at_once[1])
    whole = n // group * group
    assert np.array_equal(keys[:, whole:], k[:, whole:])  # the open group stays exact


def test_an_outlier_channel_spoils_its_own_blocks_only_per_channel() -> None:
    k = np.random.default_rng(0).standard_normal((1, 8, 4)).astype(np.float32)
    k[:, :, 2] += 100
    others = [0, 1, 3]
    errors = [np.abs(Side(4, axis, 4).stored(k, True) - k)[:, :, others].max() for axis in ("channel", "token")]
    assert errors[0] < 0.3 < 1 < errors[1]


def test_sixteen_bits_are_the_plain_cache() -> None:
    model, _ = tiny()
    c, ids = model.config, [0, *range(2, 21)]
    exact = QuantizedCache(len(c.layers), c.kv_heads, 30, c.d_head, Side(), Side())
    assert np.array_equal(model.forward(ids, exact), model.forward(ids, model.new_cache(30)))
    few = QuantizedCache(len(c.layers), c.kv_heads, 30, c.d_head, Side(2, "channel", 5), Side())
    assert not np.allclose(model.forward(ids, few), model.forward(ids), atol=1e-2)
    assert few.bytes_per_token < exact.bytes_per_token
