"""What heads do, as numbers: one dot a head on a line a measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viz_core.figures.dots import Measure, dots
from viz_core.figures.scales import Scale
from viz_core.model.probes import Induction, Probes, best_place
from viz_core.ui import cached, cached_heads
from viz_core.ui.heads import cropped, title
from viz_core.ui.scene import Context, Number, Plate, Scene, View
from viz_core.units import percent

SHARES = ("previous", "sink", "induction", "entropy", "redundancy")


def named(values: np.ndarray, letter: str) -> tuple[str, ...]:
    """L3 H2 for every head, L3 KV1 for every KV head, L3 for every layer."""
    if values.ndim == 1:
        return tuple(f"L{layer}" for layer in range(len(values)))
    return tuple(f"L{layer} {letter}{head}" for layer, head in np.ndindex(*values.shape))


def measure(context: Context, name: str, values: np.ndarray, letter: str = "H") -> Measure:
    """One row of dots."""
    return Measure(context.t(f"measure.{name}"), values.ravel(), named(values, letter))


def facts(probes: Probes, repeated: Induction) -> dict[str, object]:
    """The computed halves of the sentences."""
    best = {name: best_place(values) for name, values in
            (("previous", probes.previous), ("sink", probes.sink), ("induction", repeated.score))}
    return {
        **{f"{name}_head": title(place) for name, place in best.items()},
        "previous": f"{probes.previous.max():.2f}", "sink": f"{probes.sink.max():.2f}",
        "sink_mean": f"{probes.sink.mean():.2f}", "induction": f"{repeated.score.max():.2f}",
        "copied": percent(repeated.copied), "length": (len(repeated.ids) - 1) // 2,
        "first": f"{repeated.nll_first:.2f}", "second": f"{repeated.nll_second:.2f}",
        "entropy": f"{probes.entropy.mean():.2f}", "redundancy": f"{probes.redundancy.mean():.2f}",
        "k": f"{np.median(probes.k_outliers):.1f}", "v": f"{np.median(probes.v_outliers):.1f}",
    }


def build(context: Context) -> View:
    """The measures of every head of the workbench's model, on its prompt and on a repeated random sequence."""
    bench = context.bench
    probes, repeated = cached_heads.probes(bench.model, bench.prompt), cached_heads.repeated(bench.model)
    values = {"previous": probes.previous, "sink": probes.sink, "induction": repeated.score,
              "entropy": probes.entropy, "redundancy": probes.redundancy}
    shares = [measure(context, name, values[name]) for name in SHARES]
    ratios = [measure(context, "k_outliers", probes.k_outliers, "KV"),
              measure(context, "v_outliers", probes.v_outliers, "KV")]
    said = facts(probes, repeated)
    look = context.look if context.look.phone else replace(context.look, width=context.look.width // 2)
    return View(
        plates=(Plate(dots(look, shares, Scale(context.t("measure.share"), range=(-0.02, 1.02)))),
                Plate(dots(look, ratios, Scale(context.t("measure.ratio"))))),
        beside=True,
        numbers=(
            Number("sink_mean", str(said["sink_mean"])),
            Number("copied", str(said["copied"]), {"length": said["length"]}),
            Number("outliers", f"{said['k']}× · {said['v']}×"),
        ),
        facts=said | {"n": len(cached.shown(bench.model, bench.prompt)), "heads": probes.sink.size},
        notice=cropped(context),
        table={"head": list(named(probes.sink, "H")),
               **{name: [round(float(v), 4) for v in values[name].ravel()] for name in SHARES[:4]}},
    )


SCENE = Scene("attention", "probes", build, bench=True)
