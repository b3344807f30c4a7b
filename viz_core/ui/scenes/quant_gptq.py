"""GPTQ's paradox: weights further from where they were, outputs closer."""

from __future__ import annotations

import numpy as np

from viz_core.figures.bars import Bar, bars
from viz_core.figures.scales import Scale
from viz_core.figures.snapping import snapping, tally
from viz_core.figures.theme import HUES
from viz_core.quantizers.gptq import gptq
from viz_core.ui import quantizing_model
from viz_core.ui.params import Choice
from viz_core.ui.quantizing_model import TEXT
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

BITS = Choice("gptq_bits", ("4", "3", "2"), "4")
GROUP = Choice("gptq_group", ("row", "32"), "row")


def squared(a: np.ndarray, b: np.ndarray) -> float:
    """Mean squared difference."""
    return float(np.mean((a - b) ** 2, dtype=np.float64))


def build(context: Context) -> View:
    """The bundled model's first layer, rounded to nearest and by GPTQ."""
    group = None if context.values["gptq_group"] == "row" else int(context.values["gptq_group"])
    lang = context.values[TEXT.name]
    layer = quantizing_model.first_layer(lang)
    plain, ours = quantizing_model.gptq_weights(lang, int(context.values["gptq_bits"]), group)
    target = layer.inputs @ layer.weight
    weight = [squared(w, layer.weight) for w in (plain, ours)]
    output = [squared(layer.inputs @ w, target) for w in (plain, ours)]
    names = (context.t("quant.nearest"), "GPTQ")
    rows = [Bar(f"{context.t(f'quant.{what}')} · {name}", value / pair[0], f"{value:.3g}", HUES[k])
            for what, pair in (("weight_error", weight), ("output_error", output))
            for k, (name, value) in enumerate(zip(names, pair, strict=True))]
    moved = tally(plain - layer.weight, ours - layer.weight)
    return View(
        plates=(
            Plate(bars(context.look, rows, Scale(context.t("quant.against_nearest")))),
            Plate(snapping(context.look, moved, Scale(context.t("quant.error")), names, height=300)),
        ),
        numbers=(
            Number("quant_weight_ratio", f"{weight[1] / weight[0]:.2f}×"),
            Number("quant_output_ratio", f"{output[1] / output[0]:.2f}×"),
        ),
        question=Question((context.t("quant.smaller"), context.t("quant.larger")), int(weight[1] > weight[0]),
                          {"ratio": f"{weight[1] / weight[0]:.2f}"}),
        facts={"n": len(layer.inputs), "weight": f"{weight[1] / weight[0]:.2f}",
               "output": f"{output[0] / output[1]:.2f}",
               "inputs": layer.weight.shape[0], "outputs": layer.weight.shape[1]},
        table={"": list(names), "weight MSE": weight, "output MSE": output},
        code=(gptq,),
    )


SCENE = Scene("quantization", "gptq", build, params=(BITS, GROUP, TEXT))
