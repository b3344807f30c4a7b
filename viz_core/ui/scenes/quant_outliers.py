"""Outliers stretch the grid: rotate them away, keep them apart, or give them a block of their own."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from viz_core import units
from viz_core.figures.mirrored import mirrored
from viz_core.figures.scales import Scale
from viz_core.quantizers.registry import symmetric
from viz_core.quantizers.remedies import SIGMAS, WIDTH, treat
from viz_core.ui import quantizing_data
from viz_core.ui.params import Choice
from viz_core.ui.quantizing_data import ranked, stored_as
from viz_core.ui.quantizing_methods import Treatment, treatment
from viz_core.ui.scene import Context, Number, Plate, Scene, View

REMEDY = Choice("remedy", ("rotate", "split", "block"), "rotate")
DATA = (replace(quantizing_data.SOURCE, default="ffn_out"), *quantizing_data.DATA[1:])
BITS = Choice("remedy_bits", ("4", "8"), "4")


def build(context: Context) -> View:
    """The chosen tensor in rows of 128, plain and treated."""
    bits, remedy = int(context.values["remedy_bits"]), context.values["remedy"]
    data = quantizing_data.chosen(context)
    found = treatment(data, remedy, bits)
    measured = ranked(symmetric(bits, "row"), stored_as(data))
    sqnr = tuple(map(units.decibels, found.sqnr)) if measured else ("–", "–")
    idle = remedy == "split" and not found.columns
    seen = (context.t("quant.before"), context.t("quant.seen_block" if idle else f"quant.seen_{remedy}"))
    names = (context.t("quant.plain_error"), context.t("quant.with_nothing" if idle else f"quant.with_{remedy}"))
    return View(
        plates=(
            Plate(mirrored(context.look, found.values, Scale(context.t("quant.value")), seen, "log", 300)),
            Plate(mirrored(context.look, found.errors, Scale(context.t("quant.error")), names, height=300)),
        ),
        notice=quantizing_data.notice(context, also=_lost(context, found)),
        numbers=(
            Number("quant_sqnr_pair", " → ".join(sqnr), {"bits": bits}),
            Number("quant_kurtosis_pair", " → ".join(map(units.fixed, found.kurtosis))),
        ),
        facts={"bits": bits, "width": WIDTH, "sigmas": SIGMAS, "columns": found.columns,
               "said": context.t(f"scene.quantization.outliers.{case(found, remedy, measured)}", remedy=names[1],
                                 before=sqnr[0], after=sqnr[1], rows=units.count(found.rows),
                                 size=units.count(found.size), columns=found.columns, width=WIDTH, bits=bits)},
        table={"": list(names), "SQNR dB": [x if measured and x > -inf else None for x in found.sqnr],
               "excess kurtosis": list(found.kurtosis)},
        code=(treat,),
    )


def case(found: Treatment, remedy: str, measured: bool) -> str:
    """Which sentence the numbers call for: the error says nothing, columns are apart or none is, rows are stretched."""
    if not measured:
        return "unranked"
    if remedy == "split":
        return "apart" if found.columns else "nothing_apart"
    return "stretched" if found.rows else "level"


def _lost(context: Context, found: Treatment) -> list[str]:
    """What FP16 does to the columns kept apart."""
    counts = {"lost_apart": found.lost, "sunk_apart": found.sunk}
    return [context.t(f"quant.{key}", n=units.count(n)) for key, n in counts.items() if n]


SCENE = Scene("quantization", "outliers", build, params=(*DATA, REMEDY, BITS), bench=True)
