"""Paper and us: figure 2 of FlashAttention, counted again item by item."""

from __future__ import annotations

from viz_core.attention import paper
from viz_core.figures.bars import Bar, bars
from viz_core.figures.scales import Scale
from viz_core.figures.theme import Hue
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Plate, Scene, View

BLOCKS = Choice("paper_tile", ("64", "128", "256", "512"), "256")


def build(context: Context) -> View:
    """Printed and counted bytes; the table holds both ledgers."""
    block = int(context.values["paper_tile"])
    ledgers = {"standard": paper.STANDARD, "flash": paper.flash(block)}
    gb = {name: sum(i.bytes for i in items) / 1e9 for name, items in ledgers.items()}
    stats, forward = paper.statistics(block) / 1e9, paper.forward_bytes(block) / 1e9
    shown: tuple[tuple[str, float, Hue, bool], ...] = (
        ("printed_standard", paper.PRINTED.standard_gb, "B", True),
        ("standard", gb["standard"], "B", False),
        ("printed_flash", paper.PRINTED.flash_gb, "A", True),
        ("flash", gb["flash"], "A", False),
        ("with_statistics", gb["flash"] + stats, "A", False),
    )
    rows = [
        Bar(context.t(f"paper.{name}", block=block), x, f"{x:.2f} GB" if not pale else f"{x} GB", hue, pale=pale)
        for name, x, hue, pale in shown
    ]
    items = [(name, item) for name, of in ledgers.items() for item in of]
    return View(
        plates=(Plate(bars(context.look, rows, Scale(context.t("paper.axis"), range=(0, 42)))),),
        numbers=(
            Number("fa_gflop_standard", f"{paper.gflop(6):.0f}", {"printed": paper.PRINTED.standard_gflop}),
            Number("fa_gflop_flash", f"{paper.gflop(7):.0f}", {"printed": paper.PRINTED.flash_gflop}),
            Number("fa_forward", f"{forward:.2f} GB", {"block": block}),
        ),
        facts={
            "standard": f"{gb['standard']:.3f}",
            "flash": f"{gb['flash']:.2f}",
            "stats": f"{stats:.2f}",
            "block": block,
            "n2": f"{sum(i.n2 for i in paper.STANDARD):g}",
            "nd": f"{sum(i.nd for i in paper.STANDARD):g}",
            "flash_nd": f"{sum(i.nd for i in ledgers['flash']):g}",
            "six": f"{paper.gflop(6):.0f}",
            "seven": f"{paper.gflop(7):.0f}",
            "printed_six": paper.PRINTED.standard_gflop,
            "printed_seven": paper.PRINTED.flash_gflop,
            "older": paper.PRINTED.older_gb,
            "more": f"{100 * (paper.gflop(7) / paper.gflop(6) - 1):.0f}",
        },
        table={
            "": [context.t(f"paper.{name}", block=block) for name, _ in items],
            "item": [context.t(f"ledger.{i.name}") for _, i in items],
            "N²": [i.n2 for _, i in items],
            "N·d": [i.nd for _, i in items],
            "GB": [round(i.bytes / 1e9, 3) for _, i in items],
        },
        code=(paper.flash, paper.statistics),
    )


SCENE = Scene("flash_attention", "paper", build, params=(BLOCKS,))
