"""A weight is not importance: the weights of a head beside how much it takes from each token."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from viz_core.figures.heatmap import heatmap
from viz_core.model.contribution import lengths, on_first, taken
from viz_core.ui import cached, cached_heads
from viz_core.ui.heads import JOIN, Place, controls, cropped, matrix, title
from viz_core.ui.scene import Bench, Context, Number, Plate, Scene, View
from viz_core.units import percent

LAYER, HEAD = controls("layer", "head", lambda bench: cached_heads.short_place(bench.model, bench.prompt))


def change(bench: Bench, place: Place) -> str:
    """What silencing a head does to the loss, in nats a token with its sign; a dash where nothing is predicted."""
    before, after = (cached_heads.loss(bench.model, bench.prompt, silent) for silent in (None, place))
    return "–" if math.isnan(before) else f"{after - before:+.3f}".replace("-", "−")


def figures(context: Context, place: Place, weights: np.ndarray, long: np.ndarray) -> tuple[Plate, ...]:
    """The weights, and what is taken against the longest of the layer, both from 0 to 1."""
    look = context.look if context.look.phone else replace(context.look, width=context.look.width // 2)
    longest = cached_heads.longest(context.bench.model, context.bench.prompt, place[0])
    names = context.t("attention.weights"), context.t("attention.taken")
    left = heatmap(look, matrix(context, weights), top=1, sums=False, title=f"{title(place)} · {names[0]}", height=420)
    share = matrix(context, long / max(longest, np.finfo(np.float32).tiny), name=names[1])
    right = heatmap(look, share, top=1, sums=False, title=f"{title(place)} · {names[1]}", height=420)
    return Plate(left), Plate(right)


def build(context: Context) -> View:
    """The chosen head's weights, and its weights times the lengths of what they take."""
    bench, place = context.bench, (context.values["layer"], context.values["head"])
    capture, llama = cached.capture(bench.model, bench.prompt), cached.model(bench.model).llama
    weights, long = capture.head(*place).weights, taken(llama, capture, *place)
    length = lengths(llama, capture, *place)
    facts = {"name": title(place), "weight": percent(on_first(weights)), "taken": percent(on_first(long)),
             "ratio": f"{length[0] / max(float(np.median(length[1:] if len(length) > 1 else length)), 1e-30):.2f}",
             "change": change(bench, place), "seen": min(cached_heads.SEEN, len(length))}
    return View(
        plates=figures(context, place, weights, long),
        beside=True,
        numbers=(
            Number("first_weight", str(facts["weight"])),
            Number("first_taken", str(facts["taken"])),
            Number("silenced", str(facts["change"])),
        ),
        proofs=(cached_heads.sum_proof(bench.model, bench.prompt, *place),),
        facts=facts,
        notice=cropped(context),
        table={"key": list(range(len(length))), "‖v W_O‖": [round(float(x), 4) for x in length],
               "mean weight": [round(float(weights[j:, j].mean()), 4) for j in range(len(length))],
               "mean taken": [round(float(long[j:, j].mean()), 4) for j in range(len(length))]},
    )


SCENE = Scene("attention", "value", build, params=(LAYER, HEAD, JOIN), bench=True)
