"""Small traces that several tests share, and one strategy that draws any trace."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from viz_core.paging.config import SchedulerConfig
from viz_core.paging.film import film
from viz_core.paging.run import run
from viz_core.paging.scenario import Ask, Prompt, Scenario
from viz_core.trace import PLANES, Bars, State, Text, Trace
from viz_core.trace_builder import TraceBuilder

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = (
    st.none()
    | st.floats(-1e12, 1e12)
    | st.sampled_from([math.inf, -math.inf])
    | st.integers(-(10**9), 10**9).map(float)
)


@st.composite
def any_trace(draw: st.DrawFn) -> Trace:
    """A trace that uses every part of the format."""
    builder = TraceBuilder(draw(WORDS), settle=draw(st.sampled_from([None, State.REUSED, State.HELD])))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    for size in sizes:
        labels = draw(st.just([]) | st.lists(WORDS, min_size=size, max_size=size))
        builder.lane(draw(WORDS), size, labels=labels, full=draw(st.integers(0, 4)))
    if draw(st.booleans()):
        sizes.append(draw(st.integers(1, 4)))
        boxes = st.lists(st.tuples(*[st.integers(-9, 10_009)] * 4), min_size=sizes[-1], max_size=sizes[-1]).map(tuple)
        builder.lane(draw(WORDS), sizes[-1], bars=Bars(draw(boxes), draw(boxes), draw(boxes), (1, 2), ((5, "x"),)))
    builder.hue(1, "K", "K")
    for label in ("player.step", "player.speed"):
        builder.series(
            label, places=draw(st.sampled_from([None, 0, 2])), unit=draw(st.sampled_from(["", "bytes", "~FLOP", "%"]))
        )
    cells = st.integers(0, sum(sizes) - 1)
    numbered = st.sampled_from([name for name in PLANES if name not in ("text", "detail")])
    for _ in range(draw(st.integers(1, 8))):
        for plane, cell, value in draw(st.lists(st.tuples(numbered, cells, st.integers(0, 300)), max_size=6)):
            builder.set(plane, cell, value)
        if draw(st.booleans()):
            builder.write(draw(cells), draw(WORDS))
            builder.tell(draw(cells), "player.several", first=draw(st.integers(-9, 9)), last=draw(WORDS))
            builder.value("player.step", draw(NUMBERS))
            builder.event(draw(st.sampled_from(["player.first", "player.last"])))
        builder.value("player.speed", draw(NUMBERS))
        builder.step("player.filled", n=draw(st.integers(-(2**40), 2**40)), full=Text("player.step"))
        if draw(st.booleans()):
            builder.step(draw(st.sampled_from(["player.first", "player.last"])))
    return builder.build()


def cache(tokens: str = "我爱北京天") -> Trace:
    """Keys of one token after the other, computed again each time or kept."""
    builder = TraceBuilder("K", settle=State.REUSED)
    again, kept = (
        builder.lane(name, len(tokens), labels=list(tokens), keys=range(1, len(tokens) + 1)) for name in "ab"
    )
    builder.hue(2, "K", "K")
    for label in ("player.first", "player.last"):
        builder.series(label, share="projections")
    builder.series("player.speed", unit="bytes")
    for i in range(len(tokens)):
        builder.set("hue", [*again[: i + 1], kept[i]], 2)
        builder.set("state", [*again[: i + 1], kept[i]], State.COMPUTED)
        for label, n in (
            ("player.first", (i + 1) * (i + 2)),
            ("player.last", 2 * (i + 1)),
            ("player.speed", 128 * (i + 1)),
        ):
            builder.value(label, n)
        builder.step("player.several", first=i, last=tokens[i])
    return builder.build()


def blocks(size: int = 9, steps: int = 12, full: int = 4) -> Trace:
    """A pool that two owners fill a token at a time, block after block, and give back when it is full."""
    builder = TraceBuilder("P", settle=State.HELD)
    names = [f"P{i}" for i in range(size)]
    pool = builder.lane("pool", size, under=names, keys=range(1, size + 1), full=full, history=True)
    queue = builder.lane("queue", size)
    builder.series("player.events", share="blocks")
    for i in pool:
        builder.set("state", [i, queue[i]], State.FREE)
        builder.set("key", queue[i], i + 1)
        builder.write(queue[i], names[i])
    builder.step("player.hint")
    for step in range(1, steps):
        token = (step - 1) % (size * full)
        block, fill = divmod(token, full)
        if token == 0 and step > 1:
            builder.set("state", pool, State.EVICTED)
            builder.set("hashed", pool, 0)
            builder.event("player.last")
        if fill == 0:
            builder.set("hue", pool[block], 1 + block % 8)
            builder.set("state", queue[block], State.EMPTY)
            builder.event("player.first")
        builder.set("fill", pool[block], fill + 1)
        builder.set("state", pool[block], State.COMPUTED)
        builder.set("hashed", pool[block], int(fill + 1 == full))
        builder.set("ref", pool[block], 1 + block % 3)
        builder.tell(pool[block], "player.several", first=block * full, last=token)
        builder.value("player.events", block + 1)
        builder.step("player.filled", n=fill + 1, full=full)
    return builder.build()


def recorded(asks: int = 12) -> Trace:
    """A run of the scheduler that is short of blocks: requests share a prefix, evict and preempt each other."""
    requests = tuple(
        Ask(f"r{i}", Prompt((("s", 8), (f"r{i}", 3 + 5 * i % 23))), 20 + 7 * i % 31, 3 * i) for i in range(asks)
    )
    recording = run(Scenario(24, 4, requests=requests, scheduler=SchedulerConfig(max_num_seqs=6)))
    return film([("run", recording)], "run")
