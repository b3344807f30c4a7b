"""Where references differ: one format under each setting of its switches, and what they change on the weights."""

from __future__ import annotations

from math import isfinite, isinf

import numpy as np

from viz_core import units
from viz_core.figures.bars import Bar, bars
from viz_core.figures.scales import Scale
from viz_core.figures.slides import Line, slides
from viz_core.figures.theme import Hue
from viz_core.proofs.quantizers import as_references
from viz_core.quantizers.references import NAMES, SETTINGS, Settings, Turned, own, saturated, turned, who
from viz_core.quantizers.references import Switch as Turn
from viz_core.quantizers.registry import FORMATS
from viz_core.ui import quantizing
from viz_core.ui.params import Choice, Switch
from viz_core.ui.quantizing_data import DATA, chosen, notice, ranked, seen, stored_as
from viz_core.ui.quantizing_lost import losses
from viz_core.ui.quantizing_references import beyond, cast, ties, under
from viz_core.ui.scene import Context, Number, Plate, Scene, View

FORMAT, ROUNDED = Choice("reference_format", NAMES, "MXFP4"), Switch("rounded_input")
AS_IT_IS = "own"
HAS: dict[Turn, tuple[str, ...]] = {of: tuple(n for n in NAMES if of in own(FORMATS[n])) for of in SETTINGS}
TURNS = tuple(Choice(f"turn_{of}", (AS_IT_IS, *SETTINGS[of]), AS_IT_IS, when=(FORMAT.name, HAS[of])) for of in SETTINGS)


def settings_of(name: str, of: Turn) -> tuple[str, ...]:
    """The settings of a switch, the format's own among them."""
    mine = own(FORMATS[name])[of]
    return SETTINGS[of] if mine in SETTINGS[of] else (mine, *SETTINGS[of])


def asked(context: Context) -> Settings:
    """The switches that the reader has turned away from where the format has them."""
    mine, values = own(FORMATS[context.values[FORMAT.name]]), context.values
    return tuple((of, values[f"turn_{of}"]) for of in mine if values[f"turn_{of}"] not in (AS_IT_IS, mine[of]))


def measured(context: Context, settings: Settings, rounded: bool | None = None) -> Turned:
    """The chosen weights under these settings; as the control says, or rounded to BF16 before or not."""
    values = context.values
    return under(chosen(context), values[FORMAT.name], settings,
                 values[ROUNDED.name] if rounded is None else rounded)


def strongest(context: Context) -> Settings:
    """The one setting that moves most values, on the weights as they are and then on weights of BF16."""
    name = context.values[FORMAT.name]
    each: list[Settings] = [((of, s),) for of, mine in own(FORMATS[name]).items() for s in SETTINGS[of] if s != mine]
    return max(each, key=lambda one: [measured(context, one, rounded).elsewhere for rounded in (False, True)])


def named(context: Context, of: Turn, setting: str) -> str:
    """A switch and its setting."""
    return context.t(f"quant.turned_{of}", to=word(context, of, setting))


def word(context: Context, of: Turn, setting: str) -> str:
    """A setting alone."""
    return context.t(f"option.turn_{of}.{setting}")


def taken_by(context: Context, of: Turn, setting: str) -> str:
    """The references that take a setting, "" where none does."""
    return context.listed(who(context.values[FORMAT.name], of, setting))


def hue(context: Context, of: Turn, setting: str) -> Hue:
    """The setting that is in force stands out."""
    mine = own(FORMATS[context.values[FORMAT.name]])
    return "B" if {**mine, **dict(asked(context))}[of] == setting else "A"


def quality(context: Context) -> bool:
    """Whether the format may be ranked on these weights; else only shares are shown."""
    return ranked(context.values[FORMAT.name], stored_as(chosen(context)))


def bar_plate(context: Context, of: Turn) -> Plate:
    """SQNR under each setting, for the scale rule with the share beyond the largest number."""
    name, rows = context.values[FORMAT.name], []
    size, shown = seen(chosen(context)).values.size, quality(context)
    others = tuple(pair for pair in asked(context) if pair[0] != of)
    for setting in settings_of(name, of):
        found = measured(context, (*others, (of, setting)))
        share = units.percent(found.saturated / size, 2)
        said = units.decibels(found.sqnr, 2) if shown else units.percent(found.elsewhere / size, 2)
        value = found.sqnr if shown else 100 * found.elsewhere / size
        names = [word(context, of, setting), "" if context.look.phone else taken_by(context, of, setting)]
        rows.append(Bar(" · ".join(filter(None, names)), value if isfinite(value) else 0.0,
                        f"{said} · {share}" if of == "rule" else said, hue(context, of, setting)))
    axis = context.t(("quant.sqnr_beyond" if of == "rule" else "quant.sqnr") if shown else "quant.elsewhere_share")
    return Plate(bars(context.look, rows, Scale(axis)))


def slide_plate(context: Context, of: Turn) -> Plate:
    """What becomes of values half-way between two points, or of values from the largest number on."""
    name = context.values[FORMAT.name]
    values = ties(name) if of == "ties" else beyond(name)
    lines = []
    for setting in settings_of(name, of):
        after = cast(name, ((of, setting),), np.append(values, np.float32(np.inf)))
        remarks = [taken_by(context, of, setting), f"∞ → {spoken(after[-1])}" if of == "overflow" else ""]
        lines.append(Line(word(context, of, setting), FORMATS[name].grid.levels, after[:-1],
                          " · ".join(filter(None, remarks)), hue=hue(context, of, setting)))
    ends = (2.5 * values[0] - 1.5 * values[-1], 1.4 * values[-1] - 0.4 * values[0]) if of == "overflow" else None
    axis = context.t("quant.value" if FORMATS[name].scale is None else "quant.scaled")
    return Plate(slides(context.look, values, lines, Scale(axis, range=ends)))


def spoken(value: np.float32) -> str:
    """A number of the grid, ∞ or NaN."""
    return "NaN" if np.isnan(value) else "∞" if isinf(value) else f"{value:g}"


def build(context: Context) -> View:
    """One format on the chosen weights."""
    name, size = context.values[FORMAT.name], seen(chosen(context)).values.size
    mine, other = own(FORMATS[name]), asked(context) or strongest(context)
    before, after = measured(context, ()), measured(context, other)
    moved = measured(context, other, rounded=True).elsewhere
    pair = " → ".join((units.decibels(before.sqnr).removesuffix(" dB"), units.decibels(after.sqnr)))
    turned_by = "sqnr" if asked(context) else "strongest"
    turns = context.listed(named(context, *one) for one in other) if len(other) == 1 else context.t("quant.these_turns")
    key = ("in_db" if quality(context) else "in_share") if after.elsewhere else "when_rounded" if moved else "in_none"
    return View(
        plates=tuple((bar_plate if of in ("rule", "seen") else slide_plate)(context, of) for of in mine),
        notice=notice(context, name=name, also=losses(context, {name: quantizing.row(chosen(context), name)})),
        numbers=(
            *([Number(f"quant_reference_{turned_by}", pair, {"name": name})] if quality(context) else []),
            Number("quant_elsewhere", f"{units.count(after.elsewhere)} / {units.count(size)}"),
            Number("quant_elsewhere_rounded", units.percent(moved / size, 2)),
        ),
        proofs=(as_references(name),),
        facts={"name": name, "said": context.t(f"scene.quantization.references.{key}", name=name, turns=turns,
                                               share=units.percent(after.elsewhere / size, 1), pair=pair,
                                               rounded=units.percent(moved / size, 1)),
               "own": context.listed(named(context, of, setting) for of, setting in mine.items())},
        table=_table(context, size),
        code=(turned, saturated),
    )


def _table(context: Context, size: int) -> dict[str, list[object]]:
    """Every setting of every switch by itself: who takes it, and what it changes."""
    name = context.values[FORMAT.name]
    rows: list[tuple[Turn, str]] = [(of, s) for of in own(FORMATS[name]) for s in settings_of(name, of)]
    found = [(measured(context, (row,), False), measured(context, (row,), True)) for row in rows]
    return {
        "switch": [context.t(f"control.turn_{of}") for of, _ in rows],
        "setting": [word(context, *row) for row in rows],
        "reference": [context.listed(who(name, *row)) or "–" for row in rows],
        **({"SQNR dB": [round(plain.sqnr, 2) if isfinite(plain.sqnr) else None for plain, _ in found]}
           if quality(context) else {}),
        "elsewhere %": [round(100 * plain.elsewhere / size, 3) for plain, _ in found],
        "elsewhere, BF16 %": [round(100 * rounded.elsewhere / size, 3) for _, rounded in found],
        "beyond %": [round(100 * plain.saturated / size, 3) for plain, _ in found],
    }


SCENE = Scene("quantization", "references", build, params=(*DATA, FORMAT, ROUNDED, *TURNS), bench=True)
