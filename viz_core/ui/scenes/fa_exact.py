"""Exact, only reordered: what 32 and 16 bits cost, standard and tiled, against float64."""

from __future__ import annotations

from viz_core.attention.precision import errors, standard_fp16
from viz_core.figures.bars import Bar, bars
from viz_core.figures.scales import Scale
from viz_core.ui import cached
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Plate, Scene, View

DATA = Choice("fa_data", ("normal", "outliers"), "outliers")


def build(context: Context) -> View:
    """Four bars: two precisions, two algorithms."""
    got = cached.rounding(context.values["fa_data"])
    low, high = min(e.rms for e in got.values()), max(e.rms for e in got.values())
    rows = [
        Bar(
            context.t(f"exact.{name}"),
            e.rms,
            f"{e.rms:.1e}",
            "B" if name.startswith("standard") else "A",
            f"max {e.worst:.1e}",
        )
        for name, e in got.items()
    ]
    return View(
        plates=(Plate(bars(context.look, rows, Scale(context.t("exact.axis"), "log", (low / 10, high * 3), ".1e"))),),
        numbers=(
            Number("fa_ratio32", f"{got['standard_fp32'].rms / got['tiled_fp32'].rms:.1f}×"),
            Number("fa_ratio16", f"{got['standard_fp16'].rms / got['tiled_fp16'].rms:.1f}×"),
        ),
        proofs=(cached.reorder_proof(context.values["fa_data"]),),
        facts={
            "worst32": f"{got['tiled_fp32'].worst:.1e}",
            "worst16": f"{got['tiled_fp16'].worst:.1e}",
            "standard16": f"{got['standard_fp16'].worst:.1e}",
        },
        table={
            "": [context.t(f"exact.{name}") for name in got],
            "rms": [e.rms for e in got.values()],
            "max": [e.worst for e in got.values()],
        },
        code=(errors, standard_fp16),
    )


SCENE = Scene("flash_attention", "exact", build, params=(DATA,))
