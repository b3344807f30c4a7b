"""Every format on one tensor: true bits against error."""

from __future__ import annotations

from viz_core import units
from viz_core.figures.points import Point, points
from viz_core.figures.scales import Scale
from viz_core.figures.theme import HUES
from viz_core.quantizers.compare import Row
from viz_core.quantizers.registry import FAMILIES, FORMATS
from viz_core.ui import quantizing
from viz_core.ui.quantizing_data import DATA, chosen, notice, ranked, stored_as
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

PAIR = ("Q6_K", "E4M3 tensor")


def family_of(name: str) -> str:
    """The family of a format by its name in `FORMATS`."""
    return next(family for family, forms in FAMILIES.items() if FORMATS[name] in forms)


def dots(names: tuple[str, ...], rows: list[Row]) -> list[Point]:
    """One point a format, hue by family."""
    hues = {family: HUES[min(i, 5)] for i, family in enumerate(f for f in FAMILIES if f != "gguf_fp4")}
    hues["gguf_fp4"] = hues["gguf"]
    return [Point(name, row.bits, row.errors.sqnr, hues[family_of(name)], f"RMSE {row.errors.rmse:.3g}")
            for name, row in zip(names, rows, strict=True)]


def build(context: Context) -> View:
    """All formats on the chosen tensor; those near one that it was stored in before are not ranked."""
    data = chosen(context, few=True)
    stored = stored_as(data)
    names = tuple(name for name in quantizing.COMPARED if ranked(name, stored) and quantizing.fits(data, name))
    rows = [quantizing.row(data, name) for name in names]
    by_name = dict(zip(names, rows, strict=True))
    figure = points(context.look, dots(names, rows), Scale(context.t("quant.bits")),
                    Scale(context.t("quant.sqnr")), height=440)
    two = {name: by_name[name] for name in PAIR if name in by_name}
    said = {name: units.decibels(row.errors.sqnr) for name, row in two.items()}
    sqnr = [row.errors.sqnr for row in two.values()]
    regrouped = sum(row.regrouped for row in rows)
    return View(
        plates=(Plate(figure),),
        notice=notice(context, few=True),
        numbers=tuple(Number("quant_pair", said[name], {"name": name.split()[0], "bits": f"{row.bits:.3g}"})
                      for name, row in two.items()),
        question=Question(("Q6_K", "E4M3"), int(sqnr[0] < sqnr[1])) if len(two) == 2 and sqnr[0] != sqnr[1] else None,
        proofs=(quantizing.ggml_proof(),),
        facts={"six": said.get(PAIR[0], "–"), "eight": said.get(PAIR[1], "–"), "count": len(rows),
               "regrouped": regrouped},
        table={"format": list(names), "bits": [round(r.bits, 4) for r in rows],
               "SQNR dB": [round(r.errors.sqnr, 2) for r in rows], "RMSE": [r.errors.rmse for r in rows],
               "cosine": [r.errors.cosine for r in rows], "max error": [r.errors.maximum for r in rows],
               "clipped": [r.clipped for r in rows], "zeroed": [r.zeroed for r in rows],
               "rows strung together": [context.t("shell.yes" if r.regrouped else "shell.no") for r in rows]},
    )


SCENE = Scene("quantization", "table", build, params=DATA, bench=True)
