"""Billed bytes equal closed forms, which live here alone; schedules hold what SRAM can hold.

n, m, d: queries, keys, width (values dv); T_r, T_c: query and key tiles; e bytes an element; m and l are 8 bytes a row.
Mutants killed, each tried: V never billed; the first O loaded; a state stored once too few; unvisited rows not stored.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.attention import bias as biases
from viz_core.attention.cascade import cascade
from viz_core.attention.orders import ORDERS, fa1, fa2, shuffled, snake
from viz_core.attention.ring import ring
from viz_core.attention.split import num_splits, split_kv
from viz_core.attention.standard import standard
from viz_core.attention.tiled import Sram, Step, schedule, tiled
from viz_core.attention.tiling import Tiling


@st.composite
def tilings(draw: st.DrawFn) -> Tiling:
    n, m = draw(st.integers(1, 90)), draw(st.integers(1, 90))
    rows, cols = draw(st.integers(1, n)), draw(st.integers(1, m))
    return Tiling(n, m, draw(st.integers(1, 9)), draw(st.integers(1, 9)), rows, cols, draw(st.sampled_from([1, 2, 4])))


ONE = Sram()


def billed(steps: object) -> int:
    return sum(s.bytes for s in steps)  # type: ignore[attr-defined]


def walk(t: Tiling, order: object, sram: Sram = ONE) -> list[Step]:
    return list(schedule(t, order(t.row_tiles, t.col_tiles), sram))  # type: ignore[operator]


@settings(max_examples=150, deadline=None)
@given(tilings())
def test_closed_forms(t: Tiling) -> None:
    q, kv, o, stats = t.n * t.d * t.e, t.m * (t.d + t.dv) * t.e, t.n * t.dv * t.e, 8 * t.n
    rows, cols = t.row_tiles, t.col_tiles
    assert billed(walk(t, fa2)) == q + o + stats + kv * (rows if cols > 1 else 1)
    visits = cols if rows > 1 else 1  # with one query tile, nothing ever leaves
    assert billed(walk(t, fa1)) == kv + q * visits + (2 * visits - 1) * (o + stats)
    turns = ((cols - 1, 0)[i % 2] for i in range(rows - 1))  # the key tile that is still there when a row begins
    shared = sum((t.d + t.dv) * t.e * min(t.cols, t.m - j * t.cols) for j in turns)
    assert billed(walk(t, snake)) == q + o + stats + kv * rows - shared
    everything = Sram(rows, cols, cols, rows)
    for order in ORDERS.values():
        assert billed(walk(t, order, everything)) == q + kv + o + stats


@settings(max_examples=60, deadline=None)
@given(tilings(), st.integers(0, 99), st.integers(1, 4))
def test_compulsory_is_a_floor_and_flops_are_the_order_s_no_matter(t: Tiling, seed: int, slots: int) -> None:
    floor = (t.n * t.d + t.m * (t.d + t.dv) + t.n * t.dv) * t.e + 8 * t.n
    small, large = (walk(t, shuffled(seed), Sram(s, s, s, s)) for s in (slots, slots + 1))
    assert billed(small) >= billed(large) >= floor  # least recently used never suffers from more room
    assert sum(s.flops for s in small) == 2 * t.n * t.m * (t.d + t.dv)
    assert Counter((s.row, s.col) for s in small if s.op == "fold") == Counter(fa2(t.row_tiles, t.col_tiles))


@settings(max_examples=40, deadline=None)
@given(tilings(), st.integers(0, 99))
def test_a_state_is_stored_as_often_as_it_is_loaded_and_once_more(t: Tiling, seed: int) -> None:
    loads, stores = Counter(), Counter()
    for s in walk(t, shuffled(seed)):
        if s.tensor == "O" and s.op in ("load", "store"):
            (loads if s.op == "load" else stores)[s.row] += 1
    assert all(stores[i] == loads[i] + 1 for i in range(t.row_tiles))


def test_figures_of_the_300_by_300_example() -> None:
    """d 32, tiles 64 × 48, 2 bytes, one slot a tensor, m and l stored: bytes by order, and the standard algorithm's."""
    t, x = Tiling(300, 300, 32, 32, 64, 48), np.zeros((300, 32), np.float32)
    assert billed(walk(t, fa2)) == 232_800
    assert billed(walk(t, snake)) == 217_440
    assert billed(walk(t, fa1)) == 453_600
    assert billed(walk(t, fa2, Sram(5, 7, 7, 5))) == 79_200
    assert billed(standard(x, x, x)) == 796_800
    assert all(420_000 <= billed(walk(t, shuffled(seed))) <= 590_000 for seed in range(50))


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 9), st.sampled_from([2, 4]))
def test_standard(n: int, m: int, d: int, e: int) -> None:
    q, k = np.zeros((n, d), np.float32), np.zeros((m, d), np.float32)
    steps = list(standard(q, k, k, e=e))
    assert billed(steps) == (2 * n * d + 2 * m * d + 4 * n * m) * e
    assert sum(s.flops for s in steps) == 4 * n * m * d


def test_masked_tiles_cost_nothing_and_unseen_rows_are_stored() -> None:
    q, k = np.zeros((40, 4), np.float32), np.zeros((24, 4), np.float32)
    steps = list(tiled(q, k, k, (8, 8), bias=biases.causal(40, 24)))
    count = Counter(s.op for s in steps)
    assert (count["fold"], count["skip"]) == (6, 9)  # 3 query tiles see 1, 2, 3 key tiles; the first two see nothing
    assert sorted(s.row for s in steps if s.op == "store") == [0, 1, 2, 3, 4]  # type: ignore[type-var]
    assert all(np.isneginf(s.state.lse).all() for s in steps if s.op == "store" and s.row in (0, 1))  # type: ignore[union-attr]


def test_split_reads_kv_once_and_pays_for_its_parts() -> None:
    """KV once, Q once a part, and a write and a read of S · (dv + 1) float32 a row."""
    q, k = np.zeros((4, 8), np.float32), np.zeros((96, 8), np.float32)
    for parts in (1, 2, 3, 6):
        want = (parts * 4 * 8 + 2 * 96 * 8) * 2 + 2 * parts * 4 * (8 + 1) * 4 + 4 * 8 * 2 + 8 * 4
        assert billed(split_kv(q, k, k, (4, 16), parts)) == want


def test_one_query_costs_the_same_in_every_order() -> None:
    """FlashAttention alone saves a decode nothing: (1, 777) is the keys and the values, once."""
    q, k = np.zeros((1, 64), np.float32), np.zeros((777, 64), np.float32)
    costs = {billed(tiled(q, k, k, (1, 64), order)) for order in (fa1, fa2)}
    assert costs == {2 * (2 * 64 + 2 * 777 * 64) + 8}
    assert 0.96 < costs.pop() / billed(standard(q, k, k)) < 1


def test_cascade_reads_the_prefix_once() -> None:
    rng = np.random.default_rng(0)
    prefix, suffix = rng.normal(size=(64, 8)).astype(np.float32), rng.normal(size=(16, 8)).astype(np.float32)
    for batch in (1, 2, 5):
        steps = list(cascade([suffix[:2]] * batch, (prefix, prefix), [(suffix, suffix)] * batch, 16))
        keys = sum(s.bytes for s in steps if s.op == "load" and s.tensor in ("K", "V"))
        assert keys == 2 * 8 * 2 * (64 + 16 * batch)


def test_ring_sends_every_shard_round() -> None:
    x = np.ones((12, 4), np.float32)
    sends = [s for s in ring(x, x, x, 3) if s.op == "send"]
    assert len(sends) == 3 * 2
    assert billed(sends) == 2 * (2 * 12 * 4 * 2)  # each of ranks − 1 hops moves all of K and V


def test_absorbed_mla_bills_the_latent_once() -> None:
    t = Tiling(4, 100, 576, 512, 4, 10, 2, v_in_k=True)
    steps = walk(t, fa2)
    assert sum(s.bytes for s in steps if s.op == "load" and s.tensor != "Q") == 100 * 576 * 2


@pytest.mark.parametrize(
    ("tiles", "sms", "blocks", "want"),
    [(100, 108, 99, 1), (16, 108, 4, 1), (16, 108, 512, 6), (1, 132, 512, 109), (1, 132, 30, 26)],
)
def test_number_of_splits(tiles: int, sms: int, blocks: int, want: int) -> None:
    """16 tiles on 108 SMs: 6 parts give 96 blocks, 89 % of a wave; one tile takes 85 % of the most it could."""
    assert num_splits(tiles, sms, blocks) == want
