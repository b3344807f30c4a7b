"""Paper and us: figure 2 of FlashAttention, counted again item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from viz_core.attention import paper
from viz_core.figures.bars import Bar, bars
from viz_core.figures.scales import Scale
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Plate, Scene, View

if TYPE_CHECKING:
    import plotly.graph_objects as go

BLOCKS = Choice("paper_tile", ("64", "128", "256", "512"), "256")


def build(context: Context) -> View:
    """Printed and counted bytes; the table holds both ledgers."""
    block = int(context.values["paper_tile"])
    ledgers = {"standard": paper.STANDARD, "flash": paper.flash(block)}
    gb = {name: sum(i.bytes for i in items) / 1e9 for name, items in ledgers.items()}
    stats, printed = paper.statistics(block) / 1e9, paper.PRINTED
    return View(
        plates=(Plate(_bars(context, gb, stats)),),
        numbers=(
            Number("fa_gflop_standard", f"{paper.gflop(6):.0f}", {"printed": printed.standard_gflop}),
            Number("fa_gflop_flash", f"{paper.gflop(7):.0f}", {"printed": printed.flash_gflop}),
            Number("fa_forward", f"{paper.forward_bytes(block) / 1e9:.2f} GB", {"block": block}),
        ),
        facts={"standard": f"{gb['standard']:.3f}", "flash": f"{gb['flash']:.2f}", "stats": f"{stats:.2f}"}
        | {"n2": f"{sum(i.n2 for i in paper.STANDARD):g}", "nd": f"{sum(i.nd for i in paper.STANDARD):g}"}
        | {"flash_nd": f"{sum(i.nd for i in ledgers['flash']):g}", "block": block, "own": paper.BLOCK}
        | {"own_gb": f"{sum(i.bytes for i in paper.flash()) / 1e9:.2f}"}
        | {"six": f"{paper.gflop(6):.0f}", "seven": f"{paper.gflop(7):.0f}", "older": printed.older_gb}
        | {"printed_six": printed.standard_gflop, "printed_seven": printed.flash_gflop}
        | {"more": f"{100 * (paper.gflop(7) / paper.gflop(6) - 1):.0f}"},
        table=_table(context, [(name, item) for name, of in ledgers.items() for item in of]),
        code=(paper.flash, paper.statistics),
    )


def _table(context: Context, items: list[tuple[str, paper.Item]]) -> dict[str, list[Any]]:
    """Both ledgers, item by item."""
    return {
        "": [context.t("paper.standard" if name == "standard" else "paper.flash") for name, _ in items],
        "item": [context.t(f"ledger.{i.name}") for _, i in items],
        "N²": [i.n2 for _, i in items],
        "N·d": [i.nd for _, i in items],
        "GB": [round(i.bytes / 1e9, 3) for _, i in items],
    }


def _bars(context: Context, gb: dict[str, float], stats: float) -> go.Figure:
    """What is printed in pale, what is counted in full colour."""
    p = paper.PRINTED
    rows = [
        Bar(context.t("paper.printed_standard"), p.standard_gb, f"{p.standard_gb} GB", "B", pale=True),
        Bar(context.t("paper.standard"), gb["standard"], f"{gb['standard']:.2f} GB", "B"),
        Bar(context.t("paper.printed_flash"), p.flash_gb, f"{p.flash_gb} GB", "A", pale=True),
        Bar(context.t("paper.flash"), gb["flash"], f"{gb['flash']:.2f} GB", "A"),
        Bar(context.t("paper.with_statistics"), gb["flash"] + stats, f"{gb['flash'] + stats:.2f} GB", "A"),
    ]
    return bars(context.look, rows, Scale(context.t("paper.axis"), range=(0, 42)))


SCENE = Scene("flash_attention", "paper", build, params=(BLOCKS,))
