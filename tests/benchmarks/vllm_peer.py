"""vLLM 0.33.0's own manager and scheduler, set up without a model: the peer of `bench_paging`.

Imported only where `vllm` is installed; it is no dependency of this project. What the scheduler asks of a model
configuration is answered by `Off`, an object whose every unknown attribute is off.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from vllm.config import CacheConfig, SchedulerConfig
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request

MAX_MODEL_LEN = 1 << 20


class Off(SimpleNamespace):
    """A configuration in which everything that is not given is off."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def kv_config(blocks: int, size: int) -> KVCacheConfig:
    spec = FullAttentionSpec(block_size=size, num_kv_heads=1, head_size=1, dtype=torch.float16)
    return KVCacheConfig(blocks, [], [KVCacheGroupSpec(["layer"], spec)])


def manager(blocks: int, size: int) -> KVCacheManager:
    init_none_hash(sha256)
    return KVCacheManager(kv_config(blocks, size), MAX_MODEL_LEN, size, size, enable_caching=True)


def request(name: str, tokens: list[int], output: int, size: int, hashes: list[bytes] | None = None) -> Request:
    """A request that hashes its own tokens, or carries given block hashes."""
    hasher = get_request_block_hasher(size, sha256)
    if hashes is not None:
        given = iter([hashes])
        hasher = lambda _: next(given, [])  # noqa: E731
    params = SamplingParams(max_tokens=output, ignore_eos=True)
    params.update_from_generation_config({}, None)
    return Request(name, tokens, params, None, block_hasher=hasher)


def scheduler(blocks: int, size: int, budget: int, seqs: int) -> Scheduler:
    init_none_hash(sha256)
    knobs = SchedulerConfig(
        max_model_len=MAX_MODEL_LEN, is_encoder_decoder=False, max_num_batched_tokens=budget, max_num_seqs=seqs
    )
    cache = CacheConfig(block_size=size, enable_prefix_caching=True)
    cache.num_gpu_blocks = blocks
    parallel = Off(
        data_parallel_index=0, data_parallel_size=1, pipeline_parallel_size=1, decode_context_parallel_size=1,
        prefill_context_parallel_size=1,
    )  # fmt: skip
    config = Off(
        scheduler_config=knobs, cache_config=cache, parallel_config=parallel, observability_config=Off(),
        model_config=Off(max_model_len=MAX_MODEL_LEN), aux_output_config=Off(),
        ec_manager_config=Off(get_encoder_cache_manager_obj=lambda: None),
        max_in_flight_tokens=budget, max_concurrent_batches=1, num_speculative_tokens=0,
        num_lookahead_tokens=0, num_prefill_lookahead_tokens=0, num_hash_lookahead_tokens=0,
    )  # fmt: skip
    grammar = Off(should_advance=lambda *_: False, accept_tokens=lambda *_: True)
    return Scheduler(config, kv_config(blocks, size), grammar, block_size=size)


def step(engine: Scheduler, sampled: dict[str, int]) -> int:
    """One engine step; every request that has computed all it has samples a token of its own. Returns preemptions so
    far.
    """
    plan = engine.schedule()
    names = list(plan.num_scheduled_tokens)
    tokens: list[list[int]] = []
    for name in names:
        live = engine.requests[name]
        if live.num_computed_tokens < live.num_tokens:
            tokens.append([])
        else:
            sampled[name] += 1
            tokens.append([sampled[name]])
    out = ModelRunnerOutput(
        req_ids=names, req_id_to_index={n: i for i, n in enumerate(names)}, sampled_token_ids=tokens
    )
    engine.update_from_output(plan, out)
    return len(names)
