"""Time and memory as two axes: a cache moves a model along the one by spending the other."""

from __future__ import annotations

from viz_core import units
from viz_core.figures.curves import Curve, curves
from viz_core.figures.scales import Scale
from viz_core.ui import cached, runs
from viz_core.ui.scene import Context, Number, Plate, Scene, View
from viz_core.ui.scenes.kv_run import need_room

NEW = 24  # tokens written after the prompt


def build(context: Context) -> View:
    """Each point is one new token: what it kept in memory, what it had to compute."""
    bench = context.bench
    need_room(bench)
    n = min(NEW, cached.room(bench.model, bench.prompt) + 1)
    pair = runs.pair(bench.model, bench.prompt, n, bench.seed, context.t("shell.generating"))
    slow, fast = pair.uncached[1:], pair.cached[1:]  # the prefill is the same for both
    lines = [
        Curve(context.t("curve.uncached"), [0.0] * len(slow), [s.counts.flops / 1e6 for s in slow], points=True,
              end=units.scaled(slow[-1].counts.flops, "FLOP")),
        Curve(context.t("curve.cached"), [s.cache_bytes / 1024 for s in fast], [s.counts.flops / 1e6 for s in fast],
              points=True, end=units.scaled(fast[-1].counts.flops, "FLOP")),
    ]
    most = fast[-1].cache_bytes / 1024
    figure = curves(context.look, lines, Scale(context.t("home.memory"), range=(-0.04 * most, 1.08 * most)),
                    Scale(context.t("home.work")))
    return View(
        plates=(Plate(figure),),
        numbers=(
            Number("work_spared", f"{slow[-1].counts.flops / fast[-1].counts.flops:.0f}×"),
            Number("kept", units.size(fast[-1].cache_bytes), {"n": fast[-1].length}),
        ),
        proofs=(cached.cache_proof(bench.model, bench.prompt),),
        facts={"n": n},
        table={"KiB kept": [s.cache_bytes / 1024 for s in fast],
               "MFLOP, no cache": [s.counts.flops / 1e6 for s in slow],
               "MFLOP, cache": [s.counts.flops / 1e6 for s in fast]},
    )


SCENE = Scene("home", "axes", build, bench=True)
