"""The snapping histogram: all weights before and after, with the points of one block as ticks."""

from __future__ import annotations

from viz_core import units
from viz_core.figures.scales import Scale, Spacing
from viz_core.figures.snapping import Tally, snapping
from viz_core.proofs.quantizers import on_points
from viz_core.quantizers.compare import Row
from viz_core.ui import quantizing
from viz_core.ui.params import Choice, Switch
from viz_core.ui.quantizing import BLOCK, FORMAT, NAMES
from viz_core.ui.quantizing_data import DATA, chosen, notice, ranked, stored_as
from viz_core.ui.quantizing_lost import cell, losses
from viz_core.ui.scene import Context, Number, Plate, Scene, View

OTHER = Choice("other", (*NAMES, "none"), "none")
LOG, VIEW = Switch("log_counts"), Choice("view", quantizing.VIEWS, "steps")


def tallied(context: Context, name: str) -> Tally:
    """One format's counts in the chosen view."""
    data, view = chosen(context), context.values["view"]
    block = context.values["block"] % len(quantizing.pair(data, name).after.codes) if view == "block" else 0
    return quantizing.counts(data, name, view, block)


def plate(context: Context, name: str, top: int) -> Plate:
    """One format's histogram, on an axis of counts up to `top`."""
    pair, view = quantizing.pair(chosen(context), name), context.values["view"]
    block = context.values["block"] % len(pair.after.codes)
    points = pair.after.format.grid.levels if view == "steps" else pair.after.points(block)
    names = (context.t("quant.before"), context.t("quant.in_format", name=name))
    axis = Scale(context.t("quant.scaled" if view == "steps" else "quant.value"))
    spacing: Spacing = "log" if context.values["log_counts"] else "linear"
    return Plate(snapping(context.look, tallied(context, name), axis, names, points, spacing, 340, top))


def build(context: Context) -> View:
    """One format, or two side by side."""
    names = [context.values["format"], *([context.values["other"]] if context.values["other"] != "none" else [])]
    pair = quantizing.pair(chosen(context), names[0])
    rows = {name: quantizing.row(chosen(context), name) for name in names}
    row, size = rows[names[0]], pair.before.size
    measured = [name for name in names if ranked(name, stored_as(chosen(context)))]
    top = max(tallied(context, name).top for name in names)
    sqnr = Number("quant_sqnr", units.decibels(row.errors.sqnr), {"name": pair.name})
    return View(
        plates=tuple(plate(context, name, top) for name in names),
        beside=True,
        notice=notice(context, name=names[0], also=losses(context, rows)),
        numbers=(
            *([sqnr] if names[0] in measured else []),
            Number("quant_zeroed", units.percent(row.zeroed / size, 1)),
            Number("quant_clipped_all", f"{units.count(row.clipped)} / {units.count(size)}"),
            Number("quant_kurtosis", units.fixed(quantizing.kurtosis(chosen(context)))),
        ),
        proofs=(on_points(pair.after),),
        facts={"name": pair.name, "points": pair.after.points(0).size, "n": units.count(size),
               "share": units.percent(quantizing.SHARE, 1)},
        table={"format": measured, **_errors([rows[name] for name in measured])},
    )


def _errors(rows: list[Row]) -> dict[str, list[object]]:
    return {"bits": [row.bits for row in rows], "RMSE": [cell(row, row.errors.rmse) for row in rows],
            "SQNR dB": [cell(row, row.errors.sqnr) for row in rows],
            "max error": [cell(row, row.errors.maximum) for row in rows],
            "clipped": [row.clipped for row in rows], "zeroed": [row.zeroed for row in rows]}


SCENE = Scene("quantization", "histogram", build, params=(*DATA, FORMAT, OTHER, VIEW, BLOCK, LOG), bench=True)
