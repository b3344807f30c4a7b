"""KV block manager: prefix lookup, allocation and release for requests over one pool.

vLLM 0.33.0 `KVCacheManager.allocate_slots` (`v1/core/kv_cache_manager.py`) with its coordinators, rule by rule: a
hit block that nobody holds counts against the free ones; look-ahead slots are reserved but never hashed; full blocks
are committed to the prefix index at schedule time, before the forward pass; nothing changes when a request does not
fit, except that blocks which had left a sliding window are freed before. Left out: speculative rejection, KV
connectors, context parallelism.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from viz_core.paging.chain import ROOT
from viz_core.paging.config import PoolConfig
from viz_core.paging.copy_on_write import own_last
from viz_core.paging.events import Log, Op
from viz_core.paging.lookup import MISS, Hit, longest_hit
from viz_core.paging.need import blocks_needed
from viz_core.paging.pool import NULL, BlockPool
from viz_core.paging.request import Request
from viz_core.paging.window import blocks_passed, slide


class BlockManager:
    """Gives blocks to requests and takes them back; `log` receives every event when given."""

    __slots__ = (
        "caching", "config", "copies", "full_only", "log", "max_len", "plain", "pool", "size", "watermark", "windows",
    )  # fmt: skip

    def __init__(self, config: PoolConfig, log: Log | None = None) -> None:
        self.config, self.log = config, log
        self.size, self.windows, self.caching = config.block_size, config.windows, config.caching
        self.max_len = config.max_model_len
        self.full_only = not any(config.windows)
        self.copies = config.rules.forks
        self.plain = self.full_only and len(self.windows) == 1 and not self.copies and log is None
        self.watermark = int(config.watermark * config.num_blocks)
        self.pool = BlockPool(config.num_blocks, config.rules, config.caching, len(config.windows), log)

    def lookup(self, request: Request) -> Hit:
        """The longest prefix of `request` that is in the cache; changes nothing."""
        return longest_hit(self.pool, request, self.size, self.windows) if self.caching else MISS

    def append(self, request: Request, token: int) -> bool:
        """A sampled token and its slot: `request.append` and `decode` in one call."""
        request.tokens.append(token)
        request.length += 1
        computed = request.computed
        if computed < request.quiet:
            request.computed = computed + 1
            return True
        return self._decode_at_edge(request)

    def decode(self, request: Request) -> bool:
        """Slots for one more token: `allocate(request, 1)`, one comparison while the last block has room."""
        if request.computed < request.quiet:
            request.computed += 1
            return True
        return self._decode_at_edge(request)

    def _decode_at_edge(self, request: Request) -> bool:
        """`allocate(request, 1)`, in short where one group without a log fills a block or needs a new one."""
        size, done = self.size, request.computed + 1
        if not self.plain or not request.held or done > self.max_len:
            return self.allocate(request, 1)
        table = request.tables[0]
        room = len(table) * size
        if done > room:
            if not self.pool.queue.length:
                return False
            table.append(self.pool.take_one())
            room += size
        request.computed = done
        if self.caching and (request.committed + 1) * size <= done <= request.length:
            self._commit_one(request, table[request.committed])
        if self.caching and room >= (request.committed + 1) * size:
            room = (request.committed + 1) * size - 1  # the token that fills a block commits it
        request.quiet = room if room < self.max_len else self.max_len
        return True

    def _commit_one(self, request: Request, block: int) -> None:
        """`_commit` of the next block."""
        at = request.committed
        if request.given is None:
            request.node = self.pool.chain.add(request.node, request.keys(at, at + 1, self.size)[0])
        else:
            (request.node,) = request.extend_chain(self.pool.chain, at, at + 1, self.size)
        self.pool.commit_one(block, request.node)
        request.committed = at + 1

    def allocate(
        self, request: Request, count: int, hit: Hit = MISS, *, lookahead: int = 0, gate: bool = False, reserve: int = 0
    ) -> bool:
        """Slots for `count` tokens after the computed ones and `hit`; False, and nothing taken, when they do not fit.

        `gate`: the whole request must fit now, not only this chunk; `reserve`: blocks that have to stay free.
        """
        queue = self.pool.queue
        computed = request.computed + hit.tokens
        wanted = computed + count + lookahead
        if wanted > self.max_len:
            computed, wanted = min(computed, self.max_len), self.max_len
        blocks, whole = -(-wanted // self.size), min(request.length, self.max_len) if gate else 0
        if gate:
            missing = blocks_needed(self, request, whole, hit, computed, gate=True) + reserve
            if missing > queue.length:
                return self._refuse(request, missing)
        if request.held and not self.full_only:
            slide(self, request, computed)
        if wanted > whole or not self.full_only:  # else the gate has asked for as much
            missing = blocks * len(self.windows) + self.copies + reserve  # at most: nothing is there
            if missing > queue.length:
                missing = blocks_needed(self, request, wanted, hit, computed) + reserve
            if missing > queue.length:
                return self._refuse(request, missing)
        if not request.held:
            self._adopt(request, hit, computed)
        self._extend(request, blocks)
        request.computed = computed = computed + count
        if self.log is not None:
            self.log.add(Op.COMPUTE, request.index, value=computed)
        if self.caching:
            self._commit(request, computed if computed < request.length else request.length)
        return True

    def free(self, request: Request, why: Op = Op.FINISH) -> None:
        """Give back all blocks of `request`, in the policy's order; its hashes stay until the blocks are taken
        again.
        """
        if self.log is not None:
            self.log.add(why, request.index, value=request.computed)
        for table in request.tables:
            blocks = table.tolist() if self.full_only else [block for block in table if block != NULL]
            self.pool.give_back(blocks[::-1] if self.pool.policy.tail_first else blocks, request.index)
        if request.anchor > 0:
            self.pool.chain.release(request.anchor)
        request.clear()

    def _refuse(self, request: Request, missing: int) -> bool:
        if self.log is not None:
            self.log.add(Op.REFUSE, request.index, value=missing - self.pool.queue.length)
        return False

    def _adopt(self, request: Request, hit: Hit, computed: int) -> None:
        """Start the tables: the hit's blocks gain a reference; what the window has passed stays null."""
        request.held = True
        request.tables = tables = [array("i") for _ in self.windows]
        for group, row in enumerate(hit.blocks):
            if not self.full_only:
                passed = blocks_passed(self.windows[group], computed, self.size)
                row = [NULL] * min(passed, len(row)) + row[passed:]
            self.pool.touch(row if self.full_only else [block for block in row if block != NULL])
            tables[group].fromlist(row)
            if self.log is not None:
                for block in row:
                    self.log.add(Op.HIT if block != NULL else Op.SKIP, request.index, block, group)
        request.hit_tokens, request.committed = hit.tokens, hit.tokens // self.size
        node = hit.node or (self.pool.chain.root(request.salt) if self.caching else ROOT)
        request.node = request.anchor = node
        if node > 0:
            self.pool.chain.hold(node)

    def _extend(self, request: Request, blocks: int) -> None:
        """Take what each group's table lacks of `blocks` blocks, group after group."""
        if self.copies:
            own_last(self, request)
        for group, table in enumerate(request.tables):
            fresh = blocks - len(table)
            if fresh > 0:
                table.fromlist(self.pool.take(fresh, request.index, group))

    def _commit(self, request: Request, tokens: int) -> None:
        """Make blocks that `tokens` tokens fill findable by their prefix."""
        first, last = request.committed, tokens // self.size
        if first >= last:
            return
        pool, chain = self.pool, self.pool.chain
        nodes = request.extend_chain(chain, first, last, self.size)
        for group, table in enumerate(request.tables):
            if group:
                for node in nodes:
                    chain.hold(node)
            pool.commit(table[first:last], nodes, group)
        if self.log is not None:
            self._log_commits(request, first, nodes)
        request.node, request.committed = nodes[-1], last
        if not self.full_only:  # a block that slid out of its window may go, but not the name that the next one extends
            chain.hold(nodes[-1])
            chain.release(request.anchor)
            request.anchor = nodes[-1]

    def _log_commits(self, request: Request, first: int, nodes: Sequence[int]) -> None:
        assert self.log is not None
        for at, node in enumerate(nodes, first):
            for table in request.tables:
                self.log.add(Op.COMMIT, request.index, table[at], node)
