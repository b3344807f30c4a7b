"""Generation, the cache's book-keeping, and the proofs that pages print."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from both_ways import projections
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import tiny

from viz_core.i18n import Problem
from viz_core.model.cache import KVCache
from viz_core.model.capture import Capture
from viz_core.model.generate import Sampling, choose, generate, softmax
from viz_core.proofs import kv_cache

PROMPT = [0, 5, 17, 17, 2]


def test_both_ways_make_the_same_text_and_count_their_work() -> None:
    model, _ = tiny()
    cached, again = (list(generate(model, PROMPT, 6, cached=way, ignore_eos=True)) for way in (True, False))
    assert [s.token for s in cached] == [s.token for s in again]
    assert [(s.computed, s.reused) for s in cached] == [(5, 0), (1, 5), (1, 6), (1, 7), (1, 8), (1, 9)]
    assert [(s.computed, s.reused) for s in again] == [(n, 0) for n in range(5, 11)]
    assert [s.cache_bytes for s in cached] == [n * model.config.kv_bytes_per_token for n in range(5, 11)]
    assert all(s.cache_bytes == 0 for s in again)
    layers = len(model.config.layers)
    assert sum(s.counts.kv_projections for s in cached) == 2 * layers * (5 + 6 - 1)
    assert sum(s.counts.kv_projections for s in again) == 2 * layers * sum(range(5, 11))
    assert cached[-1].stop == "length"


def test_each_token_is_the_argmax_of_its_text() -> None:
    model, _ = tiny(seed=3)
    ids = list(PROMPT)
    for step in generate(model, PROMPT, 5, ignore_eos=True):
        logits = model.forward(ids)[-1]
        assert step.token == logits.argmax() == step.top[0][0]
        assert step.top[0][1] == pytest.approx(softmax(logits).max(), abs=1e-6)
        ids.append(step.token)


def test_stopped_half_way_keeps_what_was_made() -> None:
    model, _ = tiny()
    cache = model.new_cache()
    steps = generate(model, PROMPT, 20, cache=cache, ignore_eos=True)
    made = [s.token for s in islice(steps, 3)]
    assert cache.length == len(PROMPT) + 2
    more = list(generate(model, [made[-1]], 2, cache=cache, ignore_eos=True))
    whole = [s.token for s in generate(model, PROMPT, 5, ignore_eos=True)]
    assert made + [s.token for s in more] == whole


def test_stops_at_the_end_token_and_where_the_context_is_full() -> None:
    model, _ = tiny()
    first = next(generate(model, PROMPT, 1)).token
    ends, _ = tiny(eos_token_id=[first])
    steps = list(generate(ends, PROMPT, 9))
    assert [s.stop for s in steps] == ["eos"]
    short, _ = tiny(max_position_embeddings=7)
    for way in (True, False):
        steps = list(generate(short, PROMPT, 9, cached=way, ignore_eos=True))
        assert [s.stop for s in steps] == ["", "", "context"]


def test_the_prompt_is_checked_before_the_first_step() -> None:
    model, _ = tiny()
    with pytest.raises(Problem):
        generate(model, [0] * 65, 1)


def test_sampling_is_seeded() -> None:
    model, _ = tiny()
    runs = [[s.token for s in generate(model, PROMPT, 8, sampling=Sampling(1.0, seed=s))] for s in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.floats(0.05, 1), st.integers(0, 1000))
def test_sampling_stays_within_top_k_and_top_p(k: int, p: float, seed: int) -> None:
    logits = np.random.default_rng(seed).standard_normal(12) * 2
    rng = np.random.default_rng(seed)
    order, mass = np.argsort(-logits), softmax(logits)
    allowed = list(order[:k])
    inside = np.cumsum(mass[allowed]) - mass[allowed] < p * mass[allowed].sum()
    got = {choose(logits, Sampling(1.0, k, p), rng) for _ in range(20)}
    assert got <= set(np.array(allowed)[inside])


def test_sampling_frequencies_follow_the_softmax() -> None:
    logits, rng = np.array([0.0, 1.0, 2.0]), np.random.default_rng(0)
    drawn = np.bincount([choose(logits, Sampling(2.0), rng) for _ in range(4000)], minlength=3) / 4000
    assert np.abs(drawn - softmax(logits / 2)).max() < 0.03


@pytest.mark.parametrize("bad", [{"temperature": -1}, {"top_p": 0.0}, {"temperature": float("nan")}, {"top_k": -1}])
def test_bad_sampling_is_a_problem(bad: dict[str, float]) -> None:
    with pytest.raises(Problem):
        Sampling(**bad)  # type: ignore[arg-type]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 4), max_size=6), st.integers(0, 12))
def test_a_cache_holds_what_was_appended(sizes: list[int], cut: int) -> None:
    cache, rng = KVCache(2, 3, 24, 4), np.random.default_rng(0)
    kept = [rng.standard_normal((2, 2, 3, n, 4)).astype(np.float32) for n in sizes]
    for k, v in kept:
        cache.append(k, v)
    assert cache.length == sum(sizes)
    assert cache.nbytes == sum(x.nbytes for x in kept)
    if kept:
        assert np.array_equal(cache.k[:, :, : cache.length], np.concatenate([k for k, _ in kept], axis=2))
    n, other = min(cut, cache.length), KVCache(2, 3, 24, 4)
    other.copy_prefix(cache, n)
    assert other.length == n
    assert np.array_equal(other.v[:, :, :n], cache.v[:, :, :n])
    assert not np.shares_memory(other.v, cache.v)


def test_proofs_hold_and_can_fail() -> None:
    model, _ = tiny()
    capture = Capture()
    model.forward(PROMPT, capture=capture)
    proofs = [
        kv_cache.cached_equals_uncached(model, PROMPT),
        kv_cache.prefix_equals_full(model, PROMPT, [9, 8, 7]),
        kv_cache.batch_of_one(model, PROMPT, [[1, 2], [3]]),
        kv_cache.rows_sum_to_one(capture),
        projections(model, PROMPT, 6),
    ]
    assert all(p.holds and 0 <= p.measured <= p.tolerance for p in proofs)
    capture.q[0][:, 2] = np.nan
    assert not kv_cache.rows_sum_to_one(capture).holds
