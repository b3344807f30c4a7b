"""The snapping histogram: all weights before and after, with the points of one block as ticks."""

from __future__ import annotations

from viz_core import units
from viz_core.figures.scales import Scale, Spacing
from viz_core.figures.snapping import snapping
from viz_core.proofs import Proof
from viz_core.proofs.quantizers import on_points
from viz_core.quantizers.compare import Row
from viz_core.ui import quantizing
from viz_core.ui.params import Choice, Switch
from viz_core.ui.quantizing import BLOCK, FORMAT, NAMES, Pair
from viz_core.ui.quantizing_data import DATA, Data, chosen, notice, ranked, stored_as
from viz_core.ui.quantizing_hover import bars_say
from viz_core.ui.quantizing_lost import cell, losses
from viz_core.ui.scene import Context, Number, Plate, Scene, View

OTHER = Choice("other", (*NAMES, "none"), "none")
LOG, VIEW = Switch("log_counts"), Choice("view", quantizing.VIEWS, "steps")


def asked(context: Context, name: str) -> tuple[Data, str, str, int]:
    """What is asked of one format: tensor, format, view and, where the view is a block, its number."""
    data, view = chosen(context), context.values["view"]
    block = context.values["block"] % len(quantizing.pair(data, name).after.codes) if view == "block" else 0
    return data, name, view, block


def plate(context: Context, name: str, top: int) -> Plate:
    """One format's histogram, on an axis of counts up to `top`."""
    pair, view = quantizing.pair(chosen(context), name), context.values["view"]
    block = context.values["block"] % len(pair.after.codes)
    points = pair.after.format.grid.levels if view == "steps" else pair.after.points(block)
    names = (context.t("quant.before"), context.t("quant.in_format", name=name))
    axis = Scale(context.t("quant.scaled" if view == "steps" else "quant.value"))
    spacing: Spacing = "log" if context.values["log_counts"] else "linear"
    tally, said = quantizing.counts(*asked(context, name)), bars_say(*asked(context, name), context.lang)
    return Plate(snapping(context.look, tally, axis, names, points, spacing, 340, top, said))


def build(context: Context) -> View:
    """One format, or two side by side."""
    names = [context.values["format"], *([context.values["other"]] if context.values["other"] != "none" else [])]
    pairs = [quantizing.pair(chosen(context), name) for name in names]
    rows = [quantizing.row(chosen(context), name) for name in names]
    measured = [name for name in names if ranked(name, stored_as(chosen(context)))]
    top = max(quantizing.counts(*asked(context, name)).top for name in names)
    return View(
        plates=tuple(plate(context, name, top) for name in names),
        beside=True,
        notice=notice(context, name=names, also=losses(context, dict(zip(names, rows, strict=True)))),
        numbers=(
            *(number for pair, row in zip(pairs, rows, strict=True)
              for number in _numbers(pair, row, pair.name in measured)),
            Number("quant_kurtosis", units.fixed(quantizing.kurtosis(chosen(context)))),
        ),
        proofs=(weakest([on_points(pair.after) for pair in pairs]),),
        facts={"name": " / ".join(names), "points": " / ".join(str(pair.after.points(0).size) for pair in pairs),
               "n": units.count(pairs[0].before.size),
               "zeroed": " / ".join(_zeroed(*both) for both in zip(pairs, rows, strict=True)),
               "clipped": " / ".join(units.count(row.clipped) for row in rows),
               "share": units.percent(quantizing.SHARE, 1)},
        table={"format": measured, **_errors([row for name, row in zip(names, rows, strict=True) if name in measured])},
    )


def _numbers(pair: Pair, row: Row, ranked: bool) -> list[Number]:
    """One format's figures, each with its name; no SQNR where the format may not be ranked."""
    size, named = pair.before.size, {"name": pair.name}
    return [
        *([Number("quant_sqnr", units.decibels(row.errors.sqnr), named)] if ranked else []),
        Number("quant_zeroed", _zeroed(pair, row), named),
        Number("quant_clipped_all", f"{units.count(row.clipped)} / {units.count(size)}", named),
    ]


def _zeroed(pair: Pair, row: Row) -> str:
    """The share of the weights that became zero."""
    return units.percent(row.zeroed / pair.before.size, 1)


def weakest(proofs: list[Proof]) -> Proof:
    """The claim for all of them: the first that fails, else the one with the largest measure, else one on nothing."""
    told = [proof for proof in proofs if not proof.empty]
    return min(told or proofs[:1], key=lambda proof: (proof.holds, -proof.measured))


def _errors(rows: list[Row]) -> dict[str, list[object]]:
    return {"bits": [row.bits for row in rows], "RMSE": [cell(row, row.errors.rmse) for row in rows],
            "SQNR dB": [cell(row, row.errors.sqnr) for row in rows],
            "max error": [cell(row, row.errors.maximum) for row in rows],
            "clipped": [row.clipped for row in rows], "zeroed": [row.zeroed for row in rows]}


SCENE = Scene("quantization", "histogram", build, params=(*DATA, FORMAT, OTHER, VIEW, BLOCK, LOG), bench=True)
