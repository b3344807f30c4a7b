"""AWQ, SmoothQuant and HQQ on a real layer: what the grid sees before and after, and what comes out."""

from __future__ import annotations

from collections.abc import Callable

from viz_core.figures.mirrored import mirrored
from viz_core.figures.scales import Scale
from viz_core.quantizers.layerwise import GROUP, Rounded, by_awq, by_hqq, by_smoothing
from viz_core.ui.params import Choice
from viz_core.ui.quantizing_methods import eased
from viz_core.ui.quantizing_model import LAYER, MATRIX, TEXT
from viz_core.ui.scene import Context, Number, Plate, Scene, View

METHODS: dict[str, Callable[..., Rounded]] = {"smooth": by_smoothing, "awq": by_awq, "hqq": by_hqq}
METHOD = Choice("method", tuple(METHODS), "smooth")
BITS = Choice("method_bits", ("8", "4", "3"), "4")
ALPHA = Choice("smooth_alpha", ("0.25", "0.5", "0.75"), "0.5", when=("method", "smooth"))


def verdict(fitted: float, other: float) -> str:
    """Whether the output error fell on the text that the method was fitted to, and on other text."""
    if fitted < 1:
        return "gains" if other < 1 else "fitted"
    return "unfitted" if other < 1 else "loses"


def aim(ratio: float) -> str:
    """Whether HQQ's mean |error|^0.7 is below that of plain rounding, as it aims at."""
    return "aim_met" if ratio < 1 else "aim_missed"


def build(context: Context) -> View:
    """One matrix of the bundled model by the chosen method, against the same grid without it."""
    v = context.values
    method = v[METHOD.name]
    place = v[TEXT.name], int(v[LAYER.name]), v[MATRIX.name]
    found = eased(*place, method, int(v[BITS.name]), float(v[ALPHA.name]))
    name = context.t(f"option.method.{method}")
    seen = (context.t("quant.before"), context.t(f"quant.seen_{method}", bits=v[BITS.name]))
    axis = Scale(context.t("quant.activations" if method == "smooth" else "quant.value"))
    errors = Scale(context.t("quant.output_off"))
    weight, output, unseen = (pair[1] / pair[0] for pair in (found.weight, found.output, found.unseen))
    detail = f"{found.detail:.3g}" + ("" if method == "awq" else "×")
    return View(
        plates=(
            Plate(mirrored(context.look, found.seen, axis, seen, "log", 300)),
            Plate(mirrored(context.look, found.errors, errors, (context.t("quant.plain_error"), name), height=300)),
        ),
        beside=True,
        numbers=(
            Number("quant_method_weight", f"{weight:.2f}×"),
            Number("quant_method_output", f"{output:.2f}×"),
            Number("quant_unseen_ratio", f"{unseen:.2f}×"),
            Number(f"quant_{method}", detail),
        ),
        facts={
            "name": name,
            "output": f"{output:.2f}",
            "weight": f"{weight:.2f}",
            "unseen": f"{unseen:.2f}",
            "aim": context.t(f"scene.quantization.methods.{aim(found.detail)}", ratio=f"{found.detail:.3g}")
            if method == "hqq" else "",
            "verdict": context.t(f"scene.quantization.methods.{verdict(output, unseen)}"),
            "group": GROUP,
            "layer": v[LAYER.name],
            "matrix": context.t(f"option.matrix.{v[MATRIX.name]}"),
            "bits": v[BITS.name],
        },
        table={
            "": [context.t("quant.plain_error"), name],
            "weight MSE": list(found.weight),
            "output MSE": list(found.output),
            "output MSE, unseen text": list(found.unseen),
        },
        code=(METHODS[method],),
    )


SCENE = Scene("quantization", "methods", build, params=(METHOD, ALPHA, BITS, LAYER, MATRIX, TEXT))
