"""A long walk in few steps worth watching: the probed query's visits one by one, the rest in even groups."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from viz_core.attention.record import TENSORS, Column, Record

MOST = 300


def visit_ends(walk: Record) -> Column:
    """The step that ends each visit of a tile, its fold or its skip, (visits,)."""
    fold = walk.is_op("fold") & (walk.tensor == TENSORS.index("O"))
    return np.flatnonzero(fold | walk.is_op("skip"))


def grouped(walk: Record, row_tile: int, most: int = MOST) -> list[range]:
    """All steps of a walk as at most `most` ranges: each visit in `row_tile` alone, between them visits in even groups.

    The last range holds what follows the last visit (the stores that empty SRAM). If those alone leave no room, all
    visits are grouped alike.
    """
    ends = visit_ends(walk)
    if not len(ends):
        return [range(len(walk))]
    alone = walk.row[ends] == row_tile
    if alone.sum() + sum(not alone[r[0]] for r in _runs(alone)) >= most:
        alone = np.zeros_like(alone)
    runs = _runs(alone)
    room = most - 1 - int(alone.sum())
    size = next(s for s in range(1, len(ends) + 1) if sum(-(-len(r) // s) for r in runs if not alone[r[0]]) <= room)
    cuts: list[int] = []
    for r in runs:
        parts = len(r) if alone[r[0]] else -(-len(r) // size)
        cuts += [int(ends[part[-1]]) + 1 for part in np.array_split(np.array(r), parts)]
    return [range(a, b) for a, b in zip([0, *cuts], [*cuts, len(walk)], strict=True) if b > a]


def _runs(alone: Column) -> list[range]:
    """Maximal runs of visits that are all alone or all not."""
    edges = [0, *(np.flatnonzero(np.diff(alone)) + 1).tolist(), len(alone)]
    return [range(a, b) for a, b in pairwise(edges) if b > a]
