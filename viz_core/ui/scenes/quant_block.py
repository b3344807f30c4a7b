"""One block of weights: the same values in several formats, each snapping to the points its block can store."""

from __future__ import annotations

import numpy as np

from viz_core import units
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale
from viz_core.figures.slides import Line, slides
from viz_core.figures.theme import HUES
from viz_core.i18n import Problem
from viz_core.proofs.proof import of_all
from viz_core.quantizers.registry import FAMILIES, FORMATS
from viz_core.quantizers.snap import snapped
from viz_core.ui import quantizing
from viz_core.ui.params import Choice, Switch
from viz_core.ui.quantizing import BLOCK, Pair
from viz_core.ui.quantizing_data import DATA, chosen, notice, ranked, stored_as
from viz_core.ui.quantizing_lost import losses, too_small
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

FIRST = ("int8 row", "Q4_0", "NF4")
TEXT = "scene.quantization.block"
SHOWN = 12  # values of the block
PER = 32  # values from one position of the picker to the next
SETS: dict[str, tuple[str, ...]] = {
    "first": FIRST,
    **{family: tuple(f.name for f in forms) for family, forms in FAMILIES.items() if family != "gguf_fp4"},
}
FAMILY, ALL = Choice("family", tuple(SETS), "first"), Switch("all_formats")


def short(value: float) -> str:
    """Three digits, a true minus sign, ∞ where it is infinite."""
    return f"{value:.3g}".replace("-", "−").replace("inf", "∞")


def line(context: Context, pair: Pair, sqnr: float | None, at: int, count: int, k: int) -> Line:
    """One format's number line with `count` values; no SQNR of a format that may not be ranked."""
    places = [pair.after.layout.place(at + i) for i in range(count)]
    blocks = {number: snapped(pair.before, pair.after, number) for number, _ in places}
    found = [(blocks[number], i) for number, i in places]
    bits = f"{pair.after.bits_per_weight:.3g}"
    remark = context.t("quant.only_bits", bits=bits) + ("" if sqnr is None else f" · {units.decibels(sqnr)}")
    hovers = tuple(context.t("scene.quantization.block.hover", code=block.codes[i], formula=block.formula(i),
                             error=short(block.error[i])) for block, i in found)
    after = [float(block.after[i]) for block, i in found]
    return Line(pair.name, found[0][0].points, after, remark, hovers, HUES[1 + k % 5])


def build(context: Context) -> View:
    """The chosen formats on the same values of the chosen tensor; formats whose blocks are larger are left out."""
    data = chosen(context, few=True)
    names = quantizing.COMPARED if context.values[ALL.name] else SETS[context.values["family"]]
    pairs = [quantizing.pair(data, name) for name in names if quantizing.fits(data, name)]
    if not pairs:
        least = min(FORMATS[name].multiple for name in names)
        raise Problem("quantizers_small", values=quantizing.tensor(data).size, least=least)
    at = context.values["block"] * PER % min(p.before.size for p in pairs)
    count = min(SHOWN, *(quantizing.rest(p, at) for p in pairs))
    values = pairs[0].before.reshape(-1)[at : at + count]
    rows, before = {p.name: quantizing.row(data, p.name) for p in pairs}, stored_as(data)
    sqnr = {name: row.errors.sqnr if ranked(name, before) else None for name, row in rows.items()}
    figure = slides(context.look, values, [line(context, p, sqnr[p.name], at, count, k) for k, p in enumerate(pairs)],
                    Scale(context.t("quant.value")))
    return View(
        plates=(Plate(figure),),
        notice=notice(context, few=True, name=tuple(rows),
                      also=(*too_small(context, data, names), *losses(context, rows))),
        numbers=tuple(Number("quant_bits", f"{p.after.bits_per_weight:.4g}", {"name": p.name}) for p in named(pairs)),
        proofs=(of_all([quantizing.points_proof(data, p.name) for p in pairs]), quantizing.ggml_proof()),
        question=Question(("4.0", "4.25", "4.5"), 2) if "Q4_0" in rows else None,
        facts={"drawn": count, "n": units.count(pairs[0].before.size),
               "shown": "\n- ".join(remarks(context, pairs, at))},
        table={"format": [p.name for p in pairs],
               "bits a weight": [round(p.after.bits_per_weight, 4) for p in pairs],
               "SQNR dB": [None if rows[p.name].lost else sqnr[p.name] for p in pairs]},
    )


def named(pairs: list[Pair]) -> list[Pair]:
    """The formats whose bits stand below the figure: the first three where all of them are shown, else the topmost."""
    three = [p for p in pairs if p.name in FIRST]
    return three if len(three) == len(FIRST) else pairs[: len(FIRST)]


def remarks(context: Context, pairs: list[Pair], at: int) -> list[str]:
    """What is to be said of formats that are shown: of one the block from which value number `at` is, then of two."""
    by_name = {p.name: p for p in pairs}
    out = [_points(context, by_name.get("Q4_0", pairs[0]), at)]
    if "int8 row" in by_name:
        out.append(context.t(f"{TEXT}.rows", bits=f"{by_name['int8 row'].after.bits_per_weight:.4g}"))
    if "NF4" in by_name:
        out.append(context.t(f"{TEXT}.normal", **_usage(by_name["NF4"])))
    return out


def _points(context: Context, pair: Pair, at: int) -> str:
    """Where the points of one format's block come from."""
    if pair.after.scale is None:
        return context.t(f"{TEXT}.fixed", name=pair.name)
    block = snapped(pair.before, pair.after, pair.after.layout.place(at % pair.before.size)[0])
    extreme = spoken(float(block.before[np.abs(block.before).argmax()]))
    if not np.isfinite(block.scale):
        return context.t(f"{TEXT}.beyond", name=pair.name, extreme=extreme)
    if block.scale == 0 and block.before.any():
        return context.t(f"{TEXT}.below", name=pair.name, extreme=extreme)
    more = context.t(f"{TEXT}.moves") if len(pair.after.codes) > 1 else ""
    if pair.name == "Q4_0":
        return context.t(f"{TEXT}.step", extreme=extreme, step=spoken(abs(block.scale))) + more
    low, high = (spoken(float(p)) for p in block.points[[0, -1]])
    return context.t(f"{TEXT}.scale", name=pair.name, extreme=extreme, low=low, high=high) + more


def _usage(pair: Pair) -> dict[str, str]:
    """The shares of the weights that the rarest and the commonest code of a format have."""
    codes = pair.after.layout.join(pair.after.codes)
    share = np.bincount(codes.reshape(-1), minlength=len(pair.after.format.grid.levels)) / codes.size
    return {"rarest": units.percent(share.min(), 1), "commonest": units.percent(share.max(), 1)}


SCENE = Scene("quantization", "block", build, params=(*DATA, FAMILY, BLOCK, ALL), bench=True)
