"""The fast path equals dense attention: decode, prefill, grouped heads, windows, rows that see nothing."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core.attention import bias as biases
from viz_core.attention.dense import dense
from viz_core.attention.fast import attend

RNG = np.random.default_rng(5)


def draw(h: int, kv: int, n: int, m: int, d: int, dv: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, k, v = (RNG.normal(size=s).astype(np.float32) for s in ((h, n, d), (kv, m, d), (kv, m, dv)))
    return q, k, v


@pytest.mark.parametrize(
    "h,kv,n,m,d,dv",
    [
        (9, 3, 1, 37, 64, 64),
        (4, 4, 1, 1, 8, 8),
        (8, 2, 1, 1025, 128, 32),
        (9, 3, 5, 5, 64, 64),
        (4, 1, 7, 40, 16, 24),
        (2, 1, 257, 513, 8, 8),
        (2, 2, 255, 511, 8, 8),
        (1, 1, 600, 1100, 8, 8),
        (2, 1, 40, 7, 16, 16),
    ],
)
@pytest.mark.parametrize("window", [None, 1, 6, 300, 5000])
@pytest.mark.parametrize("causal", [False, True])
def test_equals_dense(h: int, kv: int, n: int, m: int, d: int, dv: int, window: int | None, causal: bool) -> None:
    q, k, v = draw(h, kv, n, m, d, dv)
    left = None if window is None else window - 1
    bias = biases.window(n, m, left) if causal or window is not None else None
    want = dense(q, k, v, bias)
    got = attend(q, k, v, causal=causal, window=window)
    np.testing.assert_allclose(got, want.out, atol=5e-6, rtol=1e-5)
    if n > m and (causal or window is not None):  # kills a top-left causal mask: early rows see nothing at all
        assert not got[:, : n - m].any()


def test_bias_adds_to_causal() -> None:
    q, k, v = draw(4, 2, 33, 50, 16, 16)
    alibi = biases.alibi(33, 50, 0.25)
    want = dense(q, k, v, alibi + biases.causal(33, 50)).out
    np.testing.assert_allclose(attend(q, k, v, causal=True, bias=alibi), want, atol=5e-6, rtol=1e-5)
    q1 = q[:, -1:]
    want = dense(q1, k, v, biases.alibi(1, 50, 0.25)).out
    np.testing.assert_allclose(attend(q1, k, v, bias=biases.alibi(1, 50, 0.25)), want, atol=5e-6, rtol=1e-5)


def test_float64_stays_float64() -> None:
    q, k, v = (x.astype(np.float64) for x in draw(4, 2, 9, 12, 16, 16))
    got = attend(q, k, v, causal=True)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, dense(q, k, v, biases.causal(9, 12)).out, atol=1e-12)


@pytest.mark.parametrize("rise", [0.0, 3.0, 30.0, 400.0])
@pytest.mark.parametrize("causal", [False, True])
def test_a_stale_maximum_is_renewed(rise: float, causal: bool) -> None:
    """Logits that grow by `rise` from tile to tile: the sum passes 2²⁰, or overflows, and the tile is done again.

    Mutants killed, each tried: no renewal at all; −m left in q while a tile is redone; the old sums not rescaled; the
    row of −m not written back; an edge tile's queries shifted by one.
    """
    q, k, v = draw(1, 1, 700, 2100, 8, 8)
    q[..., 0], k[..., 0] = 1, rise * (np.arange(2100) // 512) * 8**0.5
    bias = biases.causal(700, 2100) if causal else None
    want = dense(*(x.astype(np.float64) for x in (q, k, v)), bias).out
    rounding = np.abs(dense(q, k, v, bias).out - want).max()  # logits of 1,600 are themselves rounded by 1e-4
    assert np.abs(attend(q, k, v, causal=causal) - want).max() <= 4 * rounding + 5e-6


def test_windows_much_smaller_and_larger_than_a_tile() -> None:
    q, k, v = draw(2, 1, 1000, 1300, 8, 8)
    for window in (1, 2, 127, 128, 129, 384, 512, 513, 700, 1299, 1300):
        want = dense(q, k, v, biases.window(1000, 1300, window - 1)).out
        np.testing.assert_allclose(attend(q, k, v, window=window), want, atol=5e-6, rtol=1e-5)
