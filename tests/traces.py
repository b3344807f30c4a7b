"""Small traces that several tests share, and one strategy that draws any trace."""

from __future__ import annotations

from hypothesis import strategies as st

from viz_core.trace import PLANES, State, Text, Trace
from viz_core.trace_builder import TraceBuilder

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.none() | st.floats(allow_nan=False, width=32) | st.integers(-(10**9), 10**9).map(float)


@st.composite
def any_trace(draw: st.DrawFn) -> Trace:
    """A trace that uses every part of the format."""
    builder = TraceBuilder(draw(WORDS), settle=draw(st.sampled_from([None, State.REUSED, State.HELD])))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    for size in sizes:
        labels = draw(st.just([]) | st.lists(WORDS, min_size=size, max_size=size))
        builder.lane(draw(WORDS), size, labels=labels, full=draw(st.integers(0, 4)))
    builder.hue(1, "K", "K")
    for label in ("player.step", "player.speed"):
        builder.series(label, places=draw(st.sampled_from([None, 0, 2])), unit=draw(st.sampled_from(["", "bytes"])))
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
