"""A walk read once and kept as columns, with one query's numbers beside it: what every view is a function of."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz_core.attention.bias import Floats
from viz_core.attention.state import State, stack
from viz_core.attention.tiled import Step

OPS = ("load", "store", "fold", "skip", "merge", "send")
TENSORS = ("Q", "K", "V", "O", "S", "P", "part", "KV")
Column = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Probe:
    """What f folds did to one query: step numbers (f,), key tiles (f,), m and l after each, α = e^(m_old − m_new).

    o (f, dv): the running sum; out (f, dv): o / l, the answer if the walk ended here. α of the first keys seen is 0.
    """

    query: int
    steps: Column
    cols: Column
    m: Floats
    l: Floats  # noqa: E741 the papers' own letter
    alpha: Floats
    o: Floats
    out: Floats


@dataclass(frozen=True, slots=True)
class Record:
    """T steps: op and tensor as numbers of OPS and TENSORS, row and col tiles (−1: none), bytes, flops; all (T,).

    probe: the probed query; end: the state of all n queries as HBM holds it at the end.
    """

    op: Column
    tensor: Column
    row: Column
    col: Column
    bytes: Column
    flops: Column
    probe: Probe
    end: State

    def __len__(self) -> int:
        return len(self.op)

    def is_op(self, op: str) -> NDArray[np.bool_]:
        """Which steps are of this kind, (T,)."""
        return np.asarray(self.op == OPS.index(op))


def record(steps: Iterable[Step], query: int = 0, tile_rows: int = 1) -> Record:
    """Consume a walk. query: whose numbers to keep; tile_rows: queries a tile."""
    op_code, tensor_code = ({name: n for n, name in enumerate(names)} for names in (OPS, TENSORS))
    tile, at = divmod(query, tile_rows)
    columns = [array(kind) for kind in "bbiiqq"]
    add = [c.append for c in columns]
    folds, ends = list[tuple[int, int, State]](), dict[int, State]()
    for number, s in enumerate(steps):
        row, col = (-1 if x is None else x for x in (s.row, s.col))
        for append, x in zip(add, (op_code[s.op], tensor_code[s.tensor], row, col, s.bytes, s.flops), strict=True):
            append(x)
        if s.state is None:
            continue
        if s.op == "fold" and row == tile:
            folds.append((number, col, State(s.state.m[at].copy(), s.state.l[at].copy(), s.state.o[at].copy())))
        elif s.op == "store" and s.tensor == "O":
            ends[row] = s.state
    end = stack([ends[i] for i in sorted(ends)])
    op, tensor, rows, cols, sizes, flops = (np.array(c) for c in columns)
    return Record(op, tensor, rows, cols, sizes, flops, _probe(query, folds, end.o.shape[1]), end)


def _probe(query: int, folds: list[tuple[int, int, State]], dv: int) -> Probe:
    """The folds of one query as columns."""
    steps, cols = (np.array([f[x] for f in folds], np.int64) for x in (0, 1))
    m, total = (np.array([getattr(f[2], x) for f in folds], np.float64) for x in ("m", "l"))
    o = np.array([f[2].o for f in folds], np.float64).reshape(-1, dv)
    before = np.concatenate([[-np.inf], m])[:-1]
    alpha = np.exp(np.where(np.isneginf(before), -np.inf, before - np.where(np.isneginf(m), 0, m)))
    return Probe(query, steps, cols, m, total, alpha, o, o / np.where(total == 0, 1, total)[:, None])
