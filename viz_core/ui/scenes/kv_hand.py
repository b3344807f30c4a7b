"""The five-token demo by hand: which keys and values are computed at each step, with and without a cache."""

from __future__ import annotations

from viz_core import units
from viz_core.model.seed_demo import TOKENS, SeedDemo, SeedStep, saved_share, seed_demo
from viz_core.proofs.kv_cache import demo_cached_equals_uncached
from viz_core.trace import State, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.ui.params import Whole
from viz_core.ui.scene import Context, Number, Question, Scene, View

LANES = (("k_uncached", 2), ("v_uncached", 3), ("k_cached", 2), ("v_cached", 3))  # lane, hue: K = B, V = C


def trace(demo: SeedDemo) -> Trace:
    """One step a token: cells computed now, cells reused, projections so far and bytes kept."""
    n = len(demo.tokens)
    builder = TraceBuilder(Text("scene.kv_cache.hand.title"))
    lanes = {name: builder.lane(Text(f"trace.{name}"), n, labels=demo.tokens, keys=range(1, n + 1))
             for name, _ in LANES}
    builder.hue(2, "K", Text("trace.keys"))
    builder.hue(3, "V", Text("trace.values"))
    for series in ("trace.projections_uncached", "trace.projections_cached"):
        builder.series(series, share="projections")
    builder.series("trace.cache_bytes", unit="bytes")
    for i, step in enumerate(demo.steps):
        for name, hue in LANES:
            reused = "uncached" not in name
            builder.set("hue", lanes[name][: i + 1], hue)
            builder.set("state", lanes[name][:i], State.REUSED if reused else State.COMPUTED)
            builder.set("state", lanes[name][i], State.COMPUTED)
        builder.value("trace.projections_uncached", sum(s.projections_uncached for s in demo.steps[: i + 1]))
        builder.value("trace.projections_cached", sum(s.projections_cached for s in demo.steps[: i + 1]))
        builder.value("trace.cache_bytes", demo.k[: i + 1].nbytes + demo.v[: i + 1].nbytes)
        builder.step("scene.kv_cache.hand.caption", **_caption(step))
    return builder.build()


def _caption(step: SeedStep) -> dict[str, object]:
    return {"token": step.token, "uncached": step.projections_uncached, "cached": step.projections_cached,
            "out": f"{step.out_cached[0]:.4f}".replace("-", "−")}


def question() -> Question:
    """What would a sixth token cost? Counted by running it."""
    longer = seed_demo((*TOKENS, TOKENS[0])).steps[-1]
    right = (longer.projections_uncached, longer.projections_cached)
    options = ((right[0] - 2, right[1]), right, (right[0], right[0]))
    return Question(tuple(f"{a} / {b}" for a, b in options), 1, {"uncached": right[0], "cached": right[1]})


def build(context: Context) -> View:
    """The demo as it is, and what the saving becomes at another length."""
    demo, length = seed_demo(), context.values["length"]
    steps = demo.steps
    return View(
        trace=trace(demo),
        start=len(steps) - 1,
        numbers=(
            Number("saved", units.percent(demo.saved), {"n": len(steps)}),
            Number("saved", units.percent(saved_share(length), 1), {"n": length}),
            Number("kept", units.size(demo.k.nbytes + demo.v.nbytes), {"n": len(steps)}),
        ),
        proofs=(demo_cached_equals_uncached(demo),),
        question=question(),
        facts={"difference": f"{demo.difference:.1e}", "total": demo.total_uncached, "once": demo.total_cached,
               "share100": units.percent(saved_share(100), 1), "first99": _first(0.99)},
        table={"token": [s.token for s in steps],
               "projections, no cache": [s.projections_uncached for s in steps],
               "projections, cache": [s.projections_cached for s in steps],
               **{f"out[{j}]": [float(s.out_cached[j]) for s in steps] for j in range(2)}},
        code=(seed_demo, saved_share),
    )


def _first(share: float) -> int:
    """The smallest number of tokens at which the cache saves at least this share."""
    low, high = 2, 4096
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if saved_share(middle) >= share - 1e-12 else (middle + 1, high)
    return low


SCENE = Scene("kv_cache", "hand", build, params=(Whole("length", 2, 400, 100),))
