"""Ring attention: each rank keeps its queries; the shards of K and V travel round, one `|` a hop.

Liu et al. 2023 (arXiv 2310.01889). Left out: sends that overlap arithmetic, causal balancing (striped, zigzag),
and tree attention, which is the same join by a tree of all-reduces.
"""

from __future__ import annotations

from collections.abc import Iterator

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.state import State
from viz_core.attention.tiled import Step, assemble, tiled
from viz_core.attention.tiling import Tiling
from viz_core.i18n import Problem


def ring(q: Floats, k: Floats, v: Floats, ranks: int, *, bias: Bias | None = None, e: int = 2) -> Iterator[Step]:
    """Steps with row = rank, col = shard: a send is what a hop moves to that rank, a fold one shard's whole attention.

    n and m are cut into shards of ⌈· / ranks⌉. Raises Problem when a rank would be empty.
    """
    if not 1 <= ranks <= min(len(q), len(k)):
        raise Problem("attention_ranks", ranks=ranks, n=len(q), m=len(k))
    t = Tiling(len(q), len(k), q.shape[1], v.shape[1], -(-len(q) // ranks), -(-len(k) // ranks), e=e)
    if (t.row_tiles, t.col_tiles) != (ranks, ranks):
        raise Problem("attention_ranks", ranks=ranks, n=len(q), m=len(k))
    states: dict[int, State] = {}
    for hop in range(ranks):
        for r in range(ranks):
            shard = (r + hop) % ranks
            if hop:
                yield Step("send", "KV", r, shard, t.bytes("K", shard) + t.bytes("V", shard))
            new = _shard(q, k, v, t.of_row(r), t.of_col(shard), bias)
            states[r] = states[r] | new if hop else new
            yield Step("fold", "O", r, shard, 0, t.flops(r, shard), states[r])
    for r, state in states.items():
        yield Step("store", "O", r, None, t.bytes("O", r), 0, state)


def _shard(q: Floats, k: Floats, v: Floats, rows: slice, cols: slice, bias: Bias | None) -> State:
    """What the keys of one shard give the queries of one rank."""
    part = None if bias is None else Bias(lambda r, c: bias(r + rows.start, c + cols.start))
    size = (rows.stop - rows.start, cols.stop - cols.start)
    return assemble(tiled(q[rows], k[cols], v[cols], size, bias=part))
