"""Fork, copy-on-write and shared tables: parallel sampling and beams as in the paper (SOSP'23, section 4.4; vLLM v0.2).

A fork shares every block of its parent and raises their reference counts. The first token that either writes into a
shared last block copies that block (`BlockManager._own_last`). vLLM v1 has no fork: there n samples are n requests
that meet in the prefix cache, so a partly filled last block is never shared. Left out: v0.2's swap to the CPU.
"""

from __future__ import annotations

from viz_core.i18n import Problem
from viz_core.paging.events import Op
from viz_core.paging.manager import BlockManager
from viz_core.paging.request import Request


def fork(manager: BlockManager, parent: Request, name: str) -> Request:
    """A request that continues `parent`'s tokens in the same blocks."""
    if not manager.copies:
        raise Problem("paging_no_fork", policy=manager.config.policy)
    child = Request(name, parent.tokens, max_tokens=parent.max_tokens, priority=parent.priority, arrival=parent.arrival)
    child.prompt, child.stop, child.computed, child.held = parent.prompt, parent.stop, parent.computed, True
    child.tables = [table[:] for table in parent.tables]
    parent.quiet = child.quiet = 0  # both must look at the reference count before they write again
    log = manager.log
    if log is not None:
        child.index = log.name(name)
        log.add(Op.ARRIVE, child.index, value=child.length)
    manager.pool.touch(child.table)
    if log is not None:
        for block in child.table:
            log.add(Op.SHARE, child.index, block)
        log.add(Op.COMPUTE, child.index, value=child.computed)
    return child


def sample_in_parallel(manager: BlockManager, prompt: Request, samples: int) -> list[Request]:
    """`samples` continuations of one computed prompt: the request itself and its forks, named A.1, A.2 …"""
    return [prompt] + [fork(manager, prompt, f"{prompt.name}.{i}") for i in range(1, samples)]


def keep_beams(manager: BlockManager, beams: list[Request], parents: list[int], step: int) -> list[Request]:
    """One beam step: beam i of the result continues `beams[parents[i]]`; a beam that nobody continues is freed.

    The first heir takes over the table, further ones fork it, so beams share all blocks of their common history.
    """
    heirs: list[Request] = []
    for at, parent in enumerate(parents):
        kept = beams[parent] not in heirs
        heirs.append(beams[parent] if kept else fork(manager, beams[parent], f"beam {step}.{at}"))
    for beam in beams:
        if beam not in heirs:
            manager.free(beam)
    return heirs
