"""The snapping histogram: every bar of the weights comes apart and moves to the points of the grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from viz_core import units
from viz_core.figures.scales import Spacing
from viz_core.proofs.proof import of_all
from viz_core.quantizers.compare import Row
from viz_core.trace import Text, Trace
from viz_core.ui import quantizing
from viz_core.ui.params import Choice, Switch
from viz_core.ui.quantizing import BLOCK, FORMAT, NAMES
from viz_core.ui.quantizing_data import DATA, Data, chosen, notice, ranked, stored_as
from viz_core.ui.quantizing_film import TEXT, film
from viz_core.ui.quantizing_flow import SHARE, VIEWS, Moving, asked, moving
from viz_core.ui.quantizing_lost import cell, losses
from viz_core.ui.scene import Context, Number, Scene, View

OTHER = Choice("other", (*NAMES, "none"), "none")
LOG, VIEW, ONE = Switch("log_counts"), Choice("view", VIEWS, "steps"), replace(BLOCK, when=("view", "block"))
UNITS = {"steps": "quant.scaled", "weights": "quant.value", "block": "quant.value"}


def shown(context: Context, names: Sequence[str]) -> dict[str, Moving]:
    """The asked view of each format; both on one axis, but in steps, where each has its own unit."""
    want = asked(chosen(context), names, context.values["view"], context.values["block"])
    alone = {name: moving(want, name) for name in names}
    if want.view == "steps" or len(names) == 1:
        return alone
    ends = [one.flow.edges[[0, -1]].tolist() for one in alone.values()]
    common = min(low for low, _ in ends), max(high for _, high in ends)
    return {name: moving(want, name, common) for name in names}


def build(context: Context) -> View:
    """One format, or two one above the other."""
    data, other = chosen(context), context.values["other"]
    names = list(dict.fromkeys([context.values["format"], *([other] if other != "none" else [])]))
    rows = {name: quantizing.row(data, name) for name in names}
    measured = [name for name in names if ranked(name, stored_as(data))]
    found = shown(context, names)
    trace = _film(context, {name: one for name, one in found.items() if one.flow.counts.size})
    return View(
        trace=trace,
        start=trace.steps // 2 if trace else 0,
        notice=notice(context, name=names, also=[*losses(context, rows), *_unseen(context, found)]),
        numbers=(
            *(number for name in names for number in _numbers(found[name], name, name in measured)),
            Number("quant_kurtosis", _kurtosis(data)),
        ),
        proofs=(of_all([quantizing.points_proof(data, name) for name in names]),),
        facts={"share": units.percent(SHARE, 1), "said": _said(context, found, trace is not None)},
        table={"format": measured, **_errors([rows[name] for name in measured])},
    )


def _said(context: Context, found: Mapping[str, Moving], moves: bool) -> str:
    """What became of the weights."""
    zeroed, clipped = (" / ".join(said(one) for one in found.values()) for said in (_zeroed, _clipped))
    key = f"{TEXT}.snaps" if moves else f"{TEXT}.nothing_moves"
    return context.t(key, name=" / ".join(found), zeroed=zeroed, clipped=clipped)


def _film(context: Context, shown: Mapping[str, Moving]) -> Trace | None:
    if not shown:
        return None
    named = [Text("quant.in_format", {"name": name}) for name in shown]
    spacing: Spacing = "log" if context.values[LOG.name] else "linear"
    return film(shown, Text(UNITS[context.values["view"]]), named, spacing)


def _unseen(context: Context, found: Mapping[str, Moving]) -> list[str]:
    """That a format has nothing to draw: no value of it has a finite place on the axis."""
    missing = [name for name, one in found.items() if not one.flow.counts.size]
    return [context.t("quant.nothing_to_draw", names=context.listed(missing))] if missing else []


def _numbers(one: Moving, name: str, ranked: bool) -> list[Number]:
    """One format's figures on the weights that move, each with its name; no SQNR where it may not be ranked."""
    named, size = {"name": name}, units.count(one.at.size)
    return [
        *([Number("quant_sqnr", units.decibels(one.errors.sqnr), named)] if ranked else []),
        Number("quant_zeroed", _zeroed(one), named),
        Number("quant_clipped_all", f"{_clipped(one)} / {size}", named),
    ]


def _zeroed(one: Moving) -> str:
    """The share of the weights that became zero."""
    return units.percent(one.zeroed / one.at.size, 1)


def _kurtosis(data: Data) -> str:
    """Excess kurtosis, which equal values have not."""
    x = quantizing.tensor(data)
    return units.fixed(quantizing.kurtosis(data)) if x.min() < x.max() else "–"


def _clipped(one: Moving) -> str:
    return units.count(int(one.clipped.sum()))


def _errors(rows: list[Row]) -> dict[str, list[object]]:
    return {"bits": [row.bits for row in rows], "RMSE": [cell(row, row.errors.rmse) for row in rows],
            "SQNR dB": [cell(row, row.errors.sqnr) for row in rows],
            "max error": [cell(row, row.errors.maximum) for row in rows],
            "clipped": [row.clipped for row in rows], "zeroed": [row.zeroed for row in rows]}


SCENE = Scene("quantization", "histogram", build, params=(*DATA, FORMAT, OTHER, VIEW, ONE, LOG), bench=True)
