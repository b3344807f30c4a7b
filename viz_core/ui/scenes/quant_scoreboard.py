"""A large model, quoted: llama.cpp's own scoreboard of LLaMA 3 8B."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.figures.points import Point, points
from viz_core.figures.scales import Scale
from viz_core.quantizers.scoreboard import Quoted, scoreboard
from viz_core.ui.params import Switch
from viz_core.ui.scene import Context, Number, Plate, Scene, View

IMATRIX = Switch("imatrix", True)


def named(rows: Sequence[Quoted]) -> list[Quoted]:
    """The file of each type at which its name stands: the one without an importance matrix, else the best."""
    best = {row.name: row for row in sorted(rows, key=lambda row: (row.imatrix is not None, row.kl), reverse=True)}
    return list(best.values())


def build(context: Context) -> View:
    """Size against KL divergence; types with an importance matrix are marked apart."""
    rows = [row for row in scoreboard() if row.imatrix is None or context.values["imatrix"]]
    at = named(rows)
    dots = [Point(row.name, row.gib, row.kl, "B" if row.imatrix is not None else "A",
                  f"PPL {row.perplexity:.4f}" + (f", imatrix {row.imatrix}" if row.imatrix else ""), row in at)
            for row in rows]
    figure = points(context.look, dots, Scale("GiB"), Scale(context.t("quant.damage_kl"), "log"), height=460,
                    families={"A": context.t("quant.plain_file"), "B": context.t("quant.imatrix_file")})
    best = {row.name: row for row in scoreboard() if row.imatrix is None}
    return View(
        plates=(Plate(figure),),
        notice=context.t("quant.quoted"),
        numbers=tuple(Number("quant_quoted", f"{best[name].kl:.4f}", {"name": name})
                      for name in ("q8_0", "q4_K_M", "q4_0", "q2_K") if name in best),
        facts={"count": len(rows)},
        table={"type": [r.name for r in rows], "imatrix": [r.imatrix or "–" for r in rows],
               "GiB": [r.gib for r in rows], "perplexity": [r.perplexity for r in rows], "KL": [r.kl for r in rows],
               "rms Δp %": [r.rms_dp for r in rows]},
    )


SCENE = Scene("quantization", "scoreboard", build, params=(IMATRIX,))
