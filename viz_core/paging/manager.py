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

from viz_core.paging.config import PoolConfig
from viz_core.paging.events import Log, Op
from viz_core.paging.lookup import MISS, Hit, longest_hit
from viz_core.paging.pool import NULL, BlockPool
from viz_core.paging.request import Request


class BlockManager:
    """Gives blocks to requests and takes them back; `log` receives every event when given."""

    __slots__ = ("caching", "config", "copies", "full_only", "log", "max_len", "pool", "size", "watermark", "windows")

    def __init__(self, config: PoolConfig, log: Log | None = None) -> None:
        self.config, self.log = config, log
        self.size, self.windows, self.caching = config.block_size, config.windows, config.caching
        self.max_len = config.max_model_len
        self.full_only = not any(config.windows)
        self.copies = config.rules.forks
        self.watermark = int(config.watermark * config.num_blocks)
        self.pool = BlockPool(config.num_blocks, config.rules, config.caching, len(config.windows), log)

    def lookup(self, request: Request) -> Hit:
        """The longest prefix of `request` that is in the cache; changes nothing."""
        return longest_hit(self.pool, request, self.size, self.windows) if self.caching else MISS

    def decode(self, request: Request, lookahead: int = 0) -> bool:
        """Slots for one more token: `allocate(request, 1)`, one comparison while the last block has room."""
        if request.computed < request.quiet:
            request.computed += 1
            return True
        return self.allocate(request, 1, lookahead=lookahead)

    def allocate(
        self, request: Request, count: int, hit: Hit = MISS, *, lookahead: int = 0, gate: bool = False, reserve: int = 0
    ) -> bool:
        """Slots for `count` tokens after the computed ones and `hit`; False, and nothing taken, when they do not fit.

        `gate`: the whole request must fit now, not only this chunk; `reserve`: blocks that have to stay free.
        """
        pool = self.pool
        computed = min(request.computed + hit.tokens, self.max_len)
        if gate:
            missing = self._need(request, min(request.length, self.max_len), hit, computed, gate=True) + reserve
            if missing > pool.queue.length:
                return self._refuse(request, missing)
        if request.held and not self.full_only:
            self._slide(request, computed)
        wanted = min(computed + count + lookahead, self.max_len)
        missing = self._need(request, wanted, hit, computed) + reserve
        if missing > pool.queue.length:
            return self._refuse(request, missing)
        if not request.held:
            self._adopt(request, hit, computed)
        self._extend(request, wanted)
        request.computed = computed + count
        if self.log is not None:
            self.log.add(Op.COMPUTE, request.index, value=request.computed)
        if self.caching:
            self._commit(request, min(request.computed, request.length))
        self._set_quiet(request, lookahead)
        return True

    def free(self, request: Request, why: Op = Op.FINISH) -> None:
        """Give back all blocks of `request`, in the policy's order; its hashes stay until the blocks are taken
        again.
        """
        if self.log is not None:
            self.log.add(why, request.index, value=request.computed)
        for table in request.tables:
            blocks: Sequence[int] = table if self.full_only else [b for b in table if b != NULL]
            self.pool.give_back(blocks[::-1] if self.pool.policy.tail_first else blocks, request.index)
        self.pool.chain.release(request.node)
        request.clear(len(self.windows))

    def _refuse(self, request: Request, missing: int) -> bool:
        if self.log is not None:
            self.log.add(Op.REFUSE, request.index, value=missing - self.pool.queue.length)
        return False

    def _need(self, request: Request, tokens: int, hit: Hit, computed: int, gate: bool = False) -> int:
        """Free blocks that `tokens` slots cost: new ones, and hit blocks that nobody holds (they leave the queue)."""
        size, ref = self.size, self.pool.ref
        blocks = -(-tokens // size)
        if self.full_only:
            need = max(blocks - len(request.tables[0]) - hit.tokens // size, 0) * len(self.windows)
            need += sum(not ref[block] for row in hit.blocks for block in row)
            return need + self._copy_needed(request) if self.copies else need
        return sum(self._need_of_group(g, request, blocks, hit, computed, gate) for g in range(len(self.windows)))

    def _need_of_group(self, group: int, request: Request, blocks: int, hit: Hit, computed: int, gate: bool) -> int:
        """`_need` of one group: what the window has passed needs no block."""
        window = self.windows[group]
        if gate and window:
            flight = self.config.max_in_flight_tokens or self.max_len
            blocks = min(blocks, -(-min(window - 1 + flight, self.max_len) // self.size) + 1)
        if request.held:
            return max(blocks - len(request.tables[group]), 0)
        found = hit.blocks[group] if hit.tokens else []
        passed = self._passed(window, computed)
        idle = sum(block != NULL and not self.pool.ref[block] for block in found[passed:])
        return max(blocks - max(passed, len(found)), 0) + idle

    def _passed(self, window: int, computed: int) -> int:
        """Whole blocks that no query after `computed` tokens can see (0 for full attention)."""
        return max(0, computed - window + 1) // self.size if window else 0

    def _slide(self, request: Request, computed: int) -> None:
        """Free the blocks that have left each window; their table entries become the null block."""
        for group, window in enumerate(self.windows):
            table = request.tables[group]
            gone: list[int] = []
            for at in range(min(self._passed(window, computed), len(table)) - 1, -1, -1):
                if table[at] == NULL:
                    break
                gone.append(table[at])
                table[at] = NULL
                if self.log is not None:
                    self.log.add(Op.SLIDE, request.index, gone[-1], group)
            if gone:
                self.pool.give_back(gone, request.index)

    def _adopt(self, request: Request, hit: Hit, computed: int) -> None:
        """Start the tables: the hit's blocks gain a reference; what the window has passed stays null."""
        request.held = True
        request.tables = [array("i") for _ in self.windows]
        for group, found in enumerate(hit.blocks):
            passed = self._passed(self.windows[group], computed)
            row = [NULL] * min(passed, len(found)) + found[passed:]
            for block in row:
                if block != NULL:
                    self.pool.touch(block)
                if self.log is not None:
                    self.log.add(Op.HIT if block != NULL else Op.SKIP, request.index, block, group)
            request.tables[group].extend(row)
        request.committed = hit.tokens // self.size
        request.node = hit.node if hit.tokens else self.pool.chain.root(request.salt) if self.caching else 0
        request.hit_tokens = hit.tokens
        self.pool.chain.hold(request.node)

    def _extend(self, request: Request, tokens: int) -> None:
        """Take the blocks that `tokens` slots still lack, group after group."""
        if self.copies:
            self._own_last(request)
        blocks = -(-tokens // self.size)
        for group, table in enumerate(request.tables):
            fresh = blocks - len(table)
            if fresh > 0:
                table.extend(self.pool.take(fresh, request.index, group))

    def _commit(self, request: Request, tokens: int) -> None:
        """Make blocks that `tokens` tokens fill findable by their prefix."""
        first, last = request.committed, tokens // self.size
        if first >= last:
            return
        pool, chain = self.pool, self.pool.chain
        before = node = request.node
        for at in range(first, last):
            node = chain.intern(node, request.key(at, self.size))
            for group, table in enumerate(request.tables):
                if table[at] != NULL:
                    pool.commit(table[at], node, group)
                    if self.log is not None:
                        self.log.add(Op.COMMIT, request.index, table[at], node)
        chain.hold(node)
        chain.release(before)
        request.node, request.committed = node, last

    def _set_quiet(self, request: Request, lookahead: int) -> None:
        """Below `quiet` computed tokens, one token more needs no block, fills none and frees none."""
        if self.full_only and self.log is None:
            room = len(request.tables[0]) * self.size - lookahead
            full = (request.committed + 1) * self.size - 1 if self.caching else room
            request.quiet = min(room, full, self.max_len)

    def _copy_needed(self, request: Request) -> int:
        """1 when the next token would be written into a block that a fork shares."""
        return int(request.held and request.computed % self.size > 0 and self.pool.ref[request.tables[0][-1]] > 1)

    def _own_last(self, request: Request) -> None:
        """Copy-on-write: replace a shared last block by a private copy before a token is written into it."""
        if self._copy_needed(request):
            shared = request.tables[0][-1]
            (copy,) = self.pool.take(1, request.index)
            request.tables[0][-1] = copy
            if self.log is not None:
                self.log.add(Op.COPY, request.index, copy, shared)
            self.pool.give_back([shared], request.index)
