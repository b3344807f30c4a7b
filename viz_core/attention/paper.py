"""FlashAttention's figure 2 (Dao et al. 2022, arXiv 2205.14135, left part) counted again, item by item.

Forward and backward, N = 1,024, d = 64, 16 heads, batch 64, float16. The paper prints 40.3 GB for standard attention
and 4.4 GB for its own; it does not say what is counted. The items below are one set of assumptions that gives both. The
printed 66.6 and 75.2 GFLOP are wrong by the author's word (github.com/Dao-AILab/flash-attention, issue 741).
"""

from __future__ import annotations

from dataclasses import dataclass

from viz_core.attention.orders import fa1
from viz_core.attention.tiled import schedule
from viz_core.attention.tiling import STATS, Tiling

N, D, HEADS, BATCH, E = 1024, 64, 16, 64, 2
BLOCK = 256  # keys a tile in flash-attention's own code of June 2022 (commit f66603c), forward and backward


@dataclass(frozen=True, slots=True)
class Item:
    """One operation: its name (catalogue key below `ledger`), passes over N² numbers and over N · d numbers."""

    name: str
    n2: float = 0.0
    nd: float = 0.0

    @property
    def bytes(self) -> float:
        """Bytes over all heads and sequences."""
        return HEADS * BATCH * E * (self.n2 * N * N + self.nd * N * D)


@dataclass(frozen=True, slots=True)
class Printed:
    """What the paper prints, decimal units."""

    standard_gb: float = 40.3
    flash_gb: float = 4.4
    standard_gflop: float = 66.6
    flash_gflop: float = 75.2
    older_gb: float = 35.3  # an earlier version of the paper, with another mask and no dropout: not reproduced


PRINTED = Printed()
STANDARD = (
    Item("scores", 1, 2),  # S = Q Kᵀ written
    Item("mask", 2),  # one unfused pass: read, write
    Item("softmax", 2),
    Item("dropout", 2.5),  # read, write, and a mask of one byte a number
    Item("output", 1, 2),  # P read
    Item("dv", 1, 2),
    Item("dp", 1, 2),  # written
    Item("dropout_back", 2.5),
    Item("softmax_back", 3),  # P and dP read, dS written
    Item("dq", 1, 2),
    Item("dk", 1, 2),
)


def flash(block: int = BLOCK) -> tuple[Item, ...]:
    """FlashAttention-1 with key tiles of `block` outside; a first pass loads no O and no dQ, and O is read once."""
    t = -(-N // block)
    return (
        Item("kv", 0, 2), Item("q", 0, t), Item("o", 0, 2 * t - 1),
        Item("kv_back", 0, 4), Item("q_back", 0, 2 * t), Item("dq_back", 0, 2 * t - 1), Item("o_back", 0, 1),
    )  # fmt: skip


def statistics(block: int = BLOCK) -> int:
    """Bytes of m and l (8 a row) out and back forward, and with the row dots (4) read once a key tile backward."""
    t = -(-N // block)
    return HEADS * BATCH * N * (STATS * (2 * t - 1) + (STATS + 4) * t)


def forward_bytes(block: int) -> int:
    """Bytes of the forward pass as the executor bills it, with m and l, query tiles as tall as key tiles."""
    tiling = Tiling(N, N, D, D, block, block, E)
    return HEADS * BATCH * sum(s.bytes for s in schedule(tiling, fa1(tiling.row_tiles, tiling.col_tiles)))


def gflop(products: int) -> float:
    """GFLOP of so many products of N × N × d: 6 for standard attention forward and backward, 7 with S recomputed."""
    return products * 2 * N * N * D * HEADS * BATCH / 1e9
