"""A paged run beside the same requests in one unbroken run of memory each: bars, and external waste as a number."""

from __future__ import annotations

from collections.abc import Mapping

from viz_core import units
from viz_core.figures.bars import Stack, stacks
from viz_core.figures.scales import Scale
from viz_core.paging.metrics import USES
from viz_core.paging.workloads import Shares
from viz_core.ui.scene import Context, Number, Plate

EXACT = "oracle"  # the rule that wastes nothing else


def row(context: Context, rule: str, source: str, shares: Shares) -> Stack:
    """One bar of shares in per cent."""
    parts = [round(100 * shares.get(part, 0.0), 1) for part in USES]
    return Stack(f"{context.t(f'paging.rule.{rule}')} · {context.t(f'paging.{source}')}", tuple(parts))


def plate(context: Context, rows: list[Stack]) -> Plate:
    """Bars of memory by use."""
    names = [context.t(f"paging.part.{part}") for part in USES]
    return Plate(stacks(context.look, rows, names, Scale(context.t("paging.share_axis"), range=(0, 101)), rest=True))


def external(shares: Mapping[str, Shares]) -> Number:
    """Memory that is free and of no use to who waits: with exact runs, and with paging."""
    exact, paged = (units.percent(shares[rule]["external"], 1) for rule in (EXACT, "paged"))
    return Number("external_waste", f"{exact} → {paged}")
