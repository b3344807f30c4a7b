"""Three curves kept apart: how much attention computes, keeps and moves as the input grows."""

from __future__ import annotations

from viz_core import units
from viz_core.attention.curves import standard_cost, tiled_cost
from viz_core.figures.curves import Curve, Panel, panels
from viz_core.figures.scales import Scale
from viz_core.figures.theme import Hue
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Plate, Scene, View

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
WIDTH, BLOCK = Choice("head_width", ("32", "64", "128"), "64"), Choice("tile_side", ("64", "128", "256"), "128")
SHARES = {"flops": (0.76, 1.0), "extra": (0.38, 0.62), "traffic": (0.0, 0.24)}


def build(context: Context) -> View:
    """Both algorithms in three panels over the number of tokens, all axes logarithmic."""
    d, block = int(context.values["head_width"]), int(context.values["tile_side"])
    costs = {"standard": [standard_cost(n, d) for n in LENGTHS], "tiled": [tiled_cost(n, d, block) for n in LENGTHS]}
    hues: tuple[Hue, ...] = ("B", "A")
    parts = [
        Panel(
            [
                Curve(
                    context.t(f"bill.{name}"),
                    LENGTHS,
                    [getattr(c, what) for c in of],
                    hue,
                    points=True,
                    end=units.scaled(getattr(of[-1], what)),
                )
                for (name, of), hue in zip(costs.items(), hues, strict=True)
            ],
            Scale(context.t(f"costs.{what}"), "log"),
            share,
        )
        for what, share in SHARES.items()
    ]
    last = {name: of[-1] for name, of in costs.items()}
    return View(
        plates=(
            Plate(
                panels(
                    context.look, parts, Scale(context.t("costs.x"), "log"), height=760 if context.look.phone else 600
                )
            ),
        ),
        numbers=(
            Number("fa_same_flops", f"{last['tiled'].flops / last['standard'].flops:.0f}×"),
            Number(
                "fa_extra",
                f"{units.size(last['standard'].extra)} → {units.size(last['tiled'].extra)}",
                {"n": LENGTHS[-1]},
            ),
            Number("fa_traffic", f"{last['standard'].traffic / last['tiled'].traffic:.1f}×"),
        ),
        facts={
            "d": d,
            "block": block,
            "n": LENGTHS[-1],
            "growth": f"{last['tiled'].traffic / costs['tiled'][-2].traffic:.2f}",
        },
        table={
            "n": list(LENGTHS),
            **{f"{name}, {what}": [getattr(c, what) for c in of] for name, of in costs.items() for what in SHARES},
        },
        code=(standard_cost, tiled_cost),
    )


SCENE = Scene("flash_attention", "costs", build, params=(WIDTH, BLOCK))
