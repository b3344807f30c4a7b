"""Parameters of a block manager and a scheduler, checked once."""

from __future__ import annotations

import json
from dataclasses import dataclass

from viz_core.i18n import Problem
from viz_core.paging.policies import Policy, policy_named

MAX_BLOCKS = 1_000_000
MAX_BLOCK_SIZE = 4096
MAX_MODEL_LEN = 2**31 - 1


def written(value: object) -> str:
    """A value as whoever wrote the JSON sees it, cut to 40 characters: null, true, "9"."""
    try:
        return json.dumps(value, ensure_ascii=False)[:40]
    except TypeError:  # it does not come from JSON
        return repr(value)[:40]


def whole(name: str, value: object, low: int, high: int) -> int:
    """`value` when it is a whole number in low..high, else a Problem that names the field."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Problem("paging_number", name=name, value=written(value), low=low, high=high)
    return value


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """A pool of `num_blocks` blocks (the null block included, where the policy has one) of `block_size` tokens.

    `windows`: one entry a group of layers, 0 = full attention, W = a sliding window of W keys, self included.
    `watermark`: share of the pool that an admission leaves free while something runs. `max_in_flight_tokens`: most
    tokens of one request in a step, which caps what the admission gate asks for a sliding window (None: the whole
    length).
    """

    num_blocks: int
    block_size: int = 16
    policy: str = "vllm-0.33"
    caching: bool = True
    windows: tuple[int, ...] = (0,)
    watermark: float = 0.0
    max_model_len: int = MAX_MODEL_LEN
    max_in_flight_tokens: int | None = None

    def __post_init__(self) -> None:
        whole("num_blocks", self.num_blocks, 2, MAX_BLOCKS)
        whole("block_size", self.block_size, 1, MAX_BLOCK_SIZE)
        whole("max_model_len", self.max_model_len, 1, MAX_MODEL_LEN)
        if not self.windows or len(self.windows) > 8:
            raise Problem("paging_groups", count=len(self.windows))
        for window in self.windows:
            whole("window", window, 0, MAX_MODEL_LEN)
        if not isinstance(self.watermark, int | float) or not 0 <= self.watermark < 1:
            raise Problem("paging_watermark", value=written(self.watermark))
        if self.caching and not self.rules.caches:
            raise Problem("paging_no_cache", policy=self.policy)
        if self.windows != (0,) and not self.rules.null_block:
            raise Problem("paging_no_window", policy=self.policy)

    @property
    def rules(self) -> Policy:
        """The policy's rules."""
        return policy_named(self.policy)

    @property
    def usable(self) -> int:
        """Blocks that requests can hold."""
        return self.num_blocks - self.rules.null_block


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """vLLM 0.33.0's scheduling knobs, under their names there; `order` is fcfs or priority."""

    max_num_batched_tokens: int = 2048
    max_num_seqs: int = 128
    order: str = "fcfs"
    enable_chunked_prefill: bool = True
    long_prefill_token_threshold: int = 0
    reserve_full_isl: bool = True
    lookahead: int = 0

    def __post_init__(self) -> None:
        whole("max_num_batched_tokens", self.max_num_batched_tokens, 1, MAX_MODEL_LEN)
        whole("max_num_seqs", self.max_num_seqs, 1, MAX_BLOCKS)
        whole("long_prefill_token_threshold", self.long_prefill_token_threshold, 0, MAX_MODEL_LEN)
        whole("lookahead", self.lookahead, 0, 64)
        if self.order not in ("fcfs", "priority"):
            raise Problem("paging_order", value=written(self.order))
