"""Longest prefix-cache hit: which cached blocks a prompt can start from.

`find_longest_cache_hit` of vLLM 0.33.0: `FullAttentionManager` and `SlidingWindowManager` in
v1/core/single_type_kv_cache_manager.py, the hybrid coordinator in v1/core/kv_cache_coordinator.py. Full attention
runs left to right to the first miss; a window searches from the right for enough contiguous blocks; several groups
agree on one common length. Left out: EAGLE, Mamba, block sizes that differ between groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz_core.paging.pool import NULL, BlockPool
from viz_core.paging.request import Request


@dataclass(slots=True)
class Hit:
    """`blocks` found in the prefix cache, one list a group (null where a window has passed), `node` of the last one."""

    tokens: int = 0
    blocks: tuple[list[int], ...] = ()
    node: int = 0


MISS = Hit()
PROBE = 64  # blocks whose contents are read at a time: most lookups miss early


def _nodes(pool: BlockPool, request: Request, size: int, limit: int) -> list[int]:
    """Chain nodes of the first `limit` whole blocks, up to the first content that no block ever carried."""
    nodes = request.given[:limit] if request.given else []
    node = nodes[-1] if nodes else pool.chain.find_root(request.salt)
    at, step = len(nodes), 1
    while at < limit and node != -1:
        keys = request.keys(at, min(at + step, limit), size)
        known = pool.chain.walk(node, keys)
        nodes += known
        if len(known) < len(keys):
            break
        at, step, node = at + len(keys), PROBE, known[-1]
    return nodes


def _plain_hit(pool: BlockPool, request: Request, size: int, limit: int) -> Hit:
    """The hit of one group with full attention: blocks from the first to the first miss."""
    index, nodes = pool.index, request.given
    blocks: list[int] = []
    if nodes is None or len(nodes) < limit:
        nodes = _nodes(pool, request, size, limit)
    for node in nodes:
        if node not in index:
            break
        blocks.append(index[node])
    del blocks[limit:]  # more may be given than may be hit
    return Hit(len(blocks) * size, (blocks,), nodes[len(blocks) - 1]) if blocks else MISS


def _found(pool: BlockPool, node: int, groups: Sequence[int]) -> list[int] | None:
    """The cached block of `node` in every one of `groups`; None when one of them lacks it."""
    blocks = [pool.find(node, group) for group in groups]
    return None if -1 in blocks else blocks


def _full(pool: BlockPool, nodes: list[int], groups: Sequence[int]) -> list[list[int]]:
    """Full attention: every block from the first to the first miss; one row a block."""
    rows: list[list[int]] = []
    for node in nodes:
        row = _found(pool, node, groups)
        if row is None:
            break
        rows.append(row)
    return rows


def _window(pool: BlockPool, nodes: list[int], groups: Sequence[int], limit: int, need: int) -> list[list[int]]:
    """A window: the rightmost run of `need` cached blocks below `limit`, null before it; else the run from the
    start.
    """
    rows = [[NULL] * len(groups) for _ in range(limit)]
    run = 0
    for at in range(limit - 1, -1, -1):
        row = _found(pool, nodes[at], groups) if at < len(nodes) else None
        if row is None:
            run = 0
            continue
        rows[at] = row
        run += 1
        if run >= need:
            return rows[: at + run]
    return rows[:run]


def longest_hit(pool: BlockPool, request: Request, size: int, windows: Sequence[int]) -> Hit:
    """The hit of `request` over groups with `windows` (0 = full), at most ⌊(length − 1) / size⌋ whole blocks.

    The last token is always computed again, because its logits are needed.
    """
    limit = (request.length - 1) // size
    if len(windows) == 1 and not windows[0]:
        return _plain_hit(pool, request, size, limit)
    nodes = _nodes(pool, request, size, limit)
    kinds = {window: [g for g, w in enumerate(windows) if w == window] for window in sorted(set(windows), key=bool)}
    rows: dict[int, list[list[int]]] = {}
    while True:
        before = limit
        for window, groups in kinds.items():
            if window:
                need = -(-(window - 1) // size)
                rows[window] = _window(pool, nodes, groups, limit, need)
            elif window not in rows:
                rows[window] = _full(pool, nodes[:limit], groups)
            limit = min(limit, len(rows[window]))
        if limit == before or (len(kinds) <= 2 and 0 in kinds):
            break
    if not limit:
        return MISS
    blocks = tuple([row[kinds[w].index(g)] for row in rows[w][:limit]] for g, w in enumerate(windows))
    return Hit(limit * size, blocks, nodes[limit - 1])
