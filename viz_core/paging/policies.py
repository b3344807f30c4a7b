"""Free-list policies: in which order a request's blocks go back, and so who gets them next.

One small object each. `seed_fifo`: a first-in-first-out list, the demo this app grew out of. `early_vllm`: vLLM v0.2
(`core/block_manager.py`), a LIFO stack with fork and copy-on-write, as in the paper (SOSP'23, section 4.4); v0.2
walked a Python set of the table, whose order is an accident, here it is the table's order. `vllm_classic`: v1 before
the free queue was split, written from the texts of its pull requests and not run against the real one. `vllm_033`:
vLLM 0.33.0 (`v1/core/block_pool.py`). Left out: v0.2's CPU swap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from viz_core.i18n import Problem

Split = tuple[list[int], list[int]]


def _append(freed: list[int], tags: Sequence[int]) -> Split:
    """Everything to the tail in the given order."""
    return [], list(freed)


def _stack(freed: list[int], tags: Sequence[int]) -> Split:
    """Everything on top of the stack: the last one given back is the first one taken."""
    return list(reversed(freed)), []


def _unhashed_first(freed: list[int], tags: Sequence[int]) -> Split:
    """Blocks that no prefix can hit to the head as a group, blocks that one can to the tail."""
    first = 0
    for block in freed:
        if tags[block]:
            break
        first += 1
    tail = freed[first:]
    for block in tail:
        if not tags[block]:
            return [b for b in freed if not tags[b]], [b for b in freed if tags[b]]
    return freed[:first], tail  # the usual case: only a request's last blocks, freed first, are not full


@dataclass(frozen=True, slots=True)
class Policy:
    """One way to keep the free list.

    `split` says which of the freed blocks join the head (as a group) and which the tail; `tail_first`: a request
    gives its last block back first; `null_block`: block 0 is a placeholder; `caches`: knows a prefix cache; `forks`:
    knows fork and copy-on-write; `descending`: the highest id is taken first.
    """

    name: str
    split: Callable[[list[int], Sequence[int]], Split]
    tail_first: bool = False
    null_block: bool = False
    caches: bool = False
    forks: bool = False
    descending: bool = False

    def first_order(self, size: int) -> list[int]:
        """The free blocks of a fresh pool of `size` blocks, head first."""
        ids = list(range(1 if self.null_block else 0, size))
        return ids[::-1] if self.descending else ids


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("seed-fifo", _append),
        Policy("early-vllm", _stack, forks=True, descending=True),
        Policy("vllm-classic", _append, tail_first=True, null_block=True, caches=True),
        Policy("vllm-0.33", _unhashed_first, tail_first=True, null_block=True, caches=True),
    )
}


def policy_named(name: str) -> Policy:
    """The policy called `name`; a Problem that lists the known ones otherwise."""
    if name not in POLICIES:
        raise Problem("paging_policy", name=str(name)[:40], known=", ".join(POLICIES))
    return POLICIES[name]
