"""Attention of a newest token through a block table: K and V lie scattered in a pool and are read block by block.

PagedAttention (Kwon et al. 2023, section 4.1): the kernel walks the request's table and folds one block after the
other. Here the model's own keys and values are written into a pool where the block manager put the request, and the
result is compared with attention over the same arrays in one piece. Left out: the fused kernel itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz_core.attention.dense import dense
from viz_core.attention.paged import Paged
from viz_core.attention.state import lift, unit
from viz_core.model.capture import Capture
from viz_core.paging.config import PoolConfig
from viz_core.paging.manager import BlockManager
from viz_core.paging.request import Request

STALE = np.float32(1e3)  # what lies in slots that no token of the request fills: one wrong read shows at once


def scatter(rows: np.ndarray, table: Sequence[int], blocks: int, size: int) -> np.ndarray:
    """Rows (n, d) written into a pool (blocks, size, d): token t in slot t mod size of block table[t div size]."""
    pool = np.full((blocks, size, rows.shape[1]), STALE, rows.dtype)
    at = np.arange(len(rows))
    pool[np.asarray(table)[at // size], at % size] = rows
    return pool


def attend_paged(q: np.ndarray, k: Paged, v: Paged, size: int, first: int = 0) -> np.ndarray:
    """Attention out (d_v,) of one query (d,) over tokens `first` … of paged keys and values, one block at a time."""
    state = unit(1, v.shape[1], q.dtype)
    for start in range(first - first % size, len(k), size):
        block = slice(max(start, first), min(start + size, len(k)))
        scores = (q[None] @ k[block].T) / np.sqrt(q.dtype.type(len(q)))
        state = state | lift(scores, v[block], scores.max(axis=1))
    return state.out[0]


def worst_difference(capture: Capture, table: Sequence[int], blocks: int, size: int) -> float:
    """max |Δ| over all layers and heads between the last token's attention through `table` and in one piece.

    Both sides in float64 on the model's float32 arrays, so that only a wrong address could show.
    """
    worst = 0.0
    for layer in capture.layers:
        keys, values = capture.k[layer].astype(np.float64), capture.v[layer].astype(np.float64)
        m, window = keys.shape[1], capture.window[layer]
        first = 0 if window is None else max(0, m - window)
        pools = [[scatter(rows, table, blocks, size) for rows in pair] for pair in zip(keys, values, strict=True)]
        for head, q in enumerate(capture.q[layer].astype(np.float64)):
            g = capture.kv_head(layer, head)
            k, v = (Paged(pool, table, m) for pool in pools[g])
            whole = dense(q[-1:], keys[g, first:], values[g, first:]).out[0]
            worst = max(worst, float(np.abs(attend_paged(q[-1], k, v, size, first) - whole).max()))
    return worst


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a prompt lies in a pool of `blocks` blocks (block 0 is the null block) beside a neighbour's blocks."""

    size: int
    blocks: int
    table: tuple[int, ...]
    neighbour: tuple[int, ...]


def placed(ids: Sequence[int], size: int) -> Placement:
    """The blocks that the block manager gives to a prompt prefilled a block at a time while a neighbour grows too."""
    blocks = 2 * -(-len(ids) // size) + 2
    manager = BlockManager(PoolConfig(blocks, size))
    prompt, neighbour = Request("prompt", ids), Request("neighbour", range(len(ids)), salt="another reader")
    for start in range(0, len(ids), size):
        count = min(size, len(ids) - start)
        fits = manager.allocate(prompt, count) and manager.allocate(neighbour, count)
        assert fits, "the pool was made for both"
    return Placement(size, blocks, tuple(prompt.table), tuple(neighbour.table))
