"""Ready scenarios, each the smallest run that shows one thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from viz_core.paging.config import SchedulerConfig
from viz_core.paging.scenario import Act, Ask, Prompt, Scenario, Segment


def add(name: str, *segments: Segment | int) -> Act:
    """Add request `name`; a bare number is that many tokens of its own."""
    return Act("add", name, _prompt(name, segments))


def ask(name: str, *segments: Segment | int, output: int = 1, at: int = 0) -> Ask:
    """A request for the scheduler."""
    return Ask(name, _prompt(name, segments), output, at)


def _prompt(name: str, segments: tuple[Segment | int, ...]) -> Prompt:
    return Prompt(tuple((name, part) if isinstance(part, int) else part for part in segments))


def under(scenario: Scenario, policy: str, caching: bool = False) -> Scenario:
    """The same scenario under another policy."""
    return replace(scenario, policy=policy, caching=caching)


SOURCE = Scenario(
    9, 4, "seed-fifo", False,
    script=(add("A", 7), add("B", 5), Act("decode", "A", count=3), add("C", 4), Act("finish", "B"), add("D", 6)),
)  # fmt: skip

FRAGMENTATION = Scenario(
    12, 4, "seed-fifo", False,
    script=(
        *(add(name, 6) for name in "ABCDEF"), Act("finish", "B"), Act("finish", "D"), Act("finish", "F"), add("G", 22),
    ),
)  # fmt: skip

SHARED_PROMPT = Scenario(
    16, 4,
    requests=tuple(ask(name, ("system", 13), 3 + i, output=4, at=2 * i) for i, name in enumerate("ABCD")),
)  # fmt: skip

MULTI_TURN = Scenario(
    14, 4,
    script=(
        add("A", 9), Act("decode", "A", count=6), Act("finish", "A"),
        add("B", ("A", 9), ("A>", 6), 5), Act("decode", "B", count=4), Act("finish", "B"),
        add("C", ("A", 9), ("A>", 6), ("B", 5), ("B>", 4), 3),
    ),
)  # fmt: skip

COPY_ON_WRITE = Scenario(
    8, 4, "early-vllm", False,
    script=(
        add("A", 6), Act("fork", "B", parent="A"), Act("fork", "C", parent="A"),
        Act("decode", "A"), Act("decode", "B"), Act("decode", "C"), Act("decode", "A", count=2),
        Act("finish", "C"), Act("finish", "A"),
    ),
)  # fmt: skip

LRU = Scenario(
    8, 4,
    script=(
        add("A", 12), Act("finish", "A"), add("B", 12), Act("finish", "B"),
        add("C", ("A", 12), 1), Act("finish", "C"), add("D", 16), Act("finish", "D"), add("E", ("A", 12), 1),
    ),
)  # fmt: skip

THRASH = Scenario(
    9, 4,
    requests=(ask("A", 8, output=14), ask("B", 7, output=14), ask("C", 6, output=12, at=1)),
    scheduler=SchedulerConfig(max_num_batched_tokens=16, max_num_seqs=4),
)  # fmt: skip

ALIGNED = Scenario(
    10, 4, script=(add("A", 8), Act("finish", "A"), add("B", ("A", 8)), Act("finish", "B"), add("C", ("A", 8), 1))
)

SAME_STEP = Scenario(14, 4, requests=tuple(ask(name, ("system", 8), 2 + i, output=3) for i, name in enumerate("ABC")))

WINDOW = Scenario(
    9, 4, windows=(6,), script=(add("A", 9), Act("decode", "A", count=11), add("B", ("A", 9)), Act("finish", "A"))
)

PRESETS: Mapping[str, Scenario] = {
    "source": SOURCE,
    "fragmentation": FRAGMENTATION,
    "shared_prompt": SHARED_PROMPT,
    "multi_turn": MULTI_TURN,
    "copy_on_write": COPY_ON_WRITE,
    "lru": LRU,
    "thrash": THRASH,
    "aligned": ALIGNED,
    "same_step": SAME_STEP,
    "window": WINDOW,
}
