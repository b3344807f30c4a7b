"""Split-KV decoding: the keys in ranges, each walked on its own, and one join a row tile.

Flash-Decoding (Dao et al., PyTorch blog, 2023-10-13); the number of parts is chosen as in flash-attention's
hopper/heuristics.h. Left out: its case of one KV head larger than L2, and that parts run at once; a walk is one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.orders import Order, Tile
from viz_core.attention.paged import Keys
from viz_core.attention.state import State
from viz_core.attention.tiled import Step, tiled
from viz_core.attention.tiling import Tiling
from viz_core.i18n import Problem


def num_splits(tiles: int, sms: int, blocks: int, most: int = 128, eligible: float = 0.85) -> int:
    """The fewest parts whose waves over the GPU's SMs are at least `eligible` as full as the fullest choice.

    tiles: batch · heads · query tiles; blocks: key tiles a row walks. 1 where 80 % of the SMs are busy, or ≤ 4 blocks.
    """
    if tiles >= 0.8 * sms or blocks <= 4:
        return 1
    parts = np.arange(1, min(most, sms, blocks) + 1)
    waves = tiles * parts / sms
    full = waves / np.ceil(waves)
    return int(parts[np.argmax(full >= eligible * full.max())])


def partial_bytes(rows: int, dv: int) -> int:
    """What a part leaves in HBM: its output and its lse, in float32."""
    return rows * (dv + 1) * 4


def split_kv(
    q: Floats,
    k: Keys,
    v: Keys,
    tile: Tile,
    parts: int,
    *,
    bias: Bias | None = None,
    scale: float | None = None,
    e: int = 2,
) -> Iterator[Step]:
    """Walk the keys in at most `parts` ranges of ⌈T_c / parts⌉ tiles; each stores its states, the join loads them all.

    A part is the tensor "part", row = query tile, col = its number. Raises Problem for more parts than key tiles.
    """
    t = Tiling(len(q), len(k), q.shape[1], v.shape[1], *tile, e=e)
    if not 1 <= parts <= t.col_tiles:
        raise Problem("attention_parts", parts=parts, tiles=t.col_tiles)
    per = -(-t.col_tiles // parts)
    states: dict[int, list[State]] = {i: [] for i in range(t.row_tiles)}
    for p, first in enumerate(range(0, t.col_tiles, per)):
        for step in tiled(q, k, v, tile, _columns(first, first + per), bias=bias, scale=scale, e=e):
            if step.op != "store" or step.row is None or step.state is None:
                yield step
                continue
            states[step.row].append(step.state)
            yield Step("store", "part", step.row, p, partial_bytes(len(step.state.m), t.dv), 0, step.state)
    yield from _join(states, t)


def _columns(first: int, stop: int) -> Order:
    """FA2's order over some of the key tiles."""
    return lambda row_tiles, col_tiles: ((i, j) for i in range(row_tiles) for j in range(first, min(stop, col_tiles)))


def _join(states: dict[int, list[State]], t: Tiling) -> Iterator[Step]:
    """Load the parts of every row tile, join them, store O."""
    for i, of_row in states.items():
        for p, state in enumerate(of_row):
            yield Step("load", "part", i, p, partial_bytes(len(state.m), t.dv))
        whole = reduce(or_, of_row)
        yield Step("merge", "O", i, None, 0, 0, whole)
        yield Step("store", "O", i, None, t.bytes("O", i), 0, whole)
