"""What a format does to a model: the bundled one, on text it never saw."""

from __future__ import annotations

from viz_core import units
from viz_core.figures.bars import Bar, bars
from viz_core.figures.scales import Scale
from viz_core.ui import quantizing_model
from viz_core.ui.params import Choice
from viz_core.ui.quantizing_model import TEXT
from viz_core.ui.scene import Context, Number, Plate, Scene, View

MODEL = "bundled"  # its weights were never quantized before
SHOWN = ("FP16", "Q8_0", "int8 row", "E4M3", "Q6_K", "Q5_K", "Q4_K", "Q4_0", "NF4", "NVFP4", "MXFP4", "int4 g64",
         "uint3 g64", "Q2_K", "uint2 g64")  # fmt: skip
MEASURE = Choice("damage", ("kl", "added", "flips"), "kl")


def build(context: Context) -> View:
    """Each format's damage on the held-out text of one language, least bits last."""
    lang, measure = context.values[TEXT.name], context.values["damage"]
    rows = [quantizing_model.model_row(MODEL, name, lang) for name in SHOWN]
    lengths = [max(0.0, getattr(row.damage, measure)) for row in rows]
    top = sorted(lengths)[-2] * 1.25  # the two-bit format runs off; its number stands at its bar
    shown = [Bar(f"{row.name} · {row.bits:.3g} bit", min(length, top), _written(measure, getattr(row.damage, measure)),
                 detail=f"perplexity {row.damage.perplexity:.2f}", pale=row.stand_in > 0)
             for row, length in zip(rows, lengths, strict=True)]
    figure = bars(context.look, shown, Scale(context.t(f"quant.damage_{measure}"), range=(0, top * 1.12)))
    base = quantizing_model.original(MODEL, lang)
    silent = [row.name for row in rows if abs(row.damage.added) < 2 * row.damage.noise]
    four = next(row for row in rows if row.name == "Q4_0")
    return View(
        plates=(Plate(figure),),
        numbers=(
            Number("quant_ppl", f"{base.perplexity:.2f}", {"n": len(base.target)}),
            Number("quant_ppl_of", f"{four.damage.perplexity:.2f}", {"name": four.name}),
            Number("quant_flips_of", units.percent(four.damage.flips, 1), {"name": four.name}),
        ),
        facts={"n": len(base.target), "silent": ", ".join(silent) or "–", "noise": f"{four.damage.noise:.3f}",
               "added": f"{four.damage.added:.3f}"},
        table={"format": [row.name for row in rows], "bits a weight": [round(row.bits, 3) for row in rows],
               "perplexity": [round(row.damage.perplexity, 3) for row in rows],
               "loss added": [round(row.damage.added, 5) for row in rows],
               "± standard error": [round(row.damage.noise, 5) for row in rows],
               "KL": [round(row.damage.kl, 5) for row in rows],
               "first choice changed": [round(row.damage.flips, 4) for row in rows],
               "stored by a stand-in": [round(row.stand_in, 3) for row in rows]},
    )


def _written(measure: str, value: float) -> str:
    return units.percent(value, 1) if measure == "flips" else f"{value:.4f}".replace("-", "−")


SCENE = Scene("quantization", "model", build, params=(MEASURE, TEXT))
