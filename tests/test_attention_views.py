"""Views are functions of the recorded walk: traffic, visits, SRAM, the probe; groups and the film of them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.attention import bias as biases
from viz_core.attention.dense import dense
from viz_core.attention.film import Scene, film
from viz_core.attention.grouping import grouped, visit_ends
from viz_core.attention.orders import ORDERS, fa1, fa2, shuffled
from viz_core.attention.record import Record, record
from viz_core.attention.rules import FA1, FA2, FA4
from viz_core.attention.standard import standard
from viz_core.attention.tiled import Sram, schedule, tiled
from viz_core.attention.tiling import Tiling
from viz_core.attention.views import (
    SKIPPED,
    billed,
    compulsory,
    errors,
    masked_tiles,
    rescales,
    resident,
    row_scores,
    traffic,
    visible,
    visits,
)
from viz_core.i18n import LANGS, has
from viz_core.trace import State

RNG = np.random.default_rng(4)
Q, K, V = (RNG.normal(size=s).astype(np.float32) for s in ((20, 8), (26, 8), (26, 6)))
T = Tiling(20, 26, 8, 6, 6, 5)
CAUSAL = biases.causal(20, 26)
WANT = dense(Q.astype(np.float64), K.astype(np.float64), V.astype(np.float64), CAUSAL)


def walked(query: int = 7, order: object = fa2, bias: object = CAUSAL, **kw: object) -> Record:
    return record(tiled(Q, K, V, (6, 5), order, bias=bias, **kw), query, 6)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_the_probe_is_the_query(order: object) -> None:
    walk = walked(13, order)
    np.testing.assert_allclose(walk.probe.out[-1], WANT.out[13], atol=1e-6)
    np.testing.assert_allclose(walk.probe.m[-1] + np.log(walk.probe.l[-1]), WANT.lse[13], atol=1e-6)
    error = errors(walk, WANT.out[13])
    assert error[0] > 0.01 > 1e-6 > error[-1]
    assert walk.probe.alpha[0] == 0
    m = np.concatenate([[-np.inf], walk.probe.m])
    np.testing.assert_allclose(walk.probe.alpha[1:], np.exp(m[1:-1] - m[2:]), rtol=1e-6)
    for col, step in zip(walk.probe.cols, walk.probe.steps, strict=True):
        assert (walk.row[step], walk.col[step]) == (2, col)


def test_scores_of_a_tile_are_the_dense_scores() -> None:
    got = row_scores(Q, K, 13, T.of_col(3), CAUSAL)
    np.testing.assert_allclose(got, WANT.scores[13, 15:20], atol=1e-5)
    assert np.isneginf(row_scores(Q, K, 13, T.of_col(4), CAUSAL)).all()


def test_traffic_and_visits() -> None:
    walk = walked()
    sums = traffic(walk)
    assert sum(r + w for r, w in sums.values()) == billed(walk)[-1] == walk.bytes.sum()
    assert sums["Q"] == (20 * 8 * 2, 0)
    assert sums["O"] == (0, 20 * (6 * 2 + 8))
    assert traffic(walk, 1) == {"Q": (6 * 8 * 2, 0)}
    seen = visits(walk, T)
    assert sorted(seen[seen > 0]) == list(range(1, (seen > 0).sum() + 1))
    assert {tuple(x) for x in np.argwhere(seen == SKIPPED)} == set(masked_tiles(CAUSAL, T)) != set()
    share = visible(CAUSAL, T)
    assert ((share > 0) == (seen > 0)).all()
    rows, cols = np.minimum(6, 20 - 6 * np.arange(4)), np.minimum(5, 26 - 5 * np.arange(6))
    assert round((share * np.outer(rows, cols)).sum()) == np.isfinite(CAUSAL.whole(20, 26)).sum()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 99), st.integers(1, 3), st.integers(1, 4))
def test_what_is_folded_is_resident(seed: int, few: int, many: int) -> None:
    sram = Sram(few, many, few, many)
    steps = list(schedule(T, shuffled(seed)(4, 6), sram))
    walk = record(tiled(Q, K, V, (6, 5), shuffled(seed), sram=sram), 0, 6)
    for n, s in enumerate(steps):
        held = resident(walk, n, sram)
        assert all(len(held[x]) <= size for x, size in zip("QKVO", (few, many, few, many), strict=True))
        if s.op == "fold":
            assert s.row in held["Q"]
            assert s.row in held["O"]
            assert s.col in held["K"]
            assert s.col in held["V"]


def test_compulsory_is_what_one_pass_with_all_in_sram_moves() -> None:
    walk = record(tiled(Q, K, V, (6, 5), sram=Sram(9, 9, 9, 9)), 0, 6)
    assert walk.bytes.sum() == compulsory(T)


def test_fewer_rescales_with_a_stale_reference() -> None:
    """About 3 new maxima a row for 32 tiles of keys (the harmonic number H₃₂ − 1), none by 2⁸ for normal data."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(n, 64)).astype(np.float32) for n in (64, 4096, 4096))
    plain, stale = (rescales(tiled(q, k, v, (64, 128), rule=rule)) for rule in (FA2, FA4))
    assert 2.6 < plain / 64 < 3.6
    assert stale == 0
    assert rescales(tiled(10 * q, k, v, (64, 128), rule=FA4)) > 0


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 29), st.sampled_from(list(ORDERS)), st.integers(8, 80))
def test_groups_cover_the_walk(rows: int, cols: int, tile: int, order: str, most: int) -> None:
    x, y = np.ones((rows, 1), np.float32), np.ones((cols, 1), np.float32)
    tile = min(tile, rows - 1)
    walk = record(tiled(x, y, y, (1, 1), ORDERS[order]), tile, 1)
    groups = grouped(walk, tile, most)
    assert [n for g in groups for n in g] == list(range(len(walk)))
    assert len(groups) <= max(most, 2)
    ends = set(visit_ends(walk).tolist())
    assert all(g[-1] in ends for g in groups[:-1])
    if 2 * cols + 2 <= most:
        alone = [g for g in groups if any(walk.row[n] == tile and n in ends for n in g)]
        assert len(alone) == cols


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("rule", [FA1, FA2], ids=lambda r: r.name)
def test_film(name: str, rule: object) -> None:
    walk = walked(7, ORDERS[name], rule=rule)
    trace = film(walk, Scene(T, Sram(), CAUSAL, WANT.out[7], 999, rule is FA1))
    assert trace.steps == len(grouped(walk, 1))
    end = trace.state(trace.steps - 1)["state"]
    seen = visits(walk, T)
    grid = end[: seen.size].reshape(seen.shape)
    assert ((grid == State.MASKED) == (seen == SKIPPED)).all()
    assert ((grid == State.HELD) == (seen > 0)).all()
    assert (end[-T.row_tiles :] >= State.HELD).all()  # every O tile was stored
    series = {s.label.key: s.values for s in trace.series}  # type: ignore[union-attr]
    assert series["attention.series.bytes"][-1] == walk.bytes.sum()
    assert series["attention.series.flops"][-1] == walk.flops.sum()
    assert series["attention.series.error"][-1] < 1e-6  # type: ignore[operator]


def test_every_word_of_the_film_is_in_the_catalogue() -> None:
    walk = walked(7, fa1)
    trace = film(walk, Scene(T, Sram(), CAUSAL, WANT.out[7], 999), most=16)
    said = {trace.captions[n].key for n in range(trace.steps)}
    said |= {label.key for label in (*(s.label for s in trace.series), *(x.label for x in trace.lanes))}  # type: ignore[union-attr]
    said |= {event.kind for event in trace.events}
    assert all(has(key) for key in said), said
    assert all("{" not in text(trace, n, lang) for n in range(trace.steps) for lang in LANGS)
    assert re.search(r"m .+ → ", " ".join(text(trace, n, "en") for n in range(trace.steps)))


def text(trace: object, n: int, lang: object) -> str:
    from viz_core.i18n import t

    caption = trace.captions[n]  # type: ignore[attr-defined]
    return t(caption.key, lang, **caption.params)  # type: ignore[arg-type]


def test_a_long_walk_is_short_to_watch() -> None:
    x = np.random.default_rng(0).normal(size=(1024, 4)).astype(np.float32)
    for order in ORDERS.values():
        walk = record(tiled(x, x, x, (16, 16), order), 700, 16)
        groups = grouped(walk, 700 // 16)
        assert 200 <= len(groups) <= 300
        ends = visit_ends(walk)
        assert max(np.searchsorted(ends, g.stop) - np.searchsorted(ends, g.start) for g in groups) <= 24


def test_standard_is_recorded_too() -> None:
    walk = record(standard(Q, K, V, bias=CAUSAL), 7, 20)
    np.testing.assert_allclose(walk.probe.out[-1], WANT.out[7], atol=1e-6)
    assert set(traffic(walk)) == {"Q", "K", "V", "O", "S", "P"}


def test_an_order_of_nothing_is_one_step() -> None:
    walk = walked(7, lambda _rows, _cols: [])
    assert grouped(walk, 1) == [range(len(walk))]
    assert film(walk, Scene(T, Sram(), None, WANT.out[7], 999)).steps == 1
