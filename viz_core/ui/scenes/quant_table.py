"""Every format on one tensor: true bits against error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from viz_core import units
from viz_core.figures.points import Point, points
from viz_core.figures.scales import Scale
from viz_core.figures.theme import HUES, Hue
from viz_core.quantizers.compare import Row
from viz_core.quantizers.registry import FAMILIES, FORMATS
from viz_core.ui import quantizing
from viz_core.ui.quantizing_data import DATA, chosen, notice, ranked, stored_as
from viz_core.ui.quantizing_lost import cell, exact, losses, too_small
from viz_core.ui.quantizing_whole import MEASURED, measures_all, rows_of
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

PAIR = ("Q6_K", "E4M3 tensor")
FIRST = ("Q4_0", "NF4", "Q4_K", "Q8_0", "Q6_K", "int8 row", "MXFP4", "NVFP4", "E4M3 tensor", "Q5_K", "Q3_K", "Q2_K")
"""The formats met most often: their names are placed before those of others."""
HUE_OF: dict[Hue, str] = dict(zip(HUES, (family for family in FAMILIES if family != "gguf_fp4"), strict=True))


def family_of(name: str) -> str:
    """The family of a format by its name in `FORMATS`."""
    return next(family for family, forms in FAMILIES.items() if FORMATS[name] in forms)


def dots(names: tuple[str, ...], rows: list[Row]) -> list[Point]:
    """One point a format, hue by family."""
    hues = {family: hue for hue, family in HUE_OF.items()}
    hues["gguf_fp4"] = hues["gguf"]
    return [Point(name, row.bits, row.errors.sqnr, hues[family_of(name)], f"RMSE {row.errors.rmse:.3g}")
            for name, row in zip(names, rows, strict=True)]


def build(context: Context) -> View:
    """All formats on the chosen tensor; those near one that it was stored in before are not ranked."""
    data = chosen(context, few=True)
    stored = stored_as(data)
    candidates = tuple(name for name in quantizing.COMPARED if ranked(name, stored))
    names = tuple(name for name in candidates if quantizing.fits(data, name))
    all_values = measures_all(context)
    by_name = rows_of(data, names, context.lang) if all_values else {name: quantizing.row(data, name) for name in names}
    names = tuple(sorted(names, key=lambda name: by_name[name].lost is not None))  # those that lost values come last
    rows = [by_name[name] for name in names]
    order = sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    figure = points(context.look, dots(tuple(order), [by_name[name] for name in order]), Scale(context.t("quant.bits")),
                    Scale(context.t("quant.sqnr")), height=500 if context.look.phone else 440, led=True,
                    families={hue: context.t(f"option.family.{family}") for hue, family in HUE_OF.items()})
    two = {name: by_name[name] for name in PAIR if name in by_name}
    said = {name: units.decibels(row.errors.sqnr) for name, row in two.items()}
    regrouped = sum(row.regrouped for row in rows)
    return View(
        plates=(Plate(figure),),
        opened=True,
        notice=notice(context, few=True, whole=all_values,
                      also=(*too_small(context, data, candidates), *losses(context, by_name),
                            *exact(context, by_name))),
        numbers=tuple(Number("quant_pair", said[name], {"name": name, "bits": f"{row.bits:.3g}"})
                      for name, row in two.items()),
        question=_question(context, *two.values()) if len(two) == 2 else None,
        proofs=(quantizing.ggml_proof(),),
        facts={"reached": _reached(context, said), "count": len(rows),
               "strung": context.t("scene.quantization.table.strung", regrouped=regrouped) if regrouped else "",
               "casts": context.listed(quantizing.CASTS),
               "halves": context.listed(quantizing.HALVES),
               "verdict": _verdict(context, names, rows)},
        table={"format": list(names), "bits": [round(r.bits, 4) for r in rows],
               "SQNR dB": [cell(r, r.errors.sqnr, 2) for r in rows],
               "RMSE": [cell(r, r.errors.rmse) for r in rows],
               "cosine": [cell(r, r.errors.cosine) for r in rows],
               "max error": [cell(r, r.errors.maximum) for r in rows],
               "clipped": [r.clipped for r in rows], "zeroed": [r.zeroed for r in rows],
               "rows strung together": [context.t("shell.yes" if r.regrouped else "shell.no") for r in rows]},
    )


def _reached(context: Context, said: Mapping[str, str]) -> str:
    """What the formats of `PAIR` reach on this tensor; nothing where it shows neither."""
    each = [context.t("scene.quantization.table.reaches", name=name, sqnr=sqnr) for name, sqnr in said.items()]
    return "".join(each)


def _question(context: Context, six: Row, eight: Row) -> Question | None:
    """Which of the two comes closer, and why by their numbers; None where they are equal or lost values."""
    if six.errors.sqnr == eight.errors.sqnr or not (six.whole and eight.whole):
        return None
    ahead = six.errors.sqnr > eight.errors.sqnr
    why = context.t(f"scene.quantization.table.why_{'six' if ahead else 'eight'}", more=f"{eight.bits - six.bits:.2f}")
    return Question(PAIR, int(not ahead), {
        "one": PAIR[0], "other": PAIR[1],
        "six_bits": f"{six.bits:.3g}", "eight_bits": f"{eight.bits:.3g}", "why": why,
        "six": units.decibels(six.errors.sqnr), "eight": units.decibels(eight.errors.sqnr),
    })  # fmt: skip


def beaten(names: Sequence[str], rows: Sequence[Row]) -> tuple[str, str] | None:
    """The format that beats another with more bits by the widest gap of bits, and that other; None where none does.

    Formats that lost values, to an overflow or to a scale of 0, are left out.
    """
    kept = [(name, row) for name, row in zip(names, rows, strict=True) if row.whole]
    pairs = [(b.bits - a.bits, a.errors.sqnr - b.errors.sqnr, one, other)
             for one, a in kept for other, b in kept if a.bits < b.bits and a.errors.sqnr > b.errors.sqnr]
    return max(pairs)[2:] if pairs else None


def _verdict(context: Context, names: Sequence[str], rows: Sequence[Row]) -> str:
    found = beaten(names, rows)
    if found is None:
        return context.t(f"scene.quantization.table.in_order{'' if all(row.whole for row in rows) else '_whole'}")
    bits = {name: f"{row.bits:.3g}" for name, row in zip(names, rows, strict=True)}
    one, other = found
    return context.t("scene.quantization.table.beaten", one=one, one_bits=bits[one],
                     other=other, other_bits=bits[other])


SCENE = Scene("quantization", "table", build, params=(*DATA, MEASURED), bench=True)
