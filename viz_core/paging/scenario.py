"""A scenario: a pool, and what happens to it; either a script of operations or requests for the scheduler.

A script moves the block manager by hand (add, decode, finish, preempt, resume, fork, reset), one operation after the
other. Requests arrive, are scheduled and finish by themselves. A prompt is made of named segments: two prompts that
begin with the same segments share a prefix, and `A>` is what request A has sampled, so a next turn can continue it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from viz_core.i18n import Problem
from viz_core.paging.config import PoolConfig, SchedulerConfig
from viz_core.paging.policies import policy_named

SEGMENT_TOKENS = 1 << 18  # a segment's token ids are number · 2^18 + position
MOST_NAMES = 4000
MOST_TOKENS = 400_000
MOST_STEPS = 100_000
OPS = ("add", "decode", "finish", "preempt", "resume", "fork", "reset")
DEFAULT_SCHEDULER = SchedulerConfig()

Segment = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Named segments (name, tokens), or literal token ids."""

    segments: tuple[Segment, ...] = ()
    ids: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.ids) or sum(count for _, count in self.segments)


@dataclass(frozen=True, slots=True)
class Act:
    """One operation of a script; `count` tokens for decode, `parent` for fork."""

    op: str
    request: str = ""
    prompt: Prompt = Prompt()
    count: int = 1
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request for the scheduler: arrives before step `at`, samples `output` tokens."""

    request: str
    prompt: Prompt
    output: int = 1
    at: int = 0
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """`blocks` usable blocks of `block_size` tokens under `policy`, and a script or requests."""

    blocks: int
    block_size: int
    policy: str = "vllm-0.33"
    caching: bool = True
    windows: tuple[int, ...] = (0,)
    watermark: float = 0.0
    script: tuple[Act, ...] = ()
    requests: tuple[Ask, ...] = ()
    scheduler: SchedulerConfig = DEFAULT_SCHEDULER

    @property
    def pool(self) -> PoolConfig:
        """The pool's parameters; the null block of a policy that has one comes on top."""
        null = policy_named(self.policy).null_block
        return PoolConfig(
            self.blocks + null, self.block_size, self.policy, self.caching, self.windows, watermark=self.watermark
        )

    @property
    def prompts(self) -> Iterator[Prompt]:
        """Every prompt in it."""
        yield from (act.prompt for act in self.script if act.op == "add")
        yield from (ask.prompt for ask in self.requests)

    def check(self) -> Scenario:
        """Itself, when it can be run; a Problem otherwise."""
        _ = self.pool
        if bool(self.script) == bool(self.requests):
            raise Problem("paging_scenario_one")
        steps = sum(act.count if act.op == "decode" else 1 for act in self.script) + sum(
            a.output for a in self.requests
        )
        tokens = sum(map(len, self.prompts)) + steps
        if tokens > MOST_TOKENS or steps > MOST_STEPS:
            raise Problem("paging_scenario_size", tokens=tokens, steps=steps, most=MOST_TOKENS, most_steps=MOST_STEPS)
        if self.script and all(act.op == "reset" for act in self.script):
            raise Problem("paging_scenario_still")
        names = Counter(ask.request for ask in self.requests)
        names.update(act.request for act in self.script if act.op in ("add", "fork"))
        for name, count in names.items():
            if count > 1:
                raise Problem("paging_duplicate", name=name)
        return self


class Vocabulary:
    """Token ids of named segments: the same name and position are the same token, different ones differ."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def tokens(self, prompt: Prompt) -> list[int]:
        """The token ids of a prompt."""
        if prompt.ids:
            return list(prompt.ids)
        return [self.token(name, i) for name, count in prompt.segments for i in range(count)]

    def token(self, name: str, at: int) -> int:
        """The id of token `at` of segment `name`."""
        return self._numbers.setdefault(name, len(self._numbers) + 1) * SEGMENT_TOKENS + at
