"""A walk as a Trace for the player: the grid of tiles, SRAM, HBM, the lines of code, and the numbers of one query.

A tensor has one hue everywhere (Q = 1, K = 2, V = 3, O = 4). The player's steps are `grouped` steps of the walk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.grouping import MOST, grouped
from viz_core.attention.record import OPS, TENSORS, Record
from viz_core.attention.stage import CODE_FA1, CODE_FA2, Stage
from viz_core.attention.tiled import Sram
from viz_core.attention.tiling import Tiling
from viz_core.attention.views import errors, visible
from viz_core.trace import Trace


@dataclass(frozen=True, slots=True)
class Scene:
    """What was walked: its tiling, SRAM and bias, the exact output of the probed query (dv,), standard's bytes.

    normalised: FA1's rule, whose output is o / l at every visit.
    """

    tiling: Tiling
    sram: Sram
    bias: Bias | None
    want: Floats
    standard: int
    normalised: bool = False


def film(walk: Record, scene: Scene, most: int = MOST) -> Trace:
    """The whole walk in at most `most` steps; captions are `attention.walk.*`, series `attention.series.*`."""
    t, tile = scene.tiling, walk.probe.query // scene.tiling.rows
    stage = Stage(t, scene.sram, visible(scene.bias, t), CODE_FA1 if scene.normalised else CODE_FA2)
    stage.build.value("attention.series.standard", scene.standard)
    left = unvisited(walk, scene)
    error, folds = errors(walk, scene.want), {int(s): n for n, s in enumerate(walk.probe.steps)}
    columns = [c.tolist() for c in (walk.op, walk.tensor, walk.row, walk.col, walk.bytes, walk.flops)]
    for steps in grouped(walk, tile, most):
        visits, before, last = stage.visits, stage.bytes, (0, 0)
        for step in steps:
            op, tensor, row, col, size, flops = (c[step] for c in columns)
            stage.act(OPS[op], TENSORS[tensor], row, col, size, flops)
            if OPS[op] in ("fold", "skip"):
                last = (row, col)
            if (n := folds.get(step)) is not None:
                _numbers(stage, walk, n, float(error[n]))
        moved = stage.bytes - before
        if stage.visits - visits > 1:
            stage.close("several", first=visits + 1, last=stage.visits, bytes=moved)
        elif stage.visits == visits and left:
            stage.close("stopped", left=left, tiles=t.row_tiles * t.col_tiles, bytes=moved)
        elif stage.visits == visits:
            stage.close("end", bytes=moved)
        elif stage.skipped:
            stage.close("skip", row=last[0], col=last[1])
        elif (n := folds.get(steps[-1])) is not None:
            stage.close("probe", **_told(walk, n, t), row=last[0], col=last[1], bytes=moved)
        else:
            stage.close("fold", row=last[0], col=last[1], bytes=moved)
    return stage.build.build()


def unvisited(walk: Record, scene: Scene) -> int:
    """How many tiles that are not wholly masked the walk never came to."""
    here = walk.is_op("fold") | walk.is_op("skip")
    seen = visible(scene.bias, scene.tiling) > 0
    seen[walk.row[here], walk.col[here]] = False
    return int(seen.sum())


def _numbers(stage: Stage, walk: Record, n: int, error: float) -> None:
    """The probed query's numbers after its fold n."""
    p, put = walk.probe, stage.build.value
    for name, x in (("m", p.m[n]), ("alpha", p.alpha[n]), ("l", p.l[n]), ("error", error)):
        put(f"attention.series.{name}", float(x))
    if n and 0 < p.alpha[n] < 1:
        stage.build.event("attention.event.rescale")


def _told(walk: Record, n: int, t: Tiling) -> dict[str, object]:
    """What the caption says of fold n: keys met, m and l before and after, α."""
    p, keys = walk.probe, range(t.m)[t.of_col(int(walk.probe.cols[n]))]
    before = (-np.inf, 0.0) if n == 0 else (float(p.m[n - 1]), float(p.l[n - 1]))
    return {
        "query": p.query, "first": keys[0], "last": keys[-1], "alpha": f"{p.alpha[n]:.3f}",
        "m_old": signed(before[0]), "m_new": signed(float(p.m[n])),
        "l_old": f"{before[1]:.2f}", "l_new": f"{float(p.l[n]):.2f}",
    }  # fmt: skip


def signed(x: float) -> str:
    """Two decimals with a real minus sign; −∞ as itself."""
    return ("−∞" if np.isneginf(x) else f"{x:.2f}").replace("-", "−")
