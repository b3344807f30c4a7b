"""A weight is not importance: the weights of a head beside how much it takes from each token."""

from __future__ import annotations

import numpy as np

from viz_core.figures.compare import side_by_side
from viz_core.model.contribution import lengths_written, shares
from viz_core.ui import cached
from viz_core.ui.heads import JOIN, controls, cropped, matrix, title
from viz_core.ui.scene import Context, Number, Plate, Scene, View
from viz_core.units import percent

LAYER, HEAD = controls("layer", "head", lambda bench: cached.least_taken(bench.model, bench.prompt))


def build(context: Context) -> View:
    """The chosen head's weights, and its weights times the lengths of what they take."""
    bench, place = context.bench, (context.values["layer"], context.values["head"])
    capture = cached.capture(bench.model, bench.prompt)
    weights = capture.head(*place).weights
    lengths = lengths_written(cached.model(bench.model).llama, capture, *place)
    taken = shares(weights, lengths)
    names = (context.t("attention.weights"), context.t("attention.taken"))
    figures = side_by_side(
        context.look, [matrix(context, weights), matrix(context, taken, name=names[1])],
        [f"{title(place)} · {name}" for name in names], height=420,
    )
    later = slice(1, None) if len(weights) > 1 else slice(None)
    on_first = [float(a[later, 0].mean()) for a in (weights, taken)]
    ratio = lengths[0] / max(float(np.median(lengths[later])), np.finfo(np.float32).tiny)
    return View(
        plates=tuple(Plate(figure) for figure in figures),
        beside=True,
        numbers=(
            Number("first_weight", percent(on_first[0])),
            Number("first_taken", percent(on_first[1])),
            Number("first_length", f"{ratio:.2f}×"),
        ),
        proofs=(cached.sum_proof(bench.model, bench.prompt, *place),),
        facts={"name": title(place), "weight": percent(on_first[0]), "taken": percent(on_first[1]),
               "ratio": f"{ratio:.2f}"},
        notice=cropped(context),
        table={"key": list(range(len(lengths))), "‖v W_O‖": [round(float(x), 4) for x in lengths],
               "mean weight": [round(float(weights[j:, j].mean()), 4) for j in range(len(lengths))],
               "mean share": [round(float(taken[j:, j].mean()), 4) for j in range(len(lengths))]},
    )


SCENE = Scene("attention", "value", build, params=(LAYER, HEAD, JOIN), bench=True)
