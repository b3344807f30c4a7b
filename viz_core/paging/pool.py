"""Block pool: reference counts, hash tags and the free queue on flat lists of integers.

vLLM 0.33.0 `BlockPool` (`v1/core/block_pool.py`): lazy eviction (a free block keeps its hash until it is taken),
duplicates of one hash allowed (tables are append-only), first one found wins. 24 bytes a block: two of the four fields
are plain lists, which read and write twice as fast as arrays and cost 8 bytes an entry as long as their integers are
small (reference counts) or belong to the index already (tags). Left out: partial blocks, KV connectors, metrics
sampling.
"""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.paging.chain import HashChain
from viz_core.paging.events import Log, Op
from viz_core.paging.free_queue import FreeQueue
from viz_core.paging.policies import Policy

NULL = 0


class BlockPool:
    """`size` blocks; with a policy that has a null block, block 0 is never given out."""

    __slots__ = ("caching", "chain", "groups", "index", "log", "policy", "queue", "ref", "size", "tag", "twins")

    def __init__(self, size: int, policy: Policy, caching: bool, groups: int = 1, log: Log | None = None) -> None:
        self.size, self.policy, self.caching, self.groups, self.log = size, policy, caching, groups, log
        self.queue = FreeQueue(size, policy.first_order(size))
        self.ref = [0] * size
        self.tag = [0] * size  # node * groups + group of the hash a block carries, 0 for none
        self.chain = HashChain()
        self.index: dict[int, int] = {}  # tag -> the block found for it
        self.twins: dict[int, list[int]] = {}  # tag -> further blocks that carry it, oldest first

    @property
    def usable(self) -> int:
        """Blocks that requests can hold: all but the null block."""
        return self.size - self.policy.null_block

    @property
    def usage(self) -> float:
        """Share of the usable blocks that are held, as vLLM reports it (0..1)."""
        return 1.0 - self.queue.length / self.usable if self.usable else 0.0

    def take(self, count: int, request: int = -1, group: int = 0) -> list[int]:
        """`count` blocks off the head of the free queue, one reference each; hashes they carried are evicted now."""
        blocks = self.queue.pop(count)
        if self.log is not None:
            self._log_evictions(blocks, request)
            self.log.add_blocks(Op.TAKE, request, blocks, group)
        ref, tags, index, twins = self.ref, self.tag, self.index, self.twins
        gone: list[int] = []  # tags whose nodes the chain counts: given hashes, the negative ones, it does not
        for block in blocks:
            assert not ref[block], "a free block has a reference"
            ref[block] = 1
            tag = tags[block]
            if tag:
                tags[block] = 0
                if tag in twins:
                    self._unlist(block, tag)
                else:
                    del index[tag]
                if tag > 0:
                    gone.append(tag)
        if gone:
            self.chain.release_all(gone if self.groups == 1 else [tag // self.groups for tag in gone])
        return blocks

    def _log_evictions(self, blocks: Sequence[int], request: int) -> None:
        assert self.log is not None
        for block in blocks:
            if self.tag[block]:
                self.log.add(Op.EVICT, request, block, self.tag[block] // self.groups)

    def take_one(self) -> int:
        """`take(1)` without a log, for the decode path."""
        block = self.queue.pop_one()
        if self.tag[block]:
            self._forget(block)
        assert not self.ref[block], "a free block has a reference"
        self.ref[block] = 1
        return block

    def touch(self, blocks: Sequence[int]) -> None:
        """One more reference for each; blocks without any leave the free queue."""
        ref = self.ref
        idle: list[int] = []
        for block in blocks:
            count = ref[block]
            if not count:
                idle.append(block)
            ref[block] = count + 1
        if idle:
            self.queue.remove(idle)

    def give_back(self, blocks: list[int], request: int = -1) -> None:
        """One reference less for each, first the one to be evicted first; what nobody holds is free, where the
        policy puts it.
        """
        ref, freed, shared = self.ref, blocks, False
        for block in blocks:
            ref[block] = left = ref[block] - 1
            if left:
                shared = True
        if shared:
            assert min(ref[block] for block in blocks) >= 0, "a block was given back more often than it was taken"
            freed = [block for block in blocks if not ref[block]]
        head, tail = self.policy.split(freed, self.tag)
        if head:
            self.queue.push_front(head)
        if tail:
            self.queue.push_back(tail)
        if self.log is not None:
            self.log.add_blocks(Op.RELEASE, request, blocks)
            self.log.add_blocks(Op.HEAD, request, reversed(head))
            self.log.add_blocks(Op.TAIL, request, tail)

    def commit(self, blocks: Sequence[int], nodes: Sequence[int], group: int = 0) -> None:
        """Make full blocks findable under their `nodes`, of which each block is already a user in group 0."""
        tags, index, groups = self.tag, self.index, self.groups
        for block, tag in zip(blocks, nodes if groups == 1 else [n * groups + group for n in nodes], strict=True):
            assert not tags[block], "a block that has a hash was committed again"
            tags[block] = tag
            if tag in index:
                self.twins.setdefault(tag, []).append(block)
            else:
                index[tag] = block

    def commit_one(self, block: int, node: int) -> None:
        """`commit` of one block of a pool with one group."""
        assert not self.tag[block], "a block that has a hash was committed again"
        self.tag[block] = node
        if self.index.setdefault(node, block) != block:
            self.twins.setdefault(node, []).append(block)

    def _forget(self, block: int) -> None:
        """Take the hash of one block out of the prefix index, and then out of the chain."""
        tag = self.tag[block]
        self.tag[block] = 0
        if tag in self.twins:
            self._unlist(block, tag)
        else:
            del self.index[tag]
        self.chain.release(tag // self.groups)

    def _unlist(self, block: int, tag: int) -> None:
        """Take one of several blocks with the same hash out of the index; the next one is found in its place."""
        twins = self.twins[tag]
        if self.index[tag] == block:
            self.index[tag] = twins.pop(0)
        else:
            twins.remove(block)
        if not twins:
            del self.twins[tag]

    def find(self, node: int, group: int = 0) -> int:
        """The first block committed under `node`, -1 when there is none."""
        return self.index.get(node * self.groups + group, -1)

    def reset(self) -> bool:
        """Forget every hash; refused (False) while any block is held."""
        if self.queue.length != self.usable:
            return False
        self.chain.release_all(tag // self.groups for tag in self.tag if tag)
        self.tag = [0] * self.size
        self.index.clear()
        self.twins.clear()
        if self.log is not None:
            self.log.add(Op.RESET)
        return True
