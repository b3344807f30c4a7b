"""Copy-on-write: a shared block is copied before one of its requests writes into it (SOSP'23, section 4.4; vLLM
v0.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from viz_core.paging.events import Op
from viz_core.paging.request import Request

if TYPE_CHECKING:
    from viz_core.paging.manager import BlockManager


def copy_needed(manager: BlockManager, request: Request) -> bool:
    """Whether the next token would be written into a block that a fork shares."""
    return request.held and request.computed % manager.size > 0 and manager.pool.ref[request.table[-1]] > 1


def own_last(manager: BlockManager, request: Request) -> None:
    """Replace a shared last block by a private copy; a block must be free."""
    if copy_needed(manager, request):
        shared = request.table[-1]
        (copy,) = manager.pool.take(1, request.index)
        request.table[-1] = copy
        if manager.log is not None:
            manager.log.add(Op.COPY, request.index, copy, shared)
        manager.pool.give_back([shared], request.index)
