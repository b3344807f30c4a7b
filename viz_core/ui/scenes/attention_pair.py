"""Two heads beside each other, in one range of colours."""

from __future__ import annotations

import numpy as np

from viz_core.figures.compare import side_by_side
from viz_core.model.probes import cosines
from viz_core.ui import cached, cached_heads
from viz_core.ui.heads import HEAD, JOIN, LAYER, controls, cropped, matrix, sink, title
from viz_core.ui.scene import Context, Number, Plate, Scene, View
from viz_core.units import percent

OTHER_LAYER, OTHER_HEAD = controls("other_layer", "other_head", sink)


def build(context: Context) -> View:
    """The two chosen heads."""
    bench, values = context.bench, context.values
    places = [(values["layer"], values["head"]), (values["other_layer"], values["other_head"])]
    capture = cached.capture(bench.model, bench.prompt)
    maps = [capture.head(*place).weights for place in places]
    figures = side_by_side(context.look, [matrix(context, weights) for weights in maps], [title(p) for p in places],
                           height=420)
    near = float(cosines(np.stack(maps))[0, 1])
    overlap = float(np.minimum(*maps).sum(-1).mean())
    return View(
        plates=tuple(Plate(figure) for figure in figures),
        beside=True,
        numbers=(Number("cosine", f"{near:.2f}"), Number("overlap", f"{overlap:.2f}")),
        proofs=tuple(cached_heads.rows_proof(bench.model, bench.prompt, layer)
                     for layer in sorted({layer for layer, _ in places})[:1]),
        facts={"one": title(places[0]), "other": title(places[1]), "near": f"{near:.2f}", "overlap": percent(overlap)},
        notice=cropped(context),
    )


SCENE = Scene("attention", "pair", build, params=(LAYER, OTHER_LAYER, JOIN, HEAD, OTHER_HEAD), bench=True)
