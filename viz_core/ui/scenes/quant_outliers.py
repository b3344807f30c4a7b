"""Outliers stretch the grid: rotate them away, keep them apart, or give them a block of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viz_core import units
from viz_core.figures.scales import Scale
from viz_core.figures.snapping import snapping, tally
from viz_core.i18n import Problem
from viz_core.quantizers.errors import errors
from viz_core.quantizers.llm_int8 import split
from viz_core.quantizers.registry import symmetric
from viz_core.quantizers.rescale import random_signs, rotate, rotate_back
from viz_core.quantizers.samples import excess_kurtosis
from viz_core.ui import quantizing, quantizing_data
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Plate, Scene, View

REMEDY = Choice("remedy", ("rotate", "split", "block"), "rotate")
DATA = (replace(quantizing_data.SOURCE, default="ffn_out"), *quantizing_data.DATA[1:])
WIDTH = 128  # a power of two that the rows of every tensor hold
BITS = Choice("remedy_bits", ("4", "8"), "4")
MOST = 1e36  # larger values leave float32 when a row of them is added up


def treated(x: np.ndarray, remedy: str, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """`x` (rows, WIDTH) as the remedy lets the grid see it, and its values after quantizing."""
    form = symmetric(bits, "row")
    if remedy == "rotate":
        signs = random_signs(WIDTH)
        seen = rotate(x, signs)
        return seen, rotate_back(form.round(seen), signs)
    if remedy == "block":
        return x, symmetric(bits, 32).round(x)
    found = split(x, 6 * float(x.std()))
    rest = x.copy()
    rest[:, found.outliers] = 0
    after = form.round(rest)
    after[:, found.outliers] = found.kept
    return rest, after


def build(context: Context) -> View:
    """The chosen tensor in rows of 128, plain and treated."""
    bits, remedy = int(context.values["remedy_bits"]), context.values["remedy"]
    whole = quantizing.tensor(quantizing_data.chosen(context))
    if whole.size < WIDTH:
        raise Problem("quantizers_small", values=whole.size, least=WIDTH)
    if float(np.abs(whole).max()) > MOST:
        raise Problem("quantizers_large", most=f"{MOST:.0e}")
    x = whole.reshape(-1)[: whole.size // WIDTH * WIDTH].reshape(-1, WIDTH)
    plain = symmetric(bits, "row").round(x)
    seen, after = treated(x, remedy, bits)
    names = (context.t("quant.plain_error"), context.t(f"quant.with_{remedy}"))
    first = tally(plain - x, after - x, share=0.998)
    shapes = tally(x, seen)
    before_names = (context.t("quant.before"), context.t(f"quant.seen_{remedy}"))
    found = [errors(x, plain).sqnr, errors(x, after).sqnr]
    return View(
        plates=(
            Plate(snapping(context.look, shapes, Scale(context.t("quant.value")), before_names, (), "log", 300)),
            Plate(snapping(context.look, first, Scale(context.t("quant.error")), names, height=300)),
        ),
        notice=quantizing_data.notice(context),
        numbers=(
            Number("quant_sqnr_pair", " → ".join(map(units.decibels, found)), {"bits": bits}),
            Number("quant_kurtosis_pair", f"{excess_kurtosis(x):.1f} → {excess_kurtosis(seen):.1f}"),
        ),
        facts={"bits": bits, "width": WIDTH},
        table={"": list(names), "SQNR dB": found},
        code=(rotate,),
    )


SCENE = Scene("quantization", "outliers", build, params=(*DATA, REMEDY, BITS), bench=True)
