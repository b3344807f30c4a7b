"""A token's way: the same numbers as the forward pass, the allocator and the quantizer give by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_model import tiny

from viz_core.i18n import Problem
from viz_core.model.capture import Capture
from viz_core.model.journey import journey

IDS = (1, 5, 9, 3, 7, 2, 8, 4, 6)


@pytest.fixture(scope="module")
def capture() -> Capture:
    kept = Capture()
    tiny()[0].forward(IDS, capture=kept)
    return kept


@pytest.mark.parametrize("position", range(len(IDS)))
def test_same_arrays_all_along(capture: Capture, position: int) -> None:
    way = journey(capture, IDS, position)
    for i, layer in enumerate(capture.layers):
        np.testing.assert_array_equal(way.k[i], capture.k[layer][:, position])
        np.testing.assert_array_equal(way.v[i], capture.v[layer][:, position])
    assert way.table[way.logical] == way.physical and 0 <= way.slot < way.block_size
    assert way.logical * way.block_size + way.slot == position
    assert len(set(way.table)) == len(way.table) and 0 not in way.table, "block 0 is the null block"


def test_readers_are_weights_of_named_heads(capture: Capture) -> None:
    way = journey(capture, IDS, 3)
    assert not way.readers[:3].any(), "no query before it can see it"
    for query in range(3, len(IDS)):
        layer, head = way.heads[query]
        assert capture.head(layer, head).weights[query, 3] == pytest.approx(way.readers[query], abs=1e-6)
        assert way.readers[query] == pytest.approx(max(
            capture.head(m, h).weights[query, 3] for m in capture.layers for h in range(len(capture.q[m]))), abs=1e-6)


def test_small_form_is_close(capture: Capture) -> None:
    """Q4_0: a value is at most one step (largest magnitude / 8) away."""
    way = journey(capture, IDS, 4)
    rows = way.k.reshape(-1, way.k.shape[-1])
    values = way.small.values[:, : rows.shape[1]]
    assert (np.abs(values - rows) <= np.abs(rows).max(1, keepdims=True) / 8 * 1.01).all()


@pytest.mark.parametrize("position", [-1, len(IDS)])
def test_outside_the_prompt(capture: Capture, position: int) -> None:
    with pytest.raises(Problem):
        journey(capture, IDS, position)
