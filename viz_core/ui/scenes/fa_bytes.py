"""Same answer, different bytes: what each visiting order moves, and where that stands under the roofline."""

from __future__ import annotations

from viz_core import units
from viz_core.attention.curves import standard_cost
from viz_core.attention.inputs import normal
from viz_core.attention.orders import fa1, fa2, shuffled, snake
from viz_core.attention.tiled import assemble, schedule, tiled
from viz_core.attention.tiling import Tiling
from viz_core.attention.views import compulsory
from viz_core.figures.bars import Bar, bars
from viz_core.figures.roofline import Kernel, Roof, roofline
from viz_core.figures.scales import Scale
from viz_core.figures.theme import Hue
from viz_core.proofs.flash_attention import exact, tiled_equals_dense
from viz_core.sizing.hardware import GPUS
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Number, Plate, Scene, View

N = Whole("fa_tokens", 16, 1024, 300)
WIDTH = Choice("head_width", ("32", "64", "128"), "32")
ROWS, COLS, SEED = Whole("tile_rows", 1, 256, 64), Whole("tile_cols", 1, 256, 48), Whole("visit_seed", 0, 99, 0)
HUE: dict[str, Hue] = {"standard": "B", "least": "C"}


def bills(t: Tiling, seed: int) -> dict[str, int]:
    """Bytes by algorithm: the standard one, each order of the walk, and what none can avoid."""
    orders = {"fa1": fa1, "random": shuffled(seed), "fa2": fa2, "snake": snake}
    walked = {
        name: sum(s.bytes for s in schedule(t, order(t.row_tiles, t.col_tiles))) for name, order in orders.items()
    }
    return {"standard": standard_cost(t.n, t.d, t.e).traffic, **walked, "least": compulsory(t)}


def build(context: Context) -> View:
    """Bars of bytes; below, the same as FLOPs a byte under six GPUs' roofs."""
    n, d, values = context.values["fa_tokens"], int(context.values["head_width"]), context.values
    t = Tiling(n, n, d, d, values["tile_rows"], values["tile_cols"])
    moved, flops = bills(t, values["visit_seed"]), standard_cost(n, d).flops
    q, k, v, _ = normal(n, d)
    order = shuffled(values["visit_seed"])
    proof = tiled_equals_dense(assemble(tiled(q, k, v, (t.rows, t.cols), order)), exact(q, k, v))
    rows = [
        Bar(context.t(f"bill.{name}"), x, units.size(x), HUE.get(name, "A"), f"{flops / x:.1f} FLOP/B")
        for name, x in moved.items()
    ]
    kernels = [
        Kernel(context.t(f"bill.{name}"), flops / moved[name], HUE.get(name, "A"))
        for name in ("standard", "fa2", "least")
    ]
    roofs = [Roof(g.name, g.flops, g.bandwidth) for g in GPUS]
    return View(
        plates=(
            Plate(bars(context.look, rows, Scale(context.t("bill.axis"), range=(0, 1.02 * max(moved.values()))))),
            Plate(roofline(context.look, roofs, kernels)),
        ),
        numbers=(
            Number("fa_less", f"{moved['standard'] / moved['fa2']:.1f}×"),
            Number("fa_intensity_standard", f"{flops / moved['standard']:.1f}", {"formula": f"d / e = {d / t.e:.0f}"}),
            Number(
                "fa_intensity_fa2", f"{flops / moved['fa2']:.1f}", {"formula": f"2 B_r / e = {2 * t.rows / t.e:.0f}"}
            ),
        ),
        proofs=(proof,),
        facts={
            "n": n,
            "d": d,
            "rows": t.rows,
            "cols": t.cols,
            **{k: units.size(x) for k, x in moved.items()},
            "naive": _naive(),
        },
        table={
            "": [context.t(f"bill.{name}") for name in moved],
            "bytes": list(moved.values()),
            "FLOP": [flops] * len(moved),
            "FLOP a byte": [round(flops / x, 2) for x in moved.values()],
        },
        code=(schedule,),
    )


def _naive(d: int = 128, rows: int = 64, e: int = 2) -> str:
    """Limits of both intensities for long inputs at this width and tile."""
    return f"d / e = {d / e:.0f}, 2 B_r / e = {2 * rows / e:.0f}"


SCENE = Scene("flash_attention", "bytes", build, params=(N, WIDTH, ROWS, COLS, SEED))
