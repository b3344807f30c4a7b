"""Contiguous memory against paged memory on the same requests: what holds a token, what is wasted, and how."""

from __future__ import annotations

from viz_core import units
from viz_core.paging.metrics import USES
from viz_core.paging.workloads import MEANS, QUOTED, SLOTS
from viz_core.ui import cached
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Number, Scene, View
from viz_core.ui.scenes.pa_contiguous import external, plate, row

WORK = Choice("work", tuple(MEANS), "sharegpt")
COUNT = Whole("requests", 40, 160, 100, 20)
SIZE = Whole("block_size", 1, 128, 16)


def build(context: Context) -> View:
    """Our simulation beside the paper's figure, which is quoted."""
    values = context.values
    measured = cached.memory_shares(values["work"], values["requests"], values["block_size"])
    ours = measured.shares
    rows = []
    for rule, shares in ours.items():
        rows.append(row(context, rule, "simulated", shares))
        if values["work"] == "sharegpt":
            rows.append(row(context, rule, "quoted", {part: share / 100 for part, share in QUOTED[rule].items()}))
    return View(
        plates=(plate(context, rows),),
        numbers=(
            *(
                Number("holds_tokens", units.percent(shares["tokens"], 1), {"rule": context.t(f"paging.rule.{rule}")})
                for rule, shares in ours.items()
                if rule in ("max", "paged")
            ),
            external(ours),
        ),
        facts={
            "slots": units.count(SLOTS),
            "requests": values["requests"],
            "size": values["block_size"],
            "paged": units.percent(ours["paged"]["tokens"], 1),
            "max": units.percent(ours["max"]["tokens"], 1),
            "over": context.t(f"paging.over.{'scarce' if measured.scarce else 'busy'}", steps=measured.steps),
        },
        table={
            "memory": [r.name for r in rows],
            **{part: [round(r.parts[i], 2) for r in rows] for i, part in enumerate(USES)},
        },
    )


SCENE = Scene("paged_attention", "waste", build, params=(WORK, COUNT, SIZE))
