"""Every format on one tensor: true bits against error."""

from __future__ import annotations

from viz_core.figures.points import Point, points
from viz_core.figures.scales import Scale
from viz_core.figures.theme import HUES
from viz_core.quantizers.compare import Row
from viz_core.quantizers.registry import FAMILIES, FORMATS
from viz_core.ui import quantizing
from viz_core.ui.quantizing import SOURCE
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

LEFT_OUT = ("FP16", "BF16", "E2M3", "E3M2", "E2M1")  # casts without a scale, far off the chart
SHOWN = tuple(name for name in FORMATS if name not in LEFT_OUT)


def family_of(name: str) -> str:
    """The family of a format by its name in `FORMATS`."""
    return next(family for family, forms in FAMILIES.items() if FORMATS[name] in forms)


def dots(names: tuple[str, ...], rows: list[Row]) -> list[Point]:
    """One point a format, hue by family."""
    hues = {family: HUES[min(i, 5)] for i, family in enumerate(f for f in FAMILIES if f != "gguf_fp4")}
    hues["gguf_fp4"] = hues["gguf"]
    return [Point(name, row.bits, row.errors.sqnr, hues[family_of(name)], f"RMSE {row.errors.rmse:.3g}")
            for name, row in zip(names, rows, strict=True)]


def build(context: Context) -> View:
    """All formats on the chosen tensor; 4-bit ones are not ranked on weights that were 4-bit before."""
    source, again = context.values["source"], quantizing.requantized(context.values["source"], context.bench)
    names = tuple(name for name in SHOWN if not again or not 3.5 < FORMATS[name].code_bits < 5)
    rows = quantizing.rows(source, context.bench.model, names)
    by_name = dict(zip(names, rows, strict=True))
    figure = points(context.look, dots(names, rows), Scale(context.t("quant.bits")),
                    Scale(context.t("quant.sqnr")), height=440)
    six, eight = by_name["Q6_K"], by_name["E4M3 tensor"]
    regrouped = sum(row.regrouped for row in rows)
    return View(
        plates=(Plate(figure),),
        notice=context.t("quant.requantized") if again else None,
        numbers=(
            Number("quant_pair", f"{six.errors.sqnr:.1f} dB", {"name": "Q6_K", "bits": f"{six.bits:.6g}"}),
            Number("quant_pair", f"{eight.errors.sqnr:.1f} dB", {"name": "E4M3", "bits": f"{eight.bits:.3g}"}),
        ),
        question=None if again else Question(("Q6_K", "E4M3"), 0 if six.errors.sqnr > eight.errors.sqnr else 1),
        proofs=(quantizing.ggml_proof(),),
        facts={"six": f"{six.errors.sqnr:.1f}", "eight": f"{eight.errors.sqnr:.1f}", "count": len(rows),
               "regrouped": regrouped},
        table={"format": list(names), "bits": [round(r.bits, 4) for r in rows],
               "SQNR dB": [round(r.errors.sqnr, 2) for r in rows], "RMSE": [r.errors.rmse for r in rows],
               "cosine": [r.errors.cosine for r in rows], "max error": [r.errors.maximum for r in rows],
               "clipped": [r.clipped for r in rows], "zeroed": [r.zeroed for r in rows],
               "rows strung together": [context.t("shell.yes" if r.regrouped else "shell.no") for r in rows]},
    )


SCENE = Scene("quantization", "table", build, params=(SOURCE,), bench=True)
