"""Block size: smaller blocks follow the weights more closely and cost more scales."""

from __future__ import annotations

from viz_core import units
from viz_core.figures.curves import Curve, curves
from viz_core.figures.scales import Scale
from viz_core.quantizers.compare import Row
from viz_core.ui import quantizing
from viz_core.ui.params import Choice
from viz_core.ui.quantizing import SIZES
from viz_core.ui.quantizing_data import DATA, SOURCE, Data, chosen, notice, ranked, stored_as
from viz_core.ui.quantizing_lost import cell, exact, losses
from viz_core.ui.scene import Context, Number, Plate, Scene, View

SIZE = Choice("group", tuple(str(size) for size in SIZES), "64", sliding=True)
NAMES = {"int4": "int4", "uint4": "uint4", "NF4": "NF4", "FP4": "FP4"}


def build(context: Context) -> View:
    """SQNR against true bits for four 4-bit kinds; the marked size is named."""
    size, data = int(context.values["group"]), chosen(context, few=True)
    instead = not ranked("Q4_0", stored_as(data))  # four-bit kinds are not measured against a four-bit grid
    if instead:
        data = Data(SOURCE.default)
    width = quantizing.tensor(data).shape[-1]
    torn = any(width % size for size in SIZES)
    found, at = quantizing.by_block(data), SIZES.index(int(context.values["group"]))
    lines = [Curve(NAMES[kind], [row.bits for row in rows[::-1]], [row.errors.sqnr for row in rows[::-1]], points=True,
                   end=units.decibels(rows[0].errors.sqnr)) for kind, rows in found.items()]
    figure = curves(context.look, lines, Scale(context.t("quant.bits")), Scale(context.t("quant.sqnr")),
                    cursor=found["uint4"][at].bits)
    ahead = [s for s, a, b in zip(SIZES, found["uint4"], found["NF4"], strict=True)
             if a.whole and b.whole and a.errors.sqnr >= b.errors.sqnr]
    by_size = {f"{kind} g{size}": row for kind, rows in found.items() for size, row in zip(SIZES, rows, strict=True)}
    highest = {kind: max(rows, key=lambda row: row.errors.sqnr) for kind, rows in found.items()}
    return View(
        plates=(Plate(figure),),
        notice=notice(context, instead, few=True, also=losses(context, by_size) + exact(context, highest)),
        numbers=tuple(Number("quant_at", units.decibels(row.errors.sqnr, 2), {"name": kind, "bits": f"{row.bits:.4g}"})
                      for kind, row in ((kind, rows[at]) for kind, rows in found.items())),
        facts={**_ends(found["uint4"]), "size": size, "ahead": context.listed(ahead) or "–",
               "scale": f"{found['int4'][at].bits - 4:.3g}", "peak": f"{found['NF4'][at].bits - 4:.3g}",
               "ends": context.t("scene.quantization.groups.ends", width=width) if torn else ""},
        table={"block": list(SIZES),
               **{f"{kind} bits": [round(row.bits, 3) for row in rows] for kind, rows in found.items()},
               **{f"{kind} decibels": [cell(row, row.errors.sqnr, 3) for row in rows] for kind, rows in found.items()}},
    )


def _ends(rows: list[Row]) -> dict[str, object]:
    """For the message: the largest and the smallest block, what each reaches and costs."""
    many, few = rows[0], rows[-1]
    return {"kind": "uint4", "smallest": SIZES[0], "largest": SIZES[-1], "best": units.decibels(many.errors.sqnr),
            "worst": units.decibels(few.errors.sqnr), "many": f"{many.bits:.3g}", "few": f"{few.bits:.3g}"}


SCENE = Scene("quantization", "groups", build, params=(*DATA, SIZE), bench=True)
