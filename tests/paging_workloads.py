"""Random workloads for the block manager, and what must hold after every operation."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from viz_core.paging.config import PoolConfig
from viz_core.paging.events import Log, Op
from viz_core.paging.fork import fork
from viz_core.paging.manager import BlockManager
from viz_core.paging.pool import NULL
from viz_core.paging.request import Request

Action = tuple[str, int, int]
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "decode", "decode", "finish", "preempt", "resume", "fork", "reset"]),
        st.integers(0, 10**6),
        st.integers(1, 9),
    ),
    min_size=5,
    max_size=40,
)


@st.composite
def pools(draw: st.DrawFn) -> PoolConfig:
    """A small pool under any policy it allows."""
    policy = draw(st.sampled_from(["seed-fifo", "early-vllm", "vllm-classic", "vllm-0.33"]))
    modern = policy.startswith("vllm")
    windows = draw(st.sampled_from([(0,), (0,), (5,), (0, 6), (0, 3, 7)])) if modern else (0,)
    caching = modern and draw(st.booleans())
    return PoolConfig(draw(st.integers(4, 24)), draw(st.sampled_from([1, 2, 4])), policy, caching, windows)


@dataclass
class Driver:
    """Applies actions and keeps what it knows about the requests apart from the manager."""

    config: PoolConfig
    log: Log | None = None
    live: list[Request] = field(default_factory=list)
    parked: list[Request] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.manager = BlockManager(self.config, self.log)

    def apply(self, action: Action) -> None:
        what, seed, size = action
        if what == "add":
            self.add(seed, size)
        elif what == "resume" and self.parked:
            self.admit(self.parked.pop(seed % len(self.parked)))
        elif what == "reset":
            self.manager.pool.reset()
        elif self.live:
            request = self.live[seed % len(self.live)]
            if what == "decode":
                self.decode(request, size)
            elif what in ("finish", "preempt"):
                self.live.remove(request)
                self.manager.free(request, Op.FINISH if what == "finish" else Op.PREEMPT)
                self.parked += [request] * (what == "preempt")
            elif what == "fork" and self.manager.copies:
                self.live.append(fork(self.manager, request, self.name()))

    def name(self) -> str:
        self.count += 1
        return f"r{self.count}"

    def add(self, seed: int, size: int) -> None:
        """Prompts share prefixes: three families, from which they branch off at a random token."""
        family, length = seed % 3, size * 2
        branch = seed // 3 % (length + 1)
        tokens = [100 * family + i for i in range(branch)] + [seed % 7 + i for i in range(length - branch)]
        self.admit(Request(self.name(), tokens, salt="x" if seed % 11 == 0 else None))

    def admit(self, request: Request) -> None:
        if self.log is not None and request.index < 0:
            request.index = self.log.name(request.name)
        before = self.free()
        hit = self.manager.lookup(request)
        assert hit.tokens < request.length and hit.tokens % self.config.block_size == 0
        if self.manager.allocate(request, request.length - hit.tokens, hit, gate=True):
            self.live.append(request)
        else:
            assert self.free() == before, "a request that did not fit changed the free queue"
            self.parked.append(request)

    def decode(self, request: Request, count: int) -> None:
        for _ in range(count):
            if request.computed < request.length:  # a sampled token that found no block waits for one
                fits = self.manager.decode(request)
            else:
                fits = self.manager.append(request, 5000 + self.count * 50 + request.outputs)
            if not fits:
                return

    def free(self) -> list[int]:
        return self.manager.pool.queue.order()


def assert_sound(driver: Driver) -> None:
    """What must hold in every state, computed from the tables and not from the pool's own books."""
    pool, size = driver.manager.pool, driver.config.block_size
    free = pool.queue.order()
    refs = [0] * pool.size
    for request in driver.live:
        for group, table in enumerate(request.tables):
            assert len(table) == -(-request.computed // size), "a table is exactly as long as its tokens need"
            for at, block in enumerate(table):
                if block == NULL and pool.policy.null_block:
                    window = driver.config.windows[group]
                    assert window and (at + 1) * size <= request.computed - window + 1, "a null block in the window"
                    continue
                refs[block] += 1
                if pool.tag[block]:
                    path = pool.chain.path(pool.tag[block] // pool.groups)
                    keys = tuple(request.keys(0, at + 1, size))
                    assert path == ((request.salt, *keys) if request.salt else keys), "a block's hash names its tokens"
    assert list(pool.ref) == refs, "reference counts equal table entries"
    assert len(free) == len(set(free)) == len(pool.queue)
    held = {block for block in range(pool.size) if refs[block]}
    assert set(free) | held == set(range(pool.policy.null_block, pool.size)), "every block is free or held"
    assert not set(free) & held, "no block is both free and held"
    assert_index_sound(driver)


def assert_index_sound(driver: Driver) -> None:
    """The prefix index lists exactly the tagged blocks, and the chain only what a block or a request still needs."""
    pool = driver.manager.pool
    listed = [(tag, b) for tag, b in pool.index.items()]
    listed += [(tag, b) for tag, twins in pool.twins.items() for b in twins]
    assert sorted(listed) == sorted((pool.tag[b], b) for b in range(pool.size) if pool.tag[b])
    needed = {pool.tag[b] // pool.groups for b in range(pool.size) if pool.tag[b]}
    needed |= {request.node for request in driver.live if request.node}
    for node in list(needed):
        while (node := pool.chain.parent(node)) > 0:
            needed.add(node)
    assert len(pool.chain) == len(needed), "the chain is pruned with the blocks it names"
