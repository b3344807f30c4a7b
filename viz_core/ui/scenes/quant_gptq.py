"""GPTQ's paradox: weights further from where they were, outputs closer."""

from __future__ import annotations

import numpy as np

from viz_core import units
from viz_core.figures.bars import Bar, bars
from viz_core.figures.mirrored import mirrored, tally
from viz_core.figures.scales import Scale
from viz_core.figures.theme import HUES
from viz_core.quantizers.gptq import gptq, half_steps
from viz_core.ui import quantizing_model
from viz_core.ui.params import Choice
from viz_core.ui.quantizing_model import LAYER, MATRIX, TEXT
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

BITS = Choice("gptq_bits", ("4", "3", "2"), "4")
GROUP = Choice("gptq_group", ("row", "32"), "row")


def squared(a: np.ndarray, b: np.ndarray) -> float:
    """Mean squared difference."""
    return float(np.mean((a - b) ** 2, dtype=np.float64))


def build(context: Context) -> View:
    """One matrix of the bundled model, rounded to nearest and by GPTQ."""
    group = None if context.values["gptq_group"] == "row" else int(context.values["gptq_group"])
    bits = int(context.values["gptq_bits"])
    place = context.values[TEXT.name], int(context.values[LAYER.name]), context.values[MATRIX.name]
    layer = quantizing_model.layer(*place)
    plain, ours = quantizing_model.gptq_weights(*place, bits, group)
    weight = [squared(w, layer.weight) for w in (plain, ours)]
    output, unseen = ([squared(x @ w, x @ layer.weight) for w in (plain, ours)] for x in (layer.inputs, layer.unseen))
    names = (context.t("quant.nearest"), "GPTQ")
    rows = [Bar(f"{context.t(f'quant.{what}')} · {name}", value / pair[0], f"{value:.3g}", HUES[k])
            for what, pair in (("weight_error", weight), ("output_error", output), ("unseen_error", unseen))
            for k, (name, value) in enumerate(zip(names, pair, strict=True))]
    further = weight[1] > weight[0]
    half = half_steps(layer.weight, bits, group)
    beyond = float((np.abs(ours - layer.weight) > half * (1 + 1e-5)).mean())
    near = float((np.abs(plain - layer.weight) < 0.1 * half).mean())
    moved = tally(plain - layer.weight, ours - layer.weight)
    return View(
        plates=(
            Plate(bars(context.look, rows, Scale(context.t("quant.against_nearest")))),
            Plate(mirrored(context.look, moved, Scale(context.t("quant.error")), names, height=300)),
        ),
        numbers=(
            Number("quant_weight_ratio", f"{weight[1] / weight[0]:.2f}×"),
            Number("quant_output_ratio", f"{output[1] / output[0]:.2f}×"),
            Number("quant_unseen_ratio", f"{unseen[1] / unseen[0]:.2f}×"),
        ),
        question=Question((context.t("quant.smaller"), context.t("quant.larger")), int(further),
                          {"ratio": f"{weight[1] / weight[0]:.2f}",
                           "why": context.t(f"scene.quantization.gptq.{'further' if further else 'closer'}")}),
        facts={"n": len(layer.inputs), "weight": f"{weight[1] / weight[0]:.2f}",
               "output": f"{output[1] / output[0]:.2f}",
               "unseen": f"{unseen[1] / unseen[0]:.2f}", "other": len(layer.unseen),
               "grids": context.t(f"scene.quantization.gptq.{'same' if group is None else 'own'}_grids"),
               "carried": context.t(f"scene.quantization.gptq.{'carries' if unseen[1] < unseen[0] else 'overfits'}"),
               "widest": f"{half.max():.3g}", "beyond": units.percent(beyond, 0), "near": units.percent(near, 0),
               "layer": context.values[LAYER.name],
               "matrix": context.t(f"option.matrix.{context.values[MATRIX.name]}"),
               "inputs": layer.weight.shape[0], "outputs": layer.weight.shape[1]},
        table={"": list(names), "weight MSE": weight, "output MSE": output, "output MSE, unseen text": unseen},
        code=(gptq,),
    )


SCENE = Scene("quantization", "gptq", build, params=(LAYER, MATRIX, BITS, GROUP, TEXT))
