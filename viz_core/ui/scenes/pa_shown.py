"""What every scene of one paged run shares: its film, its chart of owners over time, its numbers, its downloads."""

from __future__ import annotations

from viz_core import units
from viz_core.figures.occupancy import occupancy
from viz_core.paging.film import film, owners, requests_of
from viz_core.paging.log_file import dump_lines
from viz_core.paging.metrics import Metrics, measure
from viz_core.paging.run import Recording, run
from viz_core.paging.scenario import Scenario
from viz_core.paging.scenario_file import to_json
from viz_core.proofs.paging import no_block_is_lost
from viz_core.trace import Label
from viz_core.ui.scene import Context, Download, Number, Plate, View
from viz_core.ui.scenes.pa_counts import counted, sentence

MOST_NAMED = 250


def shown(context: Context, scenario: Scenario, title: Label, name: str) -> View:
    """One scenario, run and shown; `facts` hold its policy and its sums."""
    recording = run(scenario)
    metrics, log = measure(recording), recording.log
    names = requests_of(log)
    plates: tuple[Plate, ...] = ()
    if len(names) <= MOST_NAMED:
        plates = (Plate(occupancy(context.look, owners(recording), names)),)
    runs: list[tuple[Label, Recording]] = [(context.t(f"option.policy.{scenario.policy}"), recording)]
    return View(
        trace=counted(film(runs, title, scripted=bool(scenario.script)), runs),
        start=log.num_steps - 1 if scenario.script else int(metrics.blocks.argmax()),
        plates=plates,
        numbers=numbers(metrics),
        proofs=(no_block_is_lost(recording),),
        facts={
            "policy": context.t(f"option.policy.{scenario.policy}"),
            "blocks": scenario.blocks,
            "size": scenario.block_size,
            "steps": log.num_steps,
            "counts": sentence(context, recording),
        },
        table=table(metrics),
        downloads=(
            Download(f"{name}.scenario.json", "application/json", lambda: to_json(scenario).encode()),
            Download(f"{name}.log.jsonl", "application/jsonl", lambda: log_bytes(recording)),
        ),
    )


def log_bytes(recording: Recording) -> bytes:
    """The log as JSON lines."""
    return "\n".join(dump_lines(recording.config, recording.log)).encode()


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
    steps = {"step": list(range(len(metrics.blocks)))}
    return steps | {name: [int(value) for value in values] for name, values in columns.items()}
