"""The reader's own prompt: generation with and without the cache side by side, step by step."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from statistics import median

from viz_core import units
from viz_core.i18n import Problem
from viz_core.model.generate import Step
from viz_core.proofs import Proof
from viz_core.proofs.kv_cache import projections_match_formula
from viz_core.trace import State, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.ui import cached, runs
from viz_core.ui.hosted import limits
from viz_core.ui.params import Live, Whole
from viz_core.ui.runs import Pair
from viz_core.ui.scene import Bench, Context, Number, Scene, View

HUE = 2  # K and V are drawn as one cell, in K's hue
WAYS = ("uncached", "cached")
SERIES: dict[str, tuple[int, str, Callable[[Step], float]]] = {  # name -> decimals, unit, what of each step adds up
    "projections": (0, "", lambda s: s.counts.kv_projections),
    "mflop": (1, "", lambda s: s.counts.flops / 1e6),
    "ms": (1, "", lambda s: s.seconds * 1e3),
}


def new_tokens(name: str, usual: int) -> Live:
    """A control for how many tokens are written: at most what the model's context, and the server, allow."""

    def of(bench: Bench) -> Whole:
        most = max(2, min(limits().new_tokens, cached.room(bench.model, bench.prompt) + 1))
        return Whole(name, 2, most, min(usual, most))

    return Live(name, of)


def need_room(bench: Bench) -> None:
    """A Problem where the prompt leaves no place for two new tokens: one of prefill, one of decoding."""
    if cached.room(bench.model, bench.prompt) < 1:
        raise Problem("no_room", tokens=len(cached.tokens(bench.model, bench.prompt)))


STEPS = new_tokens("steps", 16)


def made(context: Context, param: str = STEPS.name) -> Pair:
    """Both generations of the workbench's prompt, as long as a control says."""
    bench = context.bench
    need_room(bench)
    return runs.pair(bench.model, bench.prompt, context.values[param], bench.seed, context.t("shell.generating"))


def trace(labels: tuple[str, ...], prompt: int, pair: Pair) -> Trace:
    """One step a new token: which positions were computed and which reused, and what it has cost so far."""
    n = len(labels) - 1  # the last token is chosen, but its keys and values are not needed yet
    builder = TraceBuilder(Text("scene.kv_cache.run.title"))
    lanes = {way: builder.lane(Text(f"trace.{way}"), n, labels=labels[:n], keys=range(1, n + 1)) for way in WAYS}
    builder.hue(HUE, "", Text("trace.kv"))
    sums = _declare(builder, pair)
    for i, (slow, fast) in enumerate(zip(pair.uncached, pair.cached, strict=True)):
        for way, step in zip(WAYS, (slow, fast), strict=True):
            seen = lanes[way][: step.length]
            builder.set("hue", seen, HUE)
            builder.set("state", seen[: step.reused], State.REUSED)
            builder.set("state", seen[step.reused :], State.COMPUTED)
        for series, values in sums.items():
            builder.value(series, values[i])
        builder.value("trace.cache_bytes", fast.cache_bytes)
        key = "prefill_caption" if i == 0 else "caption"
        builder.step(f"scene.kv_cache.run.{key}", token=labels[prompt + i], slow=slow.computed, fast=fast.computed,
                     reused=fast.reused)
    return builder.build()


def _declare(builder: TraceBuilder, pair: Pair) -> dict[str, list[float]]:
    """Declare the number series and return their running sums."""
    sums = {}
    for name, (places, unit, of) in SERIES.items():
        for way in WAYS:
            builder.series(f"trace.{name}_{way}", places=places, unit=unit, share=name)
            sums[f"trace.{name}_{way}"] = list(accumulate(of(s) for s in getattr(pair, way)))
    builder.series("trace.cache_bytes", unit="bytes")
    return sums


def counted_right(bench: Bench, pair: Pair) -> Proof:
    """The projections that this very run counted, against the formulas."""
    layers = len(cached.model(bench.model).llama.config.layers)
    return projections_match_formula(layers, pair.cached[0].length, pair.cached, pair.uncached)


def speed(steps: tuple[Step, ...]) -> float:
    """Tokens a second of decoding, by the median step: one pause of a busy machine does not decide it."""
    return 1 / median(s.seconds for s in steps[1:])


def table(labels: tuple[str, ...], prompt: int, pair: Pair) -> dict[str, list[object]]:
    """One row a new token."""
    out: dict[str, list[object]] = {"token": list(labels[prompt:])}
    for way in WAYS:
        steps: tuple[Step, ...] = getattr(pair, way)
        out |= {f"computed, {way}": [s.computed for s in steps],
                f"K/V projections, {way}": [s.counts.kv_projections for s in steps],
                f"FLOP, {way}": [s.counts.flops for s in steps],
                f"bytes, {way}": [s.counts.bytes_moved for s in steps],
                f"ms, {way}": [round(s.seconds * 1e3, 3) for s in steps]}
    return out


def build(context: Context) -> View:
    """Both ways on the workbench's model and prompt."""
    bench, pair = context.bench, made(context)
    ids = (*cached.tokens(bench.model, bench.prompt), *(s.token for s in pair.cached))
    labels, prompt, n = cached.labels(bench.model, ids), len(ids) - len(pair.cached), len(pair.cached)
    counted = [sum(s.counts.kv_projections for s in way) for way in (pair.uncached, pair.cached)]
    same = [s.token for s in pair.cached] == [s.token for s in pair.uncached]
    model = cached.model(bench.model)
    return View(
        trace=trace(labels, prompt, pair),
        start=n - 1,
        quote=model.tokenizer.decode(ids),
        numbers=(
            Number("projections", f"{units.count(counted[0])} → {units.count(counted[1])}"),
            Number("speed", f"{speed(pair.uncached):.0f} → {speed(pair.cached):.0f}"),
            Number("kept", units.size(pair.cached[-1].cache_bytes), {"n": pair.cached[-1].length}),
        ),
        proofs=(cached.cache_proof(bench.model, bench.prompt), counted_right(bench, pair)),
        facts={"prompt": prompt, "n": n, "layers": len(model.llama.config.layers),
               "same": context.t("shell.yes" if same else "shell.no")},
        table=table(labels, prompt, pair),
    )


SCENE = Scene("kv_cache", "run", build, params=(STEPS,), bench=True)
