"""One attention head, large: who looks at whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from viz_core.figures.cells import Matrix
from viz_core.figures.heatmap import heatmap
from viz_core.ui import cached, cached_heads
from viz_core.ui.heads import HEAD, JOIN, LAYER, cropped, matrix, title
from viz_core.ui.scene import Context, Number, Plate, Scene, View

TABLED = 64  # tokens up to which the weights are offered as numbers


def table(shown: Matrix) -> dict[str, list[Any]] | None:
    """The weights as numbers, a column a key, where there are not too many."""
    texts = shown.keys.texts
    if len(texts) > TABLED:
        return None
    columns = {f"{j} {text}": [round(float(v), 6) for v in shown.values[:, j]] for j, text in enumerate(texts)}
    return {"query \\ key": list(shown.queries.texts), **columns}


def build(context: Context) -> View:
    """The chosen head on the workbench's prompt."""
    bench, layer, number = context.bench, context.values["layer"], context.values["head"]
    capture = cached.capture(bench.model, bench.prompt)
    head = capture.head(layer, number)
    shown = matrix(context, head.weights, scores=head.scores)
    last, names = np.nan_to_num(shown.values[-1]), shown.keys.texts
    config = cached.model(bench.model).llama.config
    return View(
        plates=(Plate(heatmap(context.look, shown)),),
        numbers=(
            Number("head", title((layer, number))),
            Number("kv_head", f"KV {capture.kv_head(layer, number)}",
                   {"heads": config.heads, "kv": config.kv_heads, "group": config.heads // config.kv_heads}),
            Number("most", f"{last.max():.2f} → {names[int(last.argmax())]}", {"token": names[-1]}),
        ),
        proofs=(cached_heads.rows_proof(bench.model, bench.prompt, layer),
                cached_heads.used_proof(bench.model, bench.prompt, layer)),
        facts={"layer": layer, "head": number, "kv": capture.kv_head(layer, number), "d": config.d_head},
        notice=cropped(context),
        table=table(shown),
    )


SCENE = Scene("attention", "head", build, params=(LAYER, HEAD, JOIN), bench=True)
