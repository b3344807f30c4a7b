"""One attention head, large: who looks at whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from viz_core.attention.dense import Dense
from viz_core.figures.cells import Matrix, causal
from viz_core.figures.heatmap import heatmap
from viz_core.figures.labels import Labels, joined, labels, merge
from viz_core.ui import cached
from viz_core.ui.params import Live, Switch, Whole
from viz_core.ui.scene import Bench, Context, Number, Plate, Scene, View

TABLED = 64  # tokens up to which the weights are offered as numbers


def readable(bench: Bench) -> tuple[int, int]:
    """(layer, head) of the head that looks most at the token before: the easiest to read."""
    capture = cached.capture(bench.model, bench.prompt)
    best = {(layer, head): float(np.diagonal(weights, -1).mean()) if len(weights) > 1 else 0.0
            for layer in capture.layers for head, weights in enumerate(capture.weights(layer))}
    return max(best, key=lambda place: best[place])


def layer_param(bench: Bench) -> Whole:
    """The layers of the loaded model."""
    return Whole("layer", 0, len(cached.model(bench.model).llama.config.layers) - 1, readable(bench)[0])


def head_param(bench: Bench) -> Whole:
    """The query heads of a layer."""
    return Whole("head", 0, cached.model(bench.model).llama.config.heads - 1, readable(bench)[1])


LAYER, HEAD, JOIN = Live("layer", layer_param), Live("head", head_param), Switch("join", True)


def matrix(context: Context, head: Dense) -> tuple[Matrix, Labels]:
    """The head's weights over tokens, or over characters where tokens share one."""
    bench, tokenizer = context.bench, cached.model(context.bench.model).tokenizer
    ids = cached.tokens(bench.model, bench.prompt)
    pieces, merged = tokenizer.pieces(ids), bool(context.values["join"])
    names = labels(pieces, tokenizer.scheme, context.lang, ids, merged=merged)
    weights, groups = causal(head.weights), joined(pieces, tokenizer.scheme)
    split = any(len(group) > 1 for group in groups)
    if merged and split:
        return Matrix(merge(weights, groups, groups), names, names), names
    return Matrix(weights, names, names, scores=np.where(np.isnan(weights), np.nan, head.scores)), names


def build(context: Context) -> View:
    """The chosen head on the workbench's prompt."""
    bench, layer, number = context.bench, context.values["layer"], context.values["head"]
    capture = cached.capture(bench.model, bench.prompt)
    shown, names = matrix(context, capture.head(layer, number))
    last = np.nan_to_num(shown.values[-1])
    config = cached.model(bench.model).llama.config
    table: dict[str, list[Any]] | None = None
    if len(names) <= TABLED:
        table = {"query \\ key": list(names.texts),
                 **{f"{j} {text}": [round(float(v), 6) for v in shown.values[:, j]]
                    for j, text in enumerate(names.texts)}}
    return View(
        plates=(Plate(heatmap(context.look, shown)),),
        numbers=(
            Number("head", f"L{layer} H{number}"),
            Number("kv_head", f"KV {capture.kv_head(layer, number)}",
                   {"heads": config.heads, "kv": config.kv_heads, "group": config.heads // config.kv_heads}),
            Number("most", f"{last.max():.2f} → {names.texts[int(last.argmax())]}", {"token": names.texts[-1]}),
        ),
        proofs=(cached.rows_proof(bench.model, bench.prompt),),
        facts={"layer": layer, "head": number, "kv": capture.kv_head(layer, number), "d": config.d_head},
        table=table,
    )


SCENE = Scene("attention", "head", build, params=(LAYER, HEAD, JOIN), bench=True)
