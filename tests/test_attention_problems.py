"""Bad input is a sentence that names what is wrong; good orders are accepted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from viz_core.attention import bias as biases
from viz_core.attention.cascade import cascade
from viz_core.attention.dense import dense
from viz_core.attention.heads import of_group
from viz_core.attention.orders import fa2, own, parse
from viz_core.attention.paged import Paged
from viz_core.attention.ring import ring
from viz_core.attention.split import split_kv
from viz_core.attention.tiled import assemble, tiled
from viz_core.attention.tiling import Tiling
from viz_core.i18n import LANGS, Problem

X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
POOL = np.zeros((3, 2, 4), np.float32)


def with_value(x: float) -> np.ndarray:
    bad = X.copy()
    bad[1, 2] = x
    return bad


def go(q: np.ndarray = X, k: np.ndarray = X, v: np.ndarray = X, tile: tuple[int, int] = (2, 3), **kw: object) -> object:
    return assemble(tiled(q, k, v, tile, **kw))  # type: ignore[arg-type]


BAD: dict[str, tuple[str, Callable[[], object]]] = {
    "nan in q": ("attention_not_finite", lambda: go(q=with_value(np.nan))),
    "inf in k": ("attention_not_finite", lambda: go(k=with_value(np.inf))),
    "inf in v": ("attention_not_finite", lambda: go(v=with_value(-np.inf))),
    "products overflow": ("attention_overflow", lambda: go(q=X * 1e25, k=X * 1e25)),
    "widths": ("attention_shapes", lambda: go(k=X[:, :3])),
    "lengths": ("attention_shapes", lambda: go(v=X[:5])),
    "three axes": ("attention_shapes", lambda: go(q=X[None])),
    "no queries": ("attention_empty", lambda: go(q=X[:0])),
    "no width": ("attention_empty", lambda: Tiling(4, 4, 0, 4, 1, 1)),
    "tile 0": ("attention_tile_size", lambda: go(tile=(0, 3))),
    "tile too large": ("attention_tile_size", lambda: go(tile=(2, 7))),
    "misses": ("attention_order_misses", lambda: go(order=own([(0, 0), (0, 1), (1, 0), (2, 1), (2, 0)]))),
    "repeats": ("attention_order_repeats", lambda: go(order=own([*fa2(3, 2), (1, 1)]))),
    "outside": ("attention_order_outside", lambda: go(order=own([*fa2(3, 2), (3, 0)]))),
    "not a tile": ("attention_order_word", lambda: parse("0,0 0;1")),
    "heads": ("attention_heads", lambda: of_group(np.zeros((9, 2, 4)), 4)),
    "no kv heads": ("attention_heads", lambda: of_group(np.zeros((9, 2, 4)), 0)),
    "table short": ("attention_table_short", lambda: Paged(POOL, [0, 1], 5)),
    "table outside": ("attention_table_outside", lambda: Paged(POOL, [0, 3], 4)),
    "table negative": ("attention_table_outside", lambda: Paged(POOL, [0, -1], 4)),
    "parts": ("attention_parts", lambda: list(split_kv(X, X, X, (6, 3), 3))),
    "no parts": ("attention_parts", lambda: list(split_kv(X, X, X, (6, 3), 0))),
    "ranks": ("attention_ranks", lambda: list(ring(X, X, X, 4))),
    "no ranks": ("attention_ranks", lambda: list(ring(X, X, X, 0))),
    "cascade": ("attention_cascade", lambda: list(cascade([X, X[:1]], (X, X), [(X, X)] * 2, 2))),
    "nobody": ("attention_cascade", lambda: list(cascade([], (X, X), [], 2))),
}


@pytest.mark.parametrize("what", BAD)
def test_problem(what: str) -> None:
    key, call = BAD[what]
    with pytest.raises(Problem) as caught:
        call()
    assert caught.value.key == key
    assert all("{" not in caught.value.text(lang) for lang in LANGS)


def test_missing_tiles_are_named() -> None:
    with pytest.raises(Problem, match=r"Not visited yet \(2\): \(1, 1\), \(2, 0\)\."):
        go(order=own([(0, 0), (0, 1), (1, 0), (2, 1)]))


def test_many_missing_tiles_are_counted() -> None:
    with pytest.raises(Problem, match=r"Not visited yet \(35\): .*\(2, 0\) …\."):
        own([(0, 0)])(6, 6)


def test_own_order_may_leave_out_masked_tiles() -> None:
    causal = biases.causal(6, 6)
    got = go(tile=(2, 2), bias=causal, order=own(parse("2,1 0,0 (1,1) 2,2; 1,0 2,0"), masked=[(0, 1), (0, 2), (1, 2)]))
    np.testing.assert_allclose(got.out, dense(X, X, X, causal).out, atol=1e-6)  # type: ignore[attr-defined]
