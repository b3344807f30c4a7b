"""All heads of the model as one mosaic, and the clicked one beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from viz_core.figures.heatmap import heatmap
from viz_core.figures.layout import Look
from viz_core.figures.mosaic import Head, cells_a_side, mosaic
from viz_core.i18n import Problem
from viz_core.model.probes import SINK_FROM, best_place
from viz_core.ui import cached, cached_heads
from viz_core.ui.heads import HEAD, LAYER, cropped, matrix, title
from viz_core.ui.params import Choice
from viz_core.ui.scene import Bench, Context, Number, Plate, Scene, View

ORDER = Choice("order", ("natural", "previous", "sink", "induction", "spread", "focused"), "natural")
NARROW = 12  # layers up to which the mosaic leaves room for the clicked head beside it


def scores(bench: Bench) -> dict[str, np.ndarray]:
    """Each measure of every head, (layers, heads); none for a text too short to say."""
    if len(cached.shown(bench.model, bench.prompt)) <= SINK_FROM + 1:
        return {}
    probes = cached_heads.probes(bench.model, bench.prompt)
    return {"previous": probes.previous, "sink": probes.sink, "induction": cached_heads.repeated(bench.model).score,
            "spread": probes.entropy, "focused": 1 - probes.entropy}


def heads(bench: Bench, order: str, measures: dict[str, np.ndarray]) -> list[Head]:
    """The heads in the model's order, or from the largest of a measure to the smallest with its value."""
    config = cached.model(bench.model).llama.config
    every = [(layer, head) for layer in range(len(config.layers)) for head in range(config.heads)]
    if order == "natural":
        return [Head(*place) for place in every]
    if order not in measures:
        raise Problem("model_probe_short", least=SINK_FROM + 2)
    values = measures[order]
    return [Head(*place, caption=f"{values[place]:.2f}") for place in sorted(every, key=lambda place: -values[place])]


def tiles(bench: Bench, look: Look, shown: list[Head]) -> np.ndarray:
    """The pooled maps in the order of the heads shown."""
    side = cells_a_side(look, shown, len(cached.shown(bench.model, bench.prompt)))
    every = cached_heads.tiles(bench.model, bench.prompt, side)
    heads = cached.model(bench.model).llama.config.heads
    return every[[head.layer * heads + head.head for head in shown]]


def table(measures: dict[str, np.ndarray]) -> dict[str, list[Any]] | None:
    """The measures of every head."""
    if not measures:
        return None
    places = np.indices(measures["sink"].shape).reshape(2, -1)
    return {"layer": places[0].tolist(), "head": places[1].tolist(),
            **{name: [round(float(v), 4) for v in values.ravel()] for name, values in measures.items()}}


def build(context: Context) -> View:
    """The mosaic, and the head whose tile was clicked."""
    bench, chosen = context.bench, (context.values["layer"], context.values["head"])
    config = cached.model(bench.model).llama.config
    beside = len(config.layers) <= NARROW and not context.look.phone
    look = replace(context.look, width=context.look.width // 2) if beside else context.look
    measures = scores(bench)
    shown = heads(bench, context.values["order"], measures)
    n = len(cached.shown(bench.model, bench.prompt))
    every = mosaic(look, tiles(bench, look, shown), shown, n, chosen=chosen)
    one = matrix(context, cached.capture(bench.model, bench.prompt).head(*chosen).weights)
    best = {name: best_place(values) for name, values in measures.items()}
    return View(
        plates=(Plate(every, on_click=("layer", "head")), Plate(heatmap(look, one, title=title(chosen)))),
        beside=beside,
        numbers=tuple(Number(f"best_{name}", f"{measures[name][best[name]]:.2f} · {title(best[name])}")
                      for name in ("previous", "sink", "induction") if name in best),
        facts={"heads": len(shown), "layers": len(config.layers), "each": config.heads, "n": n,
               "name": title(chosen)},
        notice=cropped(context),
        table=table(measures),
    )


SCENE = Scene("attention", "mosaic", build, params=(ORDER, LAYER, HEAD), bench=True)
