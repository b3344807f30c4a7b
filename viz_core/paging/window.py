"""Sliding windows: blocks that no later query can see go back to the pool, their table entries become null.

`get_num_skipped_tokens` and `remove_skipped_blocks` of vLLM 0.33.0 (v1/core/single_type_kv_cache_manager.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from viz_core.paging.events import Op
from viz_core.paging.pool import NULL
from viz_core.paging.request import Request

if TYPE_CHECKING:
    from viz_core.paging.manager import BlockManager


def blocks_passed(window: int, computed: int, size: int) -> int:
    """Whole blocks that no query after `computed` tokens can see (0 for full attention)."""
    return max(0, computed - window + 1) // size if window else 0


def slide(manager: BlockManager, request: Request, computed: int) -> None:
    """Free what has left each group's window, last block first."""
    for group, window in enumerate(manager.windows):
        table = request.tables[group]
        gone: list[int] = []
        for at in range(min(blocks_passed(window, computed, manager.size), len(table)) - 1, -1, -1):
            if table[at] == NULL:
                break
            gone.append(table[at])
            table[at] = NULL
            if manager.log is not None:
                manager.log.add(Op.SLIDE, request.index, gone[-1], group)
        if gone:
            manager.pool.give_back(gone, request.index)
