"""How the cost of generation grows with its length, with and without the cache: four curves from one run's counts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from viz_core import units
from viz_core.figures.curves import Curve, curves
from viz_core.figures.scales import Scale
from viz_core.model.generate import Step
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Plate, Scene, View
from viz_core.ui.scenes.kv_run import counted_right, made, new_tokens

LONG = new_tokens("long", 64)
CURVE = Choice("curve", ("projections", "attention", "step", "bytes"), "projections")
OF: dict[str, tuple[Callable[[Step], float], bool]] = {  # curve -> what is counted, and whether it is summed up
    "projections": (lambda s: s.counts.kv_projections, True),
    "attention": (lambda s: s.counts.attention_flops, True),
    "step": (lambda s: s.counts.flops, False),
    "bytes": (lambda s: s.counts.bytes_moved / 2**20, True),
}
POWER = {"projections": ("quadratic", "linear"), "attention": ("cubic", "quadratic"), "step": ("linear", "growing"),
         "bytes": ("growing", "growing")}


def values(steps: tuple[Step, ...], curve: str) -> list[float]:
    """One curve of one run, step by step."""
    of, summed = OF[curve]
    each = [float(of(step)) for step in steps]
    return list(accumulate(each)) if summed else each


def build(context: Context) -> View:
    """The chosen curve."""
    bench, pair, curve = context.bench, made(context, LONG.name), context.values["curve"]
    n = len(pair.cached)
    both = {way: values(getattr(pair, way), curve) for way in ("uncached", "cached")}
    names = [f"{context.t(f'curve.{way}')} · {context.t(f'curve.{power}')}"
             for way, power in zip(both, POWER[curve], strict=True)]
    lines = [Curve(name, range(1, n + 1), y, end=units.scaled(y[-1]))
             for name, y in zip(names, both.values(), strict=True)]
    figure = curves(context.look, lines, Scale(context.t("curve.x")), Scale(context.t(f"curve.{curve}"), digits=".3s"))
    attention = [[float(s.counts.attention_flops) for s in way] for way in (pair.uncached, pair.cached)]
    ratio = both["uncached"][-1] / both["cached"][-1]
    return View(
        plates=(Plate(figure),),
        numbers=(
            Number("times_more", f"{ratio:.1f}×", {"n": n}),
            Number("last_step", f"{attention[1][-1] / attention[1][1]:.2f}×"),
            Number("kept", units.size(pair.cached[-1].cache_bytes), {"n": pair.cached[-1].length}),
        ),
        proofs=(counted_right(bench, pair),),
        facts={"n": n, "says": context.t(f"curve.says_{curve}"), "prompt": pair.cached[0].length,
               "slow_projections": units.count(values(pair.uncached, "projections")[-1]),
               "fast_projections": units.count(values(pair.cached, "projections")[-1]),
               "slow_attention": units.scaled(sum(attention[0]), "FLOP"),
               "fast_attention": units.scaled(sum(attention[1]), "FLOP"),
               "growth": f"{attention[1][-1] / attention[1][1]:.2f}"},
        table={"new token": list(range(1, n + 1)), **{f"{curve}, {way}": y for way, y in both.items()}},
    )


SCENE = Scene("kv_cache", "growth", build, params=(LONG, CURVE), bench=True)
