"""Contiguous memory against paged memory on the same requests: what holds a token, what is wasted, and how."""

from __future__ import annotations

from viz_core import units
from viz_core.figures.bars import Stack, stacks
from viz_core.figures.scales import Scale
from viz_core.paging.workloads import MEANS, PARTS, QUOTED, SLOTS, Shares
from viz_core.ui import cached
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Number, Plate, Scene, View

WORK = Choice("work", tuple(MEANS), "sharegpt")
COUNT = Whole("requests", 40, 160, 100, 20)
SIZE = Whole("block_size", 1, 128, 16)


def row(context: Context, rule: str, source: str, shares: Shares) -> Stack:
    """One bar of shares in per cent."""
    parts = [round(100 * shares.get(part, 0.0), 1) for part in PARTS]
    return Stack(f"{context.t(f'paging.rule.{rule}')} · {context.t(f'paging.{source}')}", tuple(parts))


def build(context: Context) -> View:
    """Our simulation beside the paper's figure, which is quoted."""
    values = context.values
    ours = cached.memory_shares(values["work"], values["requests"], values["block_size"])
    rows = []
    for rule, shares in ours.items():
        rows.append(row(context, rule, "simulated", shares))
        if values["work"] == "sharegpt":
            rows.append(row(context, rule, "quoted", {part: share / 100 for part, share in QUOTED[rule].items()}))
    names = [context.t(f"paging.part.{part}") for part in PARTS]
    figure = stacks(context.look, rows, names, Scale(context.t("paging.share_axis"), range=(0, 101)))
    return View(
        plates=(Plate(figure),),
        numbers=tuple(
            Number("holds_tokens", units.percent(shares["tokens"], 1), {"rule": context.t(f"paging.rule.{rule}")})
            for rule, shares in ours.items()
            if rule in ("max", "paged")
        ),
        facts={
            "slots": units.count(SLOTS),
            "requests": values["requests"],
            "size": values["block_size"],
            "paged": units.percent(ours["paged"]["tokens"], 1),
            "max": units.percent(ours["max"]["tokens"], 1),
        },
        table={
            "memory": [r.name for r in rows],
            **{part: [round(r.parts[i], 2) for r in rows] for i, part in enumerate(PARTS)},
        },
    )


SCENE = Scene("paged_attention", "waste", build, params=(WORK, COUNT, SIZE))
