"""The monoid: any grouping and any order of any sets of keys is the same State; rules, cubic exp2, sinks.

Mutants killed, each tried: a floor of −5e4 or −1e30 under the maximum; FIFO slots; `|` that rescales one side only, or
drops its l; `finite` left out (NaN for rows that see nothing); FA4's reference kept for ever; an unclamped cubic.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.attention.dense import dense
from viz_core.attention.rules import FA1, FA2, FA4, RULES, Rule, exp2_cubic
from viz_core.attention.sinks import with_sink
from viz_core.attention.slots import Slots
from viz_core.attention.state import State, lift, unit

seeds = st.integers(0, 2**32 - 1)


def same(a: State, b: State) -> None:
    np.testing.assert_allclose(a.out, b.out, atol=1e-12, rtol=1e-10)
    np.testing.assert_allclose(a.lse, b.lse, atol=1e-10, rtol=1e-10)


def draw(seed: int, parts: int) -> list[State]:
    """States of random key sets for 3 queries, some seeing nothing, float64, each at a reference of its own."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(parts):
        s = rng.normal(size=(3, rng.integers(1, 5))) * rng.choice([1, 30, 300])
        s[rng.random(s.shape) < 0.4] = -np.inf
        top = s.max(1)
        out.append(lift(s, rng.normal(size=(s.shape[1], 2)), top + np.where(np.isneginf(top), 0, rng.normal(size=3))))
    return out


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_monoid(seed: int) -> None:
    a, b, c = draw(seed, 3)
    same(a | b, b | a)
    same((a | b) | c, a | (b | c))
    same(a | unit(3, 2, np.float64), a)
    same(unit(3, 2, np.float64) | a, a)


@settings(max_examples=40, deadline=None)
@given(seeds, st.randoms())
def test_any_order_of_states(seed: int, random: object) -> None:
    states = draw(seed, 6)
    mixed = list(states)
    random.shuffle(mixed)
    same(reduce(or_, states), reduce(or_, mixed))


def test_the_reference_is_free() -> None:
    (a,) = draw(7, 1)
    same(a.at(a.m + 3.5), a)
    got = a.at(a.m + 3.5)
    assert np.array_equal(got.m, a.m + 3.5)


def test_unit_gives_zero_and_minus_infinity() -> None:
    u = unit(4, 3)
    assert not u.out.any()
    assert np.isneginf(u.lse).all()
    assert np.isneginf(u.m).all()
    both = u | u
    assert not both.out.any()
    assert np.isneginf(both.m).all()


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.name)
def test_fold_equals_join(rule: Rule) -> None:
    rng = np.random.default_rng(3)
    q, k, v = rng.normal(size=(3, 40, 8)) * np.array([2.0, 2.0, 1.0])[:, None, None]
    state = unit(40, 8, np.float64)
    for j in range(0, 40, 7):
        state = rule.fold(state, q @ k[j : j + 7].T, v[j : j + 7])
    want = dense(q, k, v, scale=1.0)
    atol = 2e-4 * np.abs(v).max() if "cubic" in rule.name else 1e-12
    np.testing.assert_allclose(state.out, want.out, atol=atol)
    np.testing.assert_allclose(state.lse, want.lse, atol=atol)


def test_fa4_keeps_its_reference_until_two_to_the_tau() -> None:
    m, top = np.array([0.0, 0.0, -np.inf, 1.0]), np.array([8 * np.log(2) - 1e-9, 8 * np.log(2) + 1e-6, -3.0, -9.0])
    np.testing.assert_array_equal(FA4.reference(m, top), [0.0, top[1], -3.0, 1.0])
    np.testing.assert_array_equal(FA2.reference(m, top), [top[0], top[1], -3.0, 1.0])


def test_fa1_passes_through_a_division() -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 64, 16)).astype(np.float32)
    states = [unit(64, 16), unit(64, 16)]
    for j in range(0, 64, 8):
        states = [rule.fold(s, q @ k[j : j + 8].T, v[j : j + 8]) for rule, s in zip((FA1, FA2), states, strict=True)]
    assert not np.array_equal(states[0].o, states[1].o)  # other last bits: the division happened
    np.testing.assert_allclose(states[0].out, states[1].out, atol=1e-6)


def test_cubic_exp2() -> None:
    """Relative error 8.8e-5 (measured, and below half an ulp of float16, 4.9e-4); exact powers; 0 below 2^−127."""
    x = np.linspace(-100, 20, 400_001)
    worst = np.abs(exp2_cubic(x) / np.exp2(x) - 1).max()
    assert 8.5e-5 < worst < 9.0e-5
    np.testing.assert_array_equal(exp2_cubic(np.array([-3.0, 0.0, 5.0])), [0.125, 1.0, 32.0])
    np.testing.assert_array_equal(exp2_cubic(np.array([-np.inf, -1e30, -128.0])), 0)


@settings(max_examples=30, deadline=None)
@given(seeds, st.floats(-200, 200))
def test_sink_is_a_column_that_is_dropped(seed: int, sink: float) -> None:
    rng = np.random.default_rng(seed)
    q, k, v = rng.normal(size=(5, 4)), rng.normal(size=(7, 4)), rng.normal(size=(7, 3))
    got = dense(q, k, v)
    out, lse = with_sink(got.out, got.lse, sink)
    scores = np.concatenate([got.scores, np.full((5, 1), sink)], 1)
    top = scores.max(1, keepdims=True)
    p = np.exp(scores - top)
    np.testing.assert_allclose(out, p[:, :-1] / p.sum(1, keepdims=True) @ v, atol=1e-12)
    np.testing.assert_allclose(lse, np.log(p.sum(1)) + top[:, 0], atol=1e-10)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.name)
def test_very_negative_logits_are_logits(rule: Rule) -> None:
    """Logits of −4e5 … −1e6 are valid: a floor under the maximum (−5e4, say) would make them all weigh nothing."""
    s = np.linspace(-1e6, -4e5, 12).reshape(2, 6)[:, ::-1].copy()
    v = np.arange(6.0)[:, None]
    state = rule.fold(rule.fold(unit(2, 1, np.float64), s[:, :3].copy(), v[:3]), s[:, 3:].copy(), v[3:])
    np.testing.assert_allclose(state.out, 0, atol=1e-12)  # the largest is the first key, by 5e4
    np.testing.assert_allclose(state.lse, s.max(1))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.name)
def test_a_row_that_saw_nothing_stays_the_unit(rule: Rule) -> None:
    state = rule.fold(unit(1, 1), np.full((1, 3), -np.inf, np.float32), np.ones((3, 1), np.float32))
    assert np.isneginf(state.m).all()
    assert not state.l.any()
    assert not state.o.any()


def test_the_least_recently_used_tile_leaves() -> None:
    slots = Slots(2)
    assert [slots.touch(t) for t in (1, 2, 1, 3)] == [(False, None), (False, None), (True, None), (False, 2)]
    assert list(slots) == [1, 3]
