"""Three curves kept apart: how much attention computes, keeps and moves as the input grows."""

from __future__ import annotations

from viz_core import units
from viz_core.attention.curves import Cost, standard_cost, tiled_cost
from viz_core.figures.curves import Curve, Panel, panels
from viz_core.figures.scales import Scale
from viz_core.figures.theme import Hue
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Plate, Scene, View

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
WIDTH, BLOCK = Choice("head_width", ("32", "64", "128"), "64"), Choice("tile_side", ("64", "128", "256"), "128")
SHARES = {"flops": (0.76, 1.0), "extra": (0.38, 0.62), "traffic": (0.0, 0.24)}


def panel(context: Context, what: str, costs: dict[str, list[Cost]]) -> Panel:
    """One of the three, both algorithms in it, on a logarithmic axis."""
    hues: tuple[Hue, ...] = ("B", "A")
    lines = []
    for (name, of), hue in zip(costs.items(), hues, strict=True):
        y = [getattr(cost, what) for cost in of]
        end = units.scaled(y[-1], "FLOP" if what == "flops" else "B")
        lines.append(Curve(context.t(f"bill.{name}"), LENGTHS, y, hue, points=True, end=end))
    return Panel(lines, Scale(context.t(f"costs.{what}"), "log"), SHARES[what])


def build(context: Context) -> View:
    """Both algorithms in three panels over the number of tokens."""
    d, block, n = int(context.values["head_width"]), int(context.values["tile_side"]), LENGTHS[-1]
    costs = {"standard": [standard_cost(n, d) for n in LENGTHS], "tiled": [tiled_cost(n, d, block) for n in LENGTHS]}
    parts, x = [panel(context, what, costs) for what in SHARES], Scale(context.t("costs.x"), "log")
    old, new = costs["standard"][-1], costs["tiled"][-1]
    return View(
        plates=(Plate(panels(context.look, parts, x, height=760 if context.look.phone else 600)),),
        numbers=(
            Number("fa_same_flops", f"{new.flops / old.flops:.0f}×"),
            Number("fa_extra", f"{units.scaled(old.extra, 'B')} → {units.scaled(new.extra, 'B')}", {"n": n}),
            Number("fa_traffic", f"{old.traffic / new.traffic:.1f}×"),
        ),
        facts={"d": d, "block": block, "n": n, "growth": f"{new.traffic / costs['tiled'][-2].traffic:.2f}"},
        table={"n": list(LENGTHS)}
        | {f"{name}, {what}": [getattr(c, what) for c in of] for name, of in costs.items() for what in SHARES},
        code=(standard_cost, tiled_cost),
    )


SCENE = Scene("flash_attention", "costs", build, params=(WIDTH, BLOCK))
