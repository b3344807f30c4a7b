"""Prefill and decode on one time line: what each must compute and read, and what limits a chosen GPU."""

from __future__ import annotations

from viz_core import units
from viz_core.figures.scales import Scale
from viz_core.figures.timeline import Ridge, Segment, timeline
from viz_core.model.counts import Counts
from viz_core.sizing.hardware import GPUS, gpu
from viz_core.sizing.roofline import Load, bound, seconds, turning_point
from viz_core.ui import cached
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Plate, Scene, View
from viz_core.ui.scenes.kv_run import STEPS, made

GPU = Choice("gpu", tuple(g.id for g in GPUS), GPUS[0].id)


def at_16_bits(counts: Counts) -> Load:
    """The same work with 2 bytes a number; it was counted in float32, 4 bytes a number."""
    return Load(counts.flops, counts.bytes_moved / 2)


def build(context: Context) -> View:
    """The cached generation as segments of time, by the roofline of the chosen GPU."""
    bench, pair, card = context.bench, made(context), gpu(context.values["gpu"])
    loads = [at_16_bits(step.counts) for step in pair.cached]
    prompt, most = pair.cached[0].length, cached.context(bench.model)
    turn = turning_point(lambda n: at_16_bits(cached.prefill(bench.model, n)).intensity, card, most)
    segments = [Segment("decode" if i else "prefill", step.computed, seconds(load, card) * 1e6, load.intensity)
                for i, (step, load) in enumerate(zip(pair.cached, loads, strict=True))]
    axis = Scale(context.t("phase.time", gpu=card.name))
    limits = {context.t(f"phase.{bound(load, card)}") for load in loads[1:]}
    shown_turn = context.t("scene.kv_cache.phases.beyond", most=most) if turn is None else str(turn)
    return View(
        plates=(Plate(timeline(context.look, segments, [Ridge(card.name, card.ridge)], axis)),),
        numbers=(
            Number("prefill_intensity", f"{loads[0].intensity:.1f}", {"n": prompt}),
            Number("decode_intensity", f"{loads[-1].intensity:.2f}"),
            Number("ridge", f"{card.ridge:.0f}", {"gpu": card.name}),
            Number("turn", "–" if turn is None else str(turn)),
        ),
        facts={"prompt": prompt, "prefill": f"{loads[0].intensity:.1f}", "decode": f"{loads[-1].intensity:.2f}",
               "gpu": card.name, "ridge": f"{card.ridge:.0f}",
               "prefill_bound": context.t(f"phase.{bound(loads[0], card)}"), "decode_bound": " / ".join(sorted(limits)),
               "source": card.source, "turn": shown_turn},
        table={"tokens computed": [s.computed for s in pair.cached], "FLOP": [round(x.flops) for x in loads],
               "bytes at 16 bits": [round(x.bytes) for x in loads],
               "FLOP a byte": [round(x.intensity, 3) for x in loads],
               "least time": [units.duration(seconds(x, card)) for x in loads]},
        code=(turning_point,),
    )


SCENE = Scene("kv_cache", "phases", build, params=(STEPS, GPU), bench=True)
