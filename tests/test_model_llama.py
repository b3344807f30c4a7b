"""The NumPy decoder against the same network written a second time in float64, and against itself in other orders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import VARIANTS, reference, tiny

from viz_core.i18n import Problem
from viz_core.model.capture import Capture
from viz_core.model.counts import Tally
from viz_core.model.prefix import continue_from, shared_length

IDS = [0, 5, 17, 17, 2, 40, 60, 33, 9, 5, 28]


@pytest.mark.parametrize("variant", VARIANTS)
def test_logits_equal_an_independent_float64_network(variant: str) -> None:
    model, tensors = tiny(variant)
    expected = reference(model.config, tensors, IDS)
    assert np.abs(model.forward(IDS) - expected).max() < 2e-5 * np.abs(expected).max()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("chunks", [[1] * 11, [4, 7], [10, 1], [3, 3, 5]])
def test_any_chunking_through_the_cache_gives_the_same_logits(variant: str, chunks: list[int]) -> None:
    model, _ = tiny(variant)
    cache, whole, at, parts = model.new_cache(len(IDS)), model.forward(IDS), 0, []
    for n in chunks:
        parts.append(model.forward(IDS[at : at + n], cache))
        at += n
    assert cache.length == len(IDS)
    assert np.abs(np.concatenate(parts) - whole).max() < 1e-4


def test_last_only_is_the_last_row() -> None:
    model, _ = tiny()
    assert np.allclose(model.forward(IDS, last_only=True), model.forward(IDS)[-1:], atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=20), st.integers(0, 19), st.integers(0, 60))
def test_a_later_token_never_changes_earlier_logits(ids: list[int], where: int, other: int) -> None:
    model, _ = tiny()
    where %= len(ids)
    changed = [*ids[:where], other, *ids[where + 1 :]]
    assert np.array_equal(model.forward(ids)[:where], model.forward(changed)[:where])


def test_a_batch_gives_each_sequence_its_own_logits() -> None:
    model, _ = tiny()
    batch = [IDS, IDS[:3], [7], IDS[2:]]
    for caches in ([None] * 4, [model.new_cache() for _ in batch]):
        for ids, got in zip(batch, model.forward_batch(batch, caches), strict=True):
            assert np.abs(got - model.forward(ids)).max() < 1e-5
    later = model.forward_batch([[3], [4], [5], [6]], caches, last_only=True)
    assert np.abs(later[1] - model.forward([*IDS[:3], 4])[-1:]).max() < 1e-5


def test_a_batch_reads_the_weights_once() -> None:
    model, _ = tiny()
    one, three = Tally(), Tally()
    model.forward(IDS, counts=one)
    model.forward_batch([IDS] * 3, [None] * 3, counts=three)
    assert three.weight_bytes == one.weight_bytes
    assert three.linear_flops == 3 * one.linear_flops


def test_a_shared_prefix_is_copied_not_lent() -> None:
    model, _ = tiny()
    held = model.new_cache()
    model.forward(IDS, held)
    before = held.k[:, :, : held.length].copy()
    other = [*IDS[:6], 50, 51]
    cache, reused = continue_from(model, held, IDS, other)
    assert reused == 6
    assert np.abs(model.forward(other[reused:], cache) - model.forward(other)[reused:]).max() < 1e-4
    assert np.array_equal(held.k[:, :, : held.length], before)


def test_the_last_token_is_always_computed() -> None:
    assert shared_length(IDS, IDS) == len(IDS) - 1
    assert shared_length(IDS, [8, *IDS]) == 0
    assert shared_length([], [1]) == 0


def test_counts_are_those_of_the_work() -> None:
    model, tensors = tiny()
    tally = Tally()
    model.forward(IDS, model.new_cache(), counts=tally)
    n, layers = len(IDS), len(model.config.layers)
    matrices = sum(t.size for name, t in tensors.items() if t.ndim == 2)
    assert tally.kv_projections == 2 * layers * n
    assert tally.linear_flops == 2 * n * matrices  # the tied embedding is multiplied once, as the head
    assert tally.weight_bytes == 4 * matrices
    assert tally.kv_written == n * model.config.kv_bytes_per_token
    assert tally.kv_read == n * model.config.kv_bytes_per_token


@pytest.mark.parametrize("variant", ["llama", "mistral"])
def test_a_captured_head_is_the_attention_that_ran(variant: str) -> None:
    model, _ = tiny(variant)
    capture = Capture([1])
    model.forward(IDS, capture=capture)
    assert capture.layers == [1]
    weights = capture.weights(1)
    assert weights.shape == (6, len(IDS), len(IDS))
    for h in range(6):
        head = capture.head(1, h)
        assert np.allclose(head.weights, weights[h], atol=1e-6)
        assert np.allclose(head.weights @ capture.v[1][capture.kv_head(1, h)], head.out, atol=1e-5)
    assert np.all(weights[:, ~np.tri(len(IDS), dtype=bool)] == 0)
    if variant == "mistral":
        assert np.all(weights[:, np.tri(len(IDS), k=-4, dtype=bool)] == 0)


def test_a_capture_behind_a_cache_sees_all_keys() -> None:
    model, _ = tiny()
    cache, capture, whole = model.new_cache(), Capture(), Capture()
    model.forward(IDS[:8], cache)
    model.forward(IDS[8:], cache, capture=capture)
    model.forward(IDS, capture=whole)
    assert capture.shape(0) == (3, 11)
    assert np.allclose(capture.weights(2), whole.weights(2)[:, 8:], atol=1e-5)


@pytest.mark.parametrize(
    ("ids", "key"),
    [([], "model_no_tokens_given"), ([61], "model_token_id"), ([-1], "model_token_id"), ([1] * 65, "model_too_long")],
)
def test_bad_ids_are_a_problem(ids: list[int], key: str) -> None:
    model, _ = tiny()
    with pytest.raises(Problem) as problem:
        model.forward(ids)
    assert problem.value.key == key


def test_a_full_cache_is_a_problem_and_stays_as_it_was() -> None:
    model, _ = tiny()
    cache = model.new_cache(4)
    model.forward([1, 2, 3], cache)
    with pytest.raises(Problem, match="room for 4 tokens"):
        model.forward([4, 5], cache)
    assert cache.length == 3
    assert np.abs(model.forward([4], cache) - model.forward([1, 2, 3, 4])[-1:]).max() < 1e-4


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_damaged_weights_are_a_problem(bad: float) -> None:
    from tiny_model import Arrays

    from viz_core.model.weights import build

    model, tensors = tiny()
    tensors["model.layers.1.mlp.up_proj.weight"][3, 4] = bad
    with pytest.raises(Problem, match="up_proj"):
        build(model.config, Arrays(tensors))
    del tensors["model.norm.weight"]
    with pytest.raises(Problem):
        build(model.config, Arrays(tensors))


def test_a_capture_outlives_the_cache_it_was_taken_from() -> None:
    model, _ = tiny()
    cache, capture = model.new_cache(), Capture()
    model.forward(IDS, cache, capture=capture)
    before = capture.weights(0)
    cache.truncate(3)
    model.forward([60, 1, 2, 3], cache)
    assert np.array_equal(capture.weights(0), before)


def test_attention_flops_are_those_of_the_pairs_computed() -> None:
    model, _ = tiny(max_position_embeddings=600)
    n, each = 600, 4 * 3 * 6 * 4  # 2 FLOPs in each of two products, 3 layers, 6 heads, d = 4
    tally = Tally()
    model.forward([i % 61 for i in range(n)], counts=tally)
    assert each * n * (n + 1) // 2 <= tally.attention_flops < each * n * n  # tiles in the future are skipped
    decode, cache = Tally(), model.new_cache()
    model.forward(IDS, cache)
    model.forward([3], cache, counts=decode)
    assert decode.attention_flops == each * (len(IDS) + 1)
