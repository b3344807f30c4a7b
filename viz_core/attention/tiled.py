"""One walk over the tiles of attention, in any order, as Steps: every load, store and fold, with its bytes and FLOPs.

HBM holds Q, K, V and O with its m and l; SRAM holds a few tiles of each (`Slots`). Bytes are billed by the act of
loading or storing. Not modelled: L2, registers, copies that overlap arithmetic, row tiles in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.check import fit
from viz_core.attention.orders import Order, Tile, fa2
from viz_core.attention.paged import Keys
from viz_core.attention.rules import FA2, Rule
from viz_core.attention.slots import Slots
from viz_core.attention.state import State, stack, unit
from viz_core.attention.tiling import Tiling

Op = Literal["load", "store", "fold", "skip", "merge", "send"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened. row: query tile, col: key tile (None where the tensor has no such side).

    state: after a fold, a merge, and what a store wrote. It is the walk's own: consume a long walk lazily.
    """

    op: Op
    tensor: str
    row: int | None = None
    col: int | None = None
    bytes: int = 0
    flops: int = 0
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Sram:
    """How many tiles of each tensor fit: one each is what FlashAttention's proofs assume."""

    q: int = 1
    k: int = 1
    v: int = 1
    o: int = 1

    def slots(self) -> dict[str, Slots]:
        """Empty slots of every tensor."""
        return {"Q": Slots(self.q), "K": Slots(self.k), "V": Slots(self.v), "O": Slots(self.o)}


def schedule(
    tiling: Tiling, tiles: Iterable[Tile], sram: Sram = Sram(), masked: Callable[[int, int], bool] | None = None
) -> Iterator[Step]:
    """The walk without its arithmetic: what is loaded, folded, skipped and stored.

    A state that leaves SRAM costs a store, and a load when it comes back; its first visit loads nothing. Row tiles that
    were never visited store their zeros at the end. masked(i, j): whether the tile can be skipped.
    """
    held, stored, seen = sram.slots(), set[int](), set[int]()
    for i, j in tiles:
        if masked is not None and masked(i, j):
            yield Step("skip", "O", i, j)
            continue
        for tensor, tile in (("Q", i), ("K", j), ("V", j), ("O", i)):
            hit, left = held[tensor].touch(tile)
            if hit:
                continue
            of_row = tensor in "QO"
            if tensor == "O":
                if left is not None:
                    stored.add(left)
                    yield Step("store", "O", left, None, tiling.bytes("O", left))
                if tile not in stored:
                    continue
            size = tiling.bytes(tensor, tile)
            if size:
                yield Step("load", tensor, tile if of_row else None, None if of_row else tile, size)
        seen.add(i)
        yield Step("fold", "O", i, j, 0, tiling.flops(i, j))
    for i in [*held["O"], *(i for i in range(tiling.row_tiles) if i not in seen)]:
        yield Step("store", "O", i, None, tiling.bytes("O", i))


def tiled(
    q: Floats,
    k: Keys,
    v: Keys,
    tile: Tile,
    order: Order = fa2,
    *,
    bias: Bias | None = None,
    scale: float | None = None,
    rule: Rule = FA2,
    sram: Sram = Sram(),
    e: int = 2,
    v_in_k: bool = False,
) -> Iterator[Step]:
    """Walk q (n, d), k (m, d), v (m, dv) in tiles of tile = (queries, keys); `assemble` reads the output off the Steps.

    k and v may be anything that slices into arrays (`Paged`). e: bytes an element weighs in the bill; the arithmetic is
    q's own precision, at least float32. Raises Problem for input that does not fit or is not finite.
    """
    scale = fit(q, k, v, scale)
    dtype = np.result_type(q, np.float32)
    t = Tiling(len(q), len(k), q.shape[1], v.shape[1], *tile, e=e, v_in_k=v_in_k)
    q = q.astype(dtype) * dtype.type(scale)
    masks, states = None if bias is None else _Masks(bias, t), dict[int, State]()
    for step in schedule(t, order(t.row_tiles, t.col_tiles), sram, masks):
        i, j = step.row, step.col
        if step.op == "fold":
            assert i is not None and j is not None
            s = q[t.of_row(i)] @ k[t.of_col(j)].T
            if masks is not None:
                s += masks.taken(i, j)
            states[i] = rule.fold(states.get(i) or unit(len(s), t.dv, dtype), s, v[t.of_col(j)])
            yield Step("fold", "O", i, j, 0, step.flops, states[i])
        elif step.op == "store":
            assert i is not None
            state = states.get(i) or unit(len(q[t.of_row(i)]), t.dv, dtype)
            yield Step("store", "O", i, None, step.bytes, 0, state)
        else:
            yield step


class _Masks:
    """Tells which tiles are wholly masked, and keeps the bias of the one that is folded next."""

    def __init__(self, bias: Bias, t: Tiling) -> None:
        self._bias, self._t, self._next = bias, t, dict[Tile, Floats]()

    def __call__(self, i: int, j: int) -> bool:
        rows, cols = (np.arange(x.start, x.stop) for x in (self._t.of_row(i), self._t.of_col(j)))
        self._next = {(i, j): self._bias(rows, cols)}
        return bool(np.isneginf(self._next[i, j]).all())

    def taken(self, i: int, j: int) -> Floats:
        """The bias of the tile that was asked for last."""
        return self._next[i, j]


def assemble(steps: Iterable[Step]) -> State:
    """The state of all rows, as HBM holds it at the end of a walk: the last store of every row tile."""
    last: dict[int, State] = {s.row: s.state for s in steps if s.op == "store" and s.tensor == "O" and s.state}  # type: ignore[misc]
    return stack([last[i] for i in sorted(last)])
