"""Rounded caches and changed weights: exact where they must be, and never seen by what came before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import tiny

from viz_core.i18n import Problem
from viz_core.model.cache import KVCache, QuantizedCache, Rounding
from viz_core.model.changed import changed, log_softmax, shift
from viz_core.model.library import checkpoint, load
from viz_core.model.streaming import perplexity
from viz_core.quantizers.registry import kivi, symmetric

IDS = [0, *range(2, 21)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=6), st.integers(1, 5), st.integers(2, 4))
def test_whole_groups_are_rounded_once_and_the_rest_is_exact(sizes: list[int], group: int, bits: int) -> None:
    rng, n = np.random.default_rng(0), sum(sizes)
    k, v = rng.standard_normal((2, 2, 3, n, 4)).astype(np.float32)
    keys, values = Rounding(kivi(bits, group), "channel", group), Rounding(kivi(bits, 4), "token")
    cache, at = QuantizedCache(2, 3, n, 4, keys, values), 0
    for size in sizes:
        cache.append(k[:, :, at : at + size], v[:, :, at : at + size])
        at += size
    whole = n // group * group
    assert np.array_equal(cache.k[:, :, whole:], k[:, :, whole:])
    for layer in range(2):
        for start in range(0, whole, group):
            part = k[layer, :, start : start + group]
            assert np.array_equal(cache.k[layer, :, start : start + group], keys.round(part))
        assert np.array_equal(cache.v[layer], values.round(v[layer]))


def test_a_channel_block_runs_over_tokens() -> None:
    """An outlier channel spoils only itself per channel, and every token per token."""
    k = np.random.default_rng(0).standard_normal((1, 8, 4)).astype(np.float32)
    k[:, :, 2] += 100
    per_channel, per_token = Rounding(kivi(4, 8), "channel", 8).round(k), Rounding(kivi(4, 4), "token").round(k)
    others = [0, 1, 3]
    assert np.abs(per_channel - k)[:, :, others].max() < 0.3
    assert np.abs(per_token - k)[:, :, others].max() > 1


def test_bytes_are_those_of_the_codes() -> None:
    keys, values = Rounding(kivi(4, 8), "channel", 8), Rounding(kivi(2, 4), "token")
    cache = QuantizedCache(3, 2, 20, 4, keys, values)
    cache.advance(11)
    k_bits = 2 * 4 * 8 * (4 + 32 / 8) + 2 * 4 * 3 * 16
    v_bits = 2 * 4 * 11 * (2 + 32 / 4)
    assert cache.nbytes == 3 * (k_bits + v_bits) / 8
    exact = QuantizedCache(3, 2, 20, 4, None, None)
    exact.advance(11)
    assert exact.nbytes == 3 * 2 * 2 * 11 * 4 * 2


def test_without_rounding_it_is_a_plain_cache() -> None:
    model, _ = tiny()
    c = model.config
    sizes = len(c.layers), c.kv_heads, 30, c.d_head
    cache, plain = QuantizedCache(*sizes, None, None), KVCache(*sizes)
    assert np.array_equal(model.forward(IDS, cache), model.forward(IDS, plain))


def test_fewer_bits_move_the_text_further() -> None:
    model = load("bundled")
    c = model.llama.config
    ids = model.encode("And God said unto Moses, Go down, and speak unto the children of Israel, saying, Thus saith he")
    exact = model.llama.forward(ids)
    moved = []
    for bits in (8, 4, 2):
        form = kivi(bits, c.d_head)
        cache = QuantizedCache(
            len(c.layers), c.kv_heads, len(ids), c.d_head, Rounding(form, "token"), Rounding(form, "token")
        )
        moved.append(shift(exact, model.llama.forward(ids, cache)).kl)
    assert 0 < moved[0] < moved[1] < moved[2]
    assert moved[0] < 1e-3


def test_only_the_layers_matrices_change() -> None:
    seen: list[str] = []

    def note(name: str, matrix: np.ndarray) -> np.ndarray:
        seen.append(name)
        return matrix

    same, config = changed("bundled", note), checkpoint("bundled")[0]
    assert len(seen) == 7 * len(config.layers)
    assert not [name for name in seen if "norm" in name or "embed" in name]
    ids = list(range(100, 110))
    assert np.array_equal(same.forward(ids), load("bundled").llama.forward(ids))
    form = symmetric(3, 32)
    rounded = changed("bundled", lambda name, matrix: form.round(matrix))
    moved = shift(same.forward(ids), rounded.forward(ids))
    assert moved.kl > 0
    assert 0 <= moved.flips <= 1
    assert np.isfinite(perplexity(rounded, ids, first=2))


def test_shift_of_known_distributions() -> None:
    before, after = np.log([[0.5, 0.5], [0.9, 0.1]]), np.log([[0.25, 0.75], [0.9, 0.1]])
    moved = shift(before + 5, after - 3)
    assert moved.kl == pytest.approx((0.5 * np.log(2) + 0.5 * np.log(0.5 / 0.75)) / 2)
    assert moved.flips == 0.5
    assert moved.largest == pytest.approx(0.25)
    assert np.exp(log_softmax(before)).sum(1) == pytest.approx([1, 1])


@pytest.mark.parametrize(("axis", "group"), [("channel", 0), ("token", 4)])
def test_groups_that_make_no_sense(axis: str, group: int) -> None:
    with pytest.raises(Problem):
        Rounding(kivi(4, 4), axis, group)  # type: ignore[arg-type]
