"""Same answer, different bytes: what each visiting order moves, and where that stands under the roofline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from viz_core.attention.curves import standard_cost
from viz_core.attention.inputs import normal
from viz_core.attention.orders import fa1, fa2, shuffled, snake
from viz_core.attention.standard import standard
from viz_core.attention.tiled import Sram, Step, assemble, schedule, tiled
from viz_core.attention.tiling import Tiling
from viz_core.figures.bars import Bar, Stack, bars, stacks
from viz_core.figures.roofline import Kernel, Roof, roofline
from viz_core.figures.scales import Scale
from viz_core.figures.theme import Hue
from viz_core.proofs.flash_attention import tiled_equals_dense
from viz_core.sizing.hardware import GPUS
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Number, Plate, Scene, View

if TYPE_CHECKING:
    import plotly.graph_objects as go

N = Whole("fa_tokens", 16, 1024, 300)
WIDTH = Choice("head_width", ("32", "64", "128"), "32")
ROWS, COLS, SEED = Whole("tile_rows", 16, 256, 64), Whole("tile_cols", 16, 256, 48), Whole("visit_seed", 0, 99, 0)
TENSORS = ("Q", "K", "V", "O", "S", "P")
HUES: tuple[Hue, ...] = ("A", "B", "C", "D", "E", "F")


def bills(t: Tiling, seed: int) -> dict[str, dict[str, int]]:
    """Bytes by algorithm and tensor: the standard one, each order of the walk, and what none can avoid."""
    zero = np.zeros((t.n, t.d), np.float32)
    orders = {"fa1": fa1, "random": shuffled(seed), "fa2": fa2, "snake": snake}
    walks = {name: schedule(t, order(t.row_tiles, t.col_tiles)) for name, order in orders.items()}
    roomy = Sram(t.row_tiles, t.col_tiles, t.col_tiles, t.row_tiles)
    least = schedule(t, fa2(t.row_tiles, t.col_tiles), roomy)
    return {
        name: _by_tensor(s) for name, s in {"standard": standard(zero, zero, zero), **walks, "least": least}.items()
    }


def _by_tensor(steps: Iterable[Step]) -> dict[str, int]:
    sums = dict.fromkeys(TENSORS, 0)
    for step in steps:
        sums[step.tensor] += step.bytes
    return sums


def build(context: Context) -> View:
    """Bars of bytes by tensor; below, the same as FLOPs a byte under six GPUs' roofs."""
    values = context.values
    n, d = values["fa_tokens"], int(values["head_width"])
    rows, cols = values["tile_rows"], values["tile_cols"]
    t = Tiling(n, n, d, d, min(rows, n), min(cols, n))
    clipped = None if (t.rows, t.cols) == (rows, cols) else context.t("bill.clipped", n=n, rows=t.rows, cols=t.cols)
    parts, flops = bills(t, values["visit_seed"]), standard_cost(n, d).flops
    moved = {name: sum(of.values()) for name, of in parts.items()}
    q, k, v, _ = normal(n, d)
    walk = tiled(q, k, v, (t.rows, t.cols), shuffled(values["visit_seed"]))
    names = {name: context.t(f"bill.{name}") for name in moved}
    stand: dict[str, Hue] = {"standard": "B", "fa2": "A", "least": "C"}
    kernels = [Kernel(names[name], flops / moved[name], hue) for name, hue in stand.items()]
    roofs = [Roof(g.name, g.flops, g.bandwidth) for g in GPUS]
    return View(
        plates=(
            Plate(_bars(context, names, parts)),
            Plate(roofline(context.look, roofs, kernels)),
        ),
        numbers=(
            Number("fa_less", f"{moved['standard'] / moved['fa2']:.1f}×"),
            Number("fa_intensity_standard", f"{flops / moved['standard']:.1f}", {"formula": f"d / e = {d / t.e:.0f}"}),
            Number(
                "fa_intensity_fa2", f"{flops / moved['fa2']:.1f}", {"formula": f"2 B_r / e = {2 * t.rows / t.e:.0f}"}
            ),
        ),
        notice=clipped,
        proofs=(tiled_equals_dense(assemble(walk), q, k, v),),
        facts={"n": n, "d": d, "rows": t.rows, "cols": t.cols, "naive": _naive()}
        | {"sources": "; ".join(f"{g.name}: {g.source}" for g in GPUS)}
        | {name: kilobytes(x) for name, x in moved.items()},
        table={
            "": list(names.values()),
            **{x: [of[x] for of in parts.values()] for x in TENSORS},
            "bytes": list(moved.values()),
            "FLOP": [flops] * len(moved),
            "FLOP a byte": [round(flops / x, 2) for x in moved.values()],
        },
        code=(schedule,),
    )


def _bars(context: Context, names: dict[str, str], parts: dict[str, dict[str, int]]) -> go.Figure:
    """Bytes by tensor; on a phone, where parts and their legend have no room, the sums alone."""
    moved = {name: sum(of.values()) for name, of in parts.items()}
    axis = Scale(context.t("bill.kb"), range=(0, 1.02 * max(moved.values()) / 1000))
    if context.look.phone:
        return bars(context.look, [Bar(names[x], n / 1000, kilobytes(n)) for x, n in moved.items()], axis)
    rows = [
        Stack(f"{names[x]}  {kilobytes(moved[x])}", tuple(round(n / 1000, 1) for n in of.values()))
        for x, of in parts.items()
    ]
    return stacks(context.look, rows, [context.t(f"bill.{x}") for x in TENSORS], axis, HUES)


def kilobytes(n: int) -> str:
    """Bytes in decimal kB to 0.1, as papers count; at these sizes the last digit is nearly exact."""
    return f"{n / 1000:,.1f} kB".replace(",", "\u202f")


def _naive(d: int = 128, rows: int = 64, e: int = 2) -> str:
    """Limits of both intensities for long inputs at this width and tile."""
    return f"d / e = {d / e:.0f}, 2 B_r / e = {2 * rows / e:.0f}"


SCENE = Scene("flash_attention", "bytes", build, params=(N, WIDTH, ROWS, COLS, SEED))
