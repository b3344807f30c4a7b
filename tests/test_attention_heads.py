"""Packed grouped queries and absorbed MLA equal their expanded forms; segments and windows mean what they say."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core.attention import bias as biases
from viz_core.attention.dense import dense
from viz_core.attention.heads import absorb, expand, of_group, pack, packed, unpack
from viz_core.attention.tiled import assemble, tiled

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("g", [1, 3, 4])
def test_packed_equals_repeated(g: int) -> None:
    n, m, d, kv = 7, 11, 8, 2
    q, k, v = RNG.normal(size=(g * kv, n, d)), RNG.normal(size=(kv, m, d)), RNG.normal(size=(kv, m, d))
    bias = biases.causal(n, m)
    want = dense(q, k, v, bias).out
    for h, group in enumerate(of_group(q, kv)):
        got = assemble(tiled(pack(group), k[h], v[h], (min(5, n * g), 4), bias=packed(bias, g))).out
        np.testing.assert_allclose(unpack(got, g), want[h * g : h * g + g], atol=1e-14)


def test_packing_loads_keys_once_a_group() -> None:
    q, k = RNG.normal(size=(4, 1, 8)), RNG.normal(size=(64, 8))
    loads = sum(s.bytes for s in tiled(pack(q), k, k, (4, 16)) if s.tensor in ("K", "V"))
    assert loads == 2 * 64 * 8 * 2
    alone = sum(s.bytes for head in q for s in tiled(head, k, k, (1, 16)) if s.tensor in ("K", "V"))
    assert alone == 4 * loads


def test_absorbed_equals_expanded() -> None:
    heads, n, m, d, r, c, dv = 3, 4, 9, 8, 4, 6, 5
    q, q_rope = RNG.normal(size=(heads, n, d)), RNG.normal(size=(heads, n, r))
    w_uk, w_uv = RNG.normal(size=(heads, c, d)), RNG.normal(size=(heads, c, dv))
    latent, k_rope = RNG.normal(size=(m, c)), RNG.normal(size=(m, r))
    k = np.concatenate([latent @ w_uk, np.broadcast_to(k_rope, (heads, m, r))], -1)
    want = dense(np.concatenate([q, q_rope], -1), k, latent @ w_uv, biases.causal(n, m)).out
    queries, keys, values, scale = absorb(q, q_rope, w_uk, latent, k_rope)
    np.testing.assert_array_equal(keys[:, :c], values)
    walk = tiled(queries, keys, values, (6, 4), bias=packed(biases.causal(n, m), heads), scale=scale, v_in_k=True)
    np.testing.assert_allclose(expand(assemble(walk).out, w_uv), want, atol=1e-13)


def test_biases_compose_and_mean_what_they_say() -> None:
    n, m = 3, 5
    seen = np.isfinite(biases.window(n, m, 1, 0).whole(n, m))
    assert seen.sum(1).tolist() == [2, 2, 2]  # W = 2 keys, self included
    assert seen[-1].tolist() == [False, False, False, True, True]
    assert np.isfinite(biases.causal(n, m).whole(n, m)).sum(1).tolist() == [3, 4, 5]
    assert not np.isfinite(biases.causal(5, 3).whole(5, 3))[:2].any()
    both = biases.causal(n, m) + biases.segment([0, 1, 1], [0, 0, 0, 1, 1])
    assert np.isfinite(both.whole(n, m)).sum(1).tolist() == [3, 1, 2]
    alibi = biases.alibi(n, m, 0.5).whole(n, m)
    np.testing.assert_array_equal(alibi[-1], [-2, -1.5, -1, -0.5, 0])
    np.testing.assert_array_equal(biases.window(n, m, None, None).whole(n, m), biases.free().whole(n, m))
    part = biases.array(alibi)(np.array([2]), np.array([0, 4]))
    np.testing.assert_array_equal(part, [[-2, 0]])
    np.testing.assert_array_equal(np.isfinite(biases.window(4, 4, 0, 1).whole(4, 4)).sum(1), [2, 2, 2, 1])
