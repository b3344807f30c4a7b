"""CPU time of our block manager and scheduler beside vLLM 0.33.0's own, in one run.

Run `python -m tests.benchmarks.bench_paging [mooncake.jsonl]`; without `vllm` our own times are printed alone. The
third line needs Mooncake's public conversation trace (github.com/kvcache-ai/Mooncake, FAST25-release/traces).
"""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from viz_core.paging.config import PoolConfig, SchedulerConfig
from viz_core.paging.manager import BlockManager
from viz_core.paging.policies import policy_named
from viz_core.paging.pool import BlockPool
from viz_core.paging.request import Request
from viz_core.paging.scheduler import Scheduler
from viz_core.paging.serve import serve

try:
    from tests.benchmarks import vllm_peer as peer
except ImportError as error:
    peer = None  # type: ignore[assignment]
    print(f"vLLM is not installed here ({error}); our own times alone")

REQUESTS, PROMPT, OUTPUT, SIZE, LIVE = 1000, 512, 128, 16, 64
POOL = 4000
BUDGET, SEQS, SCHEDULER_POOL = 8192, 256, 2000
MOONCAKE_POOL, MOONCAKE_SIZE = 6000, 512
Row = dict[str, Any]


PROMPTS = [list(range(i * 1000, i * 1000 + PROMPT)) for i in range(REQUESTS)]


def ours_manager() -> str:
    manager, live = BlockManager(PoolConfig(POOL, SIZE)), list[Request]()
    for i in range(REQUESTS):
        request = Request(f"r{i}", PROMPTS[i], max_tokens=OUTPUT)
        hit = manager.lookup(request)
        assert manager.allocate(request, request.length - hit.tokens, hit)
        for token in range(i * 1000 + PROMPT, i * 1000 + PROMPT + OUTPUT):
            assert manager.append(request, token)
        live.append(request)
        if len(live) == LIVE:
            manager.free(live.pop(0))
    return f"{manager.pool.usage:.3f}"


def their_manager() -> str:
    manager, live = peer.manager(POOL, SIZE), []
    for i in range(REQUESTS):
        request = peer.request(f"r{i}", PROMPTS[i], OUTPUT, SIZE)
        blocks, hit, _ = manager.get_computed_blocks(request)
        assert manager.allocate_slots(request, request.num_tokens - hit, hit, blocks)
        request.num_computed_tokens = request.num_tokens
        for token in range(i * 1000 + PROMPT, i * 1000 + PROMPT + OUTPUT):
            request.append_output_token_ids(token)
            assert manager.allocate_slots(request, 1) is not None
            request.num_computed_tokens += 1
        live.append(request)
        if len(live) == LIVE:
            manager.free(live.pop(0))
    return f"{manager.usage:.3f}"


def ours_scheduler() -> str:
    engine = Scheduler(PoolConfig(SCHEDULER_POOL, SIZE), SchedulerConfig(BUDGET, SEQS))
    serve(engine, (Request(f"r{i}", PROMPTS[i], max_tokens=OUTPUT, arrival=(0, i)) for i in range(REQUESTS)))
    return f"{engine.steps} steps, {engine.num_preemptions} preemptions"


def their_scheduler() -> str:
    engine = peer.scheduler(SCHEDULER_POOL, SIZE, BUDGET, SEQS)
    preempted, preempt, sampled = [], engine._preempt_request, {}
    engine._preempt_request = lambda *a, **k: (preempted.append(1), preempt(*a, **k))
    for i in range(REQUESTS):
        engine.add_request(peer.request(f"r{i}", PROMPTS[i], OUTPUT, SIZE))
        sampled[f"r{i}"] = i * 1000 + PROMPT - 1
    steps = 0
    while engine.get_num_unfinished_requests():
        peer.step(engine, sampled)
        steps += 1
    return f"{steps} steps, {len(preempted)} preemptions"


def ours_mooncake(rows: list[Row]) -> str:
    manager, hits, total = BlockManager(PoolConfig(MOONCAKE_POOL, MOONCAKE_SIZE)), 0, 0
    for i, row in enumerate(rows):
        request = Request(f"r{i}", length=row["input_length"], given=row["hash_ids"])
        hit = manager.lookup(request)
        assert manager.allocate(request, request.length - hit.tokens, hit)
        manager.free(request)
        hits, total = hits + hit.tokens, total + request.length
    return f"hit rate {hits / total:.6f}"


def their_mooncake(rows: list[Row]) -> str:
    """vLLM wants the tokens themselves beside the hashes: their list is part of its cost."""
    manager, hits, total = peer.manager(MOONCAKE_POOL, MOONCAKE_SIZE), 0, 0
    for i, row in enumerate(rows):
        length, ids = row["input_length"], row["hash_ids"]
        hashes = [number.to_bytes(32, "big") for number in ids[: length // MOONCAKE_SIZE]]
        request = peer.request(f"r{i}", [0] * length, 1, MOONCAKE_SIZE, hashes)
        blocks, hit, _ = manager.get_computed_blocks(request)
        assert manager.allocate_slots(request, length - hit, hit, blocks)
        manager.free(request)
        hits, total = hits + hit, total + length
    return f"hit rate {hits / total:.6f}"


def timed(work: Callable[[], str]) -> tuple[float, str]:
    start = process_time()
    result = work()
    return process_time() - start, result


def compare(name: str, ours: Callable[[], tuple[float, str]], theirs: Callable[[], tuple[float, str]]) -> None:
    """Best of three each, taken in turn, so that a busy machine hurts both."""
    rounds = [(ours(), theirs() if peer else None) for _ in range(3)]
    best = min(mine[0] for mine, _ in rounds)
    line = f"{name}: ours {best:.3f} s ({rounds[0][0][1]})"
    if peer:
        other = min(their[0] for _, their in rounds if their)
        assert rounds[0][1] and rounds[0][1][1] == rounds[0][0][1], f"{rounds[0]} differ"
        line += f", vLLM {other:.3f} s: {other / best:.1f} times faster"
    print(line)


def memory() -> None:
    """Bytes a block of a large pool, without the hash chain."""
    tracemalloc.start()
    size = 1_000_000
    pool = BlockPool(size, policy_named("vllm-0.33"), caching=True)
    fresh = tracemalloc.get_traced_memory()[0]
    for _ in range(9):  # until the free queue is as long as it gets
        pool.queue.push_back(pool.queue.pop(size // 10))
    used = tracemalloc.get_traced_memory()[0]
    print(f"memory: {fresh / size:.1f} bytes a block, {used / size:.1f} after use ({pool.usable} usable)")
    tracemalloc.stop()


def main() -> None:
    compare("manager", lambda: timed(ours_manager), lambda: timed(their_manager))
    compare("scheduler", lambda: timed(ours_scheduler), lambda: timed(their_scheduler))
    if len(sys.argv) > 1:
        rows = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
        compare("mooncake", lambda: timed(lambda: ours_mooncake(rows)), lambda: timed(lambda: their_mooncake(rows)))
    memory()


if __name__ == "__main__":
    main()
