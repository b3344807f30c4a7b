"""What can be seen of a walk: pure functions of its Record.

Two levels only, HBM and SRAM: what moves between them is billed. L2 and registers are not modelled, so not drawn; the
compulsory bytes stand beside the billed ones as what a perfect cache would leave.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.orders import Tile
from viz_core.attention.record import OPS, TENSORS, Column, Record
from viz_core.attention.slots import Slots
from viz_core.attention.tiled import Sram, Step
from viz_core.attention.tiling import STATS, Tiling

SKIPPED = -1


def traffic(walk: Record, upto: int | None = None) -> dict[str, tuple[int, int]]:
    """Bytes read from and written to HBM, by tensor, over the first `upto` steps (all of them unless given)."""
    of = slice(upto)
    op, tensor, size = walk.op[of], walk.tensor[of], walk.bytes[of]
    reads, writes = (
        np.bincount(tensor, weights=size * (op == OPS.index(x)), minlength=len(TENSORS)).astype(np.int64)
        for x in ("load", "store")
    )
    return {name: (int(r), int(w)) for name, r, w in zip(TENSORS, reads, writes, strict=True) if r or w}


def billed(walk: Record) -> Column:
    """Bytes moved so far after every step, (T,)."""
    return np.cumsum(walk.bytes)


def compulsory(t: Tiling, masked_cols: int = 0) -> int:
    """What no order can avoid: Q, K and V read once, O with its m and l written once. masked_cols: keys nobody sees."""
    keys = (t.m - masked_cols) * (t.d + (0 if t.v_in_k else t.dv)) * t.e
    return t.n * (t.d + t.dv) * t.e + t.n * STATS + keys


def visits(walk: Record, t: Tiling) -> Column:
    """When each tile was folded, counted from 1, (T_r, T_c); 0 never, −1 skipped as wholly masked."""
    out = np.zeros((t.row_tiles, t.col_tiles), np.int64)
    skip, fold = walk.is_op("skip"), walk.is_op("fold") & (walk.tensor == TENSORS.index("O"))
    out[walk.row[skip], walk.col[skip]] = SKIPPED
    out[walk.row[fold], walk.col[fold]] = np.arange(1, fold.sum() + 1)
    return out


def visible(bias: Bias | None, t: Tiling) -> Floats:
    """The share of each tile's pairs that are not masked, (T_r, T_c): 1 whole, 0 can be skipped."""
    if bias is None:
        return np.ones((t.row_tiles, t.col_tiles))
    out = np.empty((t.row_tiles, t.col_tiles))
    for i in range(t.row_tiles):
        rows = np.arange(t.n)[t.of_row(i)]
        for j in range(t.col_tiles):
            out[i, j] = 1 - np.isneginf(bias(rows, np.arange(t.m)[t.of_col(j)])).mean()
    return out


def masked_tiles(bias: Bias | None, t: Tiling) -> list[Tile]:
    """The tiles that an own order may leave out."""
    return [(int(i), int(j)) for i, j in np.argwhere(visible(bias, t) == 0)]


def resident(walk: Record, step: int, sram: Sram) -> dict[str, tuple[int, ...]]:
    """The tiles in SRAM after `step`, by tensor, least recently used first; O also holds states not yet stored."""
    held = sram.slots()
    columns = (c[: step + 1].tolist() for c in (walk.op, walk.tensor, walk.row, walk.col))
    for op, tensor, row, col in zip(*columns, strict=True):
        touch(held, OPS[op], TENSORS[tensor], row, col)
    return {name: tuple(slots) for name, slots in held.items()}


def touch(held: dict[str, Slots], op: str, tensor: str, row: int, col: int) -> None:
    """What one step does to the slots: a load brings a tile, a fold uses its four."""
    if op == "fold" and tensor == "O":
        for name, tile in (("Q", row), ("K", col), ("V", col), ("O", row)):
            held[name].touch(tile)
    elif op == "load" and tensor in held:
        held[tensor].touch(row if tensor in "QO" else col)


def errors(walk: Record, want: Floats) -> Floats:
    """max |answer so far − want| of the probed query after each of its folds, (f,); want (dv,)."""
    return np.abs(walk.probe.out - want).max(1)


def rescales(steps: Iterable[Step]) -> int:
    """How often a row took a new reference and so had its sums multiplied, its first one apart, over a whole walk."""
    last: dict[int, Floats] = {}
    count = 0
    for s in steps:
        if s.op == "fold" and s.state is not None and s.row is not None:
            old = last.get(s.row)
            if old is not None:
                count += int(((old != s.state.m) & ~np.isneginf(old)).sum())
            last[s.row] = s.state.m
    return count


def row_scores(
    q: Floats, k: Floats, query: int, cols: slice, bias: Bias | None = None, scale: float | None = None
) -> Floats:
    """The biased scores of one query with the keys of one tile, (c,); q (n, d), k (m, d)."""
    s = k[cols] @ q[query] * (q.shape[1] ** -0.5 if scale is None else scale)
    return s if bias is None else s + bias(np.array([query]), np.arange(len(k))[cols])[0]
