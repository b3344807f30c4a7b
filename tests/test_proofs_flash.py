"""The page's claims hold on every input and in every order, and fail where they should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from viz_core.attention.inputs import INPUTS
from viz_core.attention.orders import ORDERS, fa2
from viz_core.attention.rules import RULES
from viz_core.attention.split import split_kv
from viz_core.attention.tiled import assemble, tiled
from viz_core.proofs.flash_attention import (
    by_hand_equals_softmax,
    cubic_is_close,
    split_equals_dense,
    stale_equals_dense,
    tiled_equals_dense,
)


@pytest.mark.parametrize("name", INPUTS)
def test_tiled_holds(name: str) -> None:
    q, k, v, bias = INPUTS[name](60, 16, 2)
    for order in ORDERS.values():
        for rule in (RULES["FA1"], RULES["FA2"], RULES["FA4"]):
            proof = tiled_equals_dense(assemble(tiled(q, k, v, (16, 12), order, bias=bias, rule=rule)), q, k, v, bias)
            assert proof.holds, (name, rule.name, proof)


@pytest.mark.parametrize("name", INPUTS)
def test_a_missing_or_a_double_tile_is_seen(name: str) -> None:
    q, k, v, bias = INPUTS[name](60, 16, 2)
    if name == "huge":
        pytest.skip("one key has all the weight: a repeated tile changes nothing")
    tiles = list(fa2(4, 5))
    for wrong in (tiles[1:], [*tiles, (0, 0), (3, 4)]):
        got = assemble(tiled(q, k, v, (16, 12), lambda _rows, _cols, wrong=wrong: wrong, bias=bias))  # type: ignore[misc]
        assert not tiled_equals_dense(got, q, k, v, bias).holds


def test_a_blind_row_that_gives_anything_is_seen() -> None:
    q, k, v, bias = INPUTS["holes"](24, 8, 0)
    got = assemble(tiled(q, k, v, (6, 6), bias=bias))
    o = got.o.copy()
    o[12] = 1e-9
    assert not tiled_equals_dense(replace(got, o=o), q, k, v, bias).holds


def test_the_others_hold_and_can_fail() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(n, 8)).astype(np.float32) for n in (1, 90, 90))
    assert split_equals_dense(split_kv(q, k, v, (1, 16), 3), q, k, v).holds
    assert not split_equals_dense(split_kv(q, k[:80], v[:80], (1, 16), 3), q, k, v).holds
    assert by_hand_equals_softmax([1, 3, 2, 5], [4, 0, 2, 1], 2).holds
    assert cubic_is_close().holds
    assert stale_equals_dense(8).holds
