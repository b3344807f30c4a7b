"""Outliers stretch the grid: rotate them away, keep them apart, or give them a block of their own."""

from __future__ import annotations

from dataclasses import replace

from viz_core import units
from viz_core.figures.mirrored import mirrored
from viz_core.figures.scales import Scale
from viz_core.quantizers.remedies import SIGMAS, WIDTH, treat
from viz_core.ui import quantizing_data
from viz_core.ui.params import Choice
from viz_core.ui.quantizing_methods import treatment
from viz_core.ui.scene import Context, Number, Plate, Scene, View

REMEDY = Choice("remedy", ("rotate", "split", "block"), "rotate")
DATA = (replace(quantizing_data.SOURCE, default="ffn_out"), *quantizing_data.DATA[1:])
BITS = Choice("remedy_bits", ("4", "8"), "4")


def build(context: Context) -> View:
    """The chosen tensor in rows of 128, plain and treated."""
    bits, remedy = int(context.values["remedy_bits"]), context.values["remedy"]
    found = treatment(quantizing_data.chosen(context), remedy, bits)
    seen = (context.t("quant.before"), context.t(f"quant.seen_{remedy}"))
    names = (context.t("quant.plain_error"), context.t(f"quant.with_{remedy}"))
    return View(
        plates=(
            Plate(mirrored(context.look, found.values, Scale(context.t("quant.value")), seen, "log", 300)),
            Plate(mirrored(context.look, found.errors, Scale(context.t("quant.error")), names, height=300)),
        ),
        notice=quantizing_data.notice(context),
        numbers=(
            Number("quant_sqnr_pair", " → ".join(map(units.decibels, found.sqnr)), {"bits": bits}),
            Number("quant_kurtosis_pair", " → ".join(map(units.fixed, found.kurtosis))),
        ),
        facts={"bits": bits, "width": WIDTH, "sigmas": SIGMAS, "remedy": names[1],
               **dict(zip(("before", "after"), map(units.decibels, found.sqnr), strict=True))},
        table={"": list(names), "SQNR dB": list(found.sqnr), "excess kurtosis": list(found.kurtosis)},
        code=(treat,),
    )


SCENE = Scene("quantization", "outliers", build, params=(*DATA, REMEDY, BITS), bench=True)
