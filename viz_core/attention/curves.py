"""Three things that are easily mixed up: how much is computed, kept and moved, for n queries and n keys.

FlashAttention computes as much as before (forward; a backward pass does more, it computes the scores again), keeps
memory in proportion to n instead of n², and moves n² d² / M: still quadratic, by a smaller factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from viz_core.attention.orders import fa2
from viz_core.attention.tiled import schedule
from viz_core.attention.tiling import STATS, Tiling


@dataclass(frozen=True, slots=True)
class Cost:
    """FLOPs of the products, bytes kept beside inputs and output, bytes moved between HBM and SRAM."""

    flops: int
    extra: int
    traffic: int


def standard_cost(n: int, d: int, e: int = 2) -> Cost:
    """Scores and weights are kept, each n² numbers, and go out and back."""
    return Cost(4 * n * n * d, 2 * n * n * e, (4 * n * d + 4 * n * n) * e)


@lru_cache(maxsize=256)
def tiled_cost(n: int, d: int, tile: int, e: int = 2) -> Cost:
    """Billed by the executor in FA2's order with square tiles; kept are m and l of each row."""
    t = Tiling(n, n, d, d, min(tile, n), min(tile, n), e)
    flops = traffic = 0
    for step in schedule(t, fa2(t.row_tiles, t.col_tiles)):
        flops += step.flops
        traffic += step.bytes
    return Cost(flops, n * STATS, traffic)
