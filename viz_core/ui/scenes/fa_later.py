"""FlashAttention-3 and -4: a maximum that may be stale, and an exponential by a cubic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viz_core.attention.bias import Floats
from viz_core.attention.rules import exp2_cubic
from viz_core.figures.bars import Bar, bars
from viz_core.figures.curves import Curve, curves
from viz_core.figures.scales import Scale
from viz_core.proofs.flash_attention import cubic_is_close
from viz_core.ui import cached
from viz_core.ui.params import Whole
from viz_core.ui.scene import Context, Number, Plate, Scene, View

if TYPE_CHECKING:
    import plotly.graph_objects as go

HALF = 2.0**-11  # half a unit in float16's last place, relatively
SPREADS = (1, 3, 10)  # standard deviations of q; k is standard normal
TAU = Whole("tau", 0, 16, 8)


def build(context: Context) -> View:
    """How often sums are rescaled, always and from 2^τ on; below, the relative error of the cubic."""
    tau = context.values["tau"]
    counts = {(spread, t): cached.rescale_count(spread, t) for spread in SPREADS for t in (0, tau)}
    x = np.linspace(-2, 0, 401)
    error = np.abs(exp2_cubic(x) / np.exp2(x) - 1)
    return View(
        plates=(Plate(_counts(context, counts)), Plate(_error(context, x, error))),
        numbers=tuple(Number("fa_rescales", f"{counts[s, 0]} → {counts[s, tau]}", {"spread": s}) for s in SPREADS),
        proofs=(cached.stale_proof(tau), cubic_is_close()),
        facts={"tau": tau, "worst": f"{error.max():.1e}", "half": f"{HALF:.1e}"},
        table={"standard deviation of q": list(SPREADS), "always": [counts[s, 0] for s in SPREADS]}
        | {f"from 2^{tau}": [counts[s, tau] for s in SPREADS]},
        code=(exp2_cubic,),
    )


def _counts(context: Context, counts: dict[tuple[int, int], int]) -> go.Figure:
    rows = []
    for (spread, tau), count in counts.items():
        name = context.t("later.stale" if tau else "later.always", spread=spread, tau=tau)
        rows.append(Bar(name, count, str(count), "A" if tau else "B"))
    return bars(context.look, rows, Scale(context.t("later.rescales"), range=(0, 1.05 * max(counts.values()) or 1)))


def _error(context: Context, x: Floats, error: Floats) -> go.Figure:
    line, y = Curve(context.t("later.error"), x, error), Scale(context.t("later.relative"), digits=".1e")
    return curves(context.look, [line], Scale("x"), y, ridges=[(HALF, context.t("later.half"))], height=280)


SCENE = Scene("flash_attention", "later", build, params=(TAU,))
