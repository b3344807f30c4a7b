"""How many free blocks a request costs, counted before anything is taken.

`get_num_blocks_to_allocate` of vLLM 0.33.0 (v1/core/single_type_kv_cache_manager.py) and the admission cap of
`SlidingWindowSpec.max_admission_blocks_per_request` (v1/kv_cache_interface.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from viz_core.paging.copy_on_write import copy_needed
from viz_core.paging.lookup import Hit
from viz_core.paging.pool import NULL
from viz_core.paging.request import Request
from viz_core.paging.window import blocks_passed

if TYPE_CHECKING:
    from viz_core.paging.manager import BlockManager


def blocks_needed(
    manager: BlockManager, request: Request, tokens: int, hit: Hit, computed: int, gate: bool = False
) -> int:
    """Free blocks that `tokens` slots cost: new ones, and hit blocks that nobody holds, because they leave the queue.

    `computed` tokens are there or hit; `gate` caps a sliding window at what it can ever hold at once.
    """
    size, ref = manager.size, manager.pool.ref
    blocks = -(-tokens // size)
    if not manager.full_only:
        groups = range(len(manager.windows))
        return sum(_of_group(manager, g, request, blocks, hit, computed, gate) for g in groups)
    have = len(request.table) if request.held else hit.tokens // size
    need = (blocks - have) * len(manager.windows) if blocks > have else 0
    for row in hit.blocks:
        for block in row:
            if not ref[block]:
                need += 1
    return need + copy_needed(manager, request) if manager.copies else need


def _of_group(
    manager: BlockManager, group: int, request: Request, blocks: int, hit: Hit, computed: int, gate: bool
) -> int:
    """`blocks_needed` of one group: what its window has passed needs no block."""
    window, size = manager.windows[group], manager.size
    if gate and window:
        flight = manager.config.max_in_flight_tokens or manager.max_len
        blocks = min(blocks, -(-min(window - 1 + flight, manager.max_len) // size) + 1)
    if request.held:
        return max(blocks - len(request.tables[group]), 0)
    found = hit.blocks[group] if hit.tokens else []
    passed = blocks_passed(window, computed, size)
    idle = sum(block != NULL and not manager.pool.ref[block] for block in found[passed:])
    return max(blocks - max(passed, len(found)), 0) + idle
