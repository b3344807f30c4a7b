"""What every scene of one paged run shares: its film, its charts over time, its numbers, its downloads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from viz_core import units
from viz_core.figures.areas import Band, areas
from viz_core.figures.layout import Look
from viz_core.figures.occupancy import occupancy
from viz_core.figures.scales import Scale
from viz_core.figures.theme import HUES
from viz_core.i18n import t
from viz_core.paging.film import requests_of
from viz_core.paging.log_file import dump_lines
from viz_core.paging.metrics import USES, Metrics, Waste
from viz_core.paging.run import Recording
from viz_core.paging.scenario import Scenario
from viz_core.paging.scenario_file import to_json
from viz_core.trace import Label
from viz_core.ui.cached_paged import Played, not_too_long, played
from viz_core.ui.scene import Context, Download, Number, Plate, View
from viz_core.ui.scenes.pa_contiguous import external, plate, row
from viz_core.ui.scenes.pa_counts import counted, sentence

MOST_NAMED = 250
MOST_POINTS = 1000
HEIGHT = 280  # px, that of the areas beside it


def shown(context: Context, scenario: Scenario, title: Label, name: str) -> View:
    """One scenario, run and shown; it can be taken away."""
    view = recorded(context, played(to_json(scenario)), title, name)
    own = Download(f"{name}.scenario.json", "application/json", lambda: to_json(scenario).encode())
    return replace(view, downloads=(own, *view.downloads))


def recorded(context: Context, run: Played, title: Label, name: str) -> View:
    """A finished run; `facts` hold its policy and its sums."""
    recording, metrics, shares = run.recording, run.metrics, run.shares
    config, log = recording.config, recording.log
    not_too_long(log.num_steps)
    policy = context.t(f"option.policy.{config.policy}")
    beside = () if shares is None else (plate(context, [row(context, r, "simulated", s) for r, s in shares.items()]),)
    return View(
        trace=counted(replace(run.film, title=title), [(policy, metrics)], maps=not context.look.phone),
        start=log.num_steps - 1 if recording.scripted else int(metrics.blocks.argmax()),
        plates=(*plates(context, run), *beside),
        beside=True,
        numbers=(*numbers(metrics), *(() if shares is None else (external(shares),))),
        proofs=(run.proof,),
        facts={
            "policy": policy,
            "blocks": config.usable,
            "size": config.block_size,
            "steps": log.num_steps,
            "counts": sentence(context, recording, metrics)
            + ("" if shares is not None else context.t("paging.no_bars")),
        },
        table=table(metrics),
        downloads=(Download(f"{name}.log.jsonl", "application/jsonl", lambda: log_bytes(recording)),),
    )


def plates(context: Context, run: Played) -> tuple[Plate, ...]:
    """Over the steps: what the pool's slots hold, and who holds each block where there are names enough."""
    look = context.look if context.look.phone else replace(context.look, width=context.look.width // 2)
    names = requests_of(run.recording.log)
    use = Plate(use_of_slots(look, run.metrics.waste))
    if len(names) > MOST_NAMED:
        return (use,)
    return use, Plate(occupancy(look, run.owners, names, height=HEIGHT, shared=context.t("paging.shared")))


def use_of_slots(look: Look, waste: Waste) -> go.Figure:
    """The pool's slots at each step by what they hold, up to all of them: what stays empty above the bands is free.

    Of a long run every k-th step is shown, which the axis says.
    """
    steps = len(waste.tokens)
    pool = int(sum(getattr(waste, part)[0] for part in USES))
    every = -(-steps // MOST_POINTS)
    sizes = {part: getattr(waste, part)[::every] for part in USES}
    bands = [
        Band(t(f"paging.part.{part}", look.lang), sizes[part], hue)
        for part, hue in zip(USES, HUES, strict=False)
        if part != "idle" and sizes[part].any()
    ]
    title = t("figure.step_axis", look.lang) if every == 1 else t("figure.step_axis_thinned", look.lang, every=every)
    slots = Scale(t("paging.slots_axis", look.lang), range=(0, pool))
    return areas(look, np.arange(1, steps + 1, every), bands, Scale(title, range=(1, steps + every), whole=True), slots)


def log_bytes(recording: Recording) -> bytes:
    """The log as JSON lines."""
    return "\n".join(dump_lines(recording)).encode()


def numbers(metrics: Metrics) -> tuple[Number, ...]:
    """Fullest moment, slots held without a token on average, hit rate, preemptions and their cost."""
    waste = metrics.waste
    held = (waste.tokens + waste.reserved + waste.internal).sum()
    empty = float((waste.reserved + waste.internal).sum() / held) if held else 0.0
    out = [Number("most_blocks", str(int(metrics.blocks.max()))), Number("held_empty", units.percent(empty))]
    if metrics.hit[-1]:
        out.append(
            Number(
                "hit_rate",
                units.percent(float(metrics.hit_rate[-1])),
                {"hit": int(metrics.hit[-1]), "all": int(metrics.queried[-1])},
            )
        )
    if metrics.preemptions[-1]:
        out.append(Number("preemptions", str(int(metrics.preemptions[-1])), {"lost": int(metrics.lost[-1])}))
    return tuple(out)


def table(metrics: Metrics) -> dict[str, list[int]]:
    """One row a step."""
    waste = metrics.waste
    columns = {
        "blocks held": metrics.blocks,
        "slots with K/V": waste.tokens,
        "reserved": waste.reserved,
        "internal": waste.internal,
        "idle": waste.idle,
        "prompt tokens hit": metrics.hit,
        "preemptions": metrics.preemptions,
        "tokens lost": metrics.lost,
    }
    steps = {"step": list(range(1, len(metrics.blocks) + 1))}
    return steps | {name: [int(value) for value in values] for name, values in columns.items()}
