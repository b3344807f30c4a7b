"""The query heads that read one KV head, side by side: the same keys and values, different maps."""

from __future__ import annotations

import numpy as np

from viz_core.figures.compare import side_by_side
from viz_core.model.probes import cosines
from viz_core.ui import cached, cached_heads
from viz_core.ui.heads import HEAD, JOIN, LAYER, cropped, matrix, title
from viz_core.ui.scene import Context, Number, Plate, Scene, View

WIDE, HIGH = 3, 2  # heads shown at once, on a desk and on a phone


def group(heads: int, kv_heads: int, head: int) -> list[int]:
    """The query heads that read the same KV head as `head`."""
    size = heads // kv_heads
    return list(range(head // size * size, head // size * size + size))


def inside(weights: np.ndarray, size: int) -> tuple[float, float]:
    """Mean cosine of the maps (heads, n, n) of two heads of one KV head, and of two KV heads; NaN where none are."""
    near = cosines(weights)
    one, two = np.triu_indices(len(near), 1)
    same = one // size == two // size
    means = [float(near[one[pick], two[pick]].mean()) if pick.any() else float("nan") for pick in (same, ~same)]
    return means[0], means[1]


def said(value: float) -> str:
    """A cosine in two digits, or a dash where there is no pair."""
    return "–" if np.isnan(value) else f"{value:.2f}"


def build(context: Context) -> View:
    """The heads that share the chosen head's keys and values, from the chosen one on."""
    bench, layer, head = context.bench, context.values["layer"], context.values["head"]
    config = cached.model(bench.model).llama.config
    kv_heads = config.layers[layer].kv_heads
    whole = group(config.heads, kv_heads, head)
    first = min(whole.index(head), max(0, len(whole) - (HIGH if context.look.phone else WIDE)))
    shown = whole[first : first + (HIGH if context.look.phone else WIDE)]
    weights = cached.capture(bench.model, bench.prompt).weights(layer)
    same, other = inside(weights, len(whole))
    figures = side_by_side(context.look, [matrix(context, weights[h]) for h in shown],
                           [title((layer, h)) for h in shown], height=420 if len(shown) < WIDE else 360)
    return View(
        plates=tuple(Plate(figure) for figure in figures),
        beside=True,
        numbers=(
            Number("kv_head", f"KV {head // len(whole)}",
                   {"heads": config.heads, "kv": kv_heads, "group": len(whole)}),
            Number("cosine_same", said(same)),
            Number("cosine_other", said(other)),
        ),
        proofs=(cached_heads.used_proof(bench.model, bench.prompt, layer),),
        facts={"group": len(whole), "kv": head // len(whole), "layer": layer, "heads": config.heads,
               "kv_heads": kv_heads, "shown": len(shown), "same": said(same), "other": said(other),
               "less": f"{len(whole)}×"},
        notice=cropped(context),
    )


SCENE = Scene("attention", "group", build, params=(LAYER, HEAD, JOIN), bench=True)
