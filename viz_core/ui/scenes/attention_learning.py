"""How the bundled model learned to copy: its training log, drawn."""

from __future__ import annotations

import numpy as np

from viz_core.figures.scales import Scale
from viz_core.figures.training import Column, Log, read_log, training
from viz_core.model.library import BUNDLED
from viz_core.ui.scene import Context, Number, Plate, Scene, View

LOG = BUNDLED / "training_log.csv"
EN, ZH = "val_en_bits_per_byte", "val_zh_bits_per_byte"
COPIED, INDUCTION, ROW, RATE = "copied_percent", "induction", "row_length", "learning_rate"
HEADERS = ("step", "tokens", EN, ZH, COPIED, INDUCTION, ROW, RATE)
AGAIN = 3  # a rate that grows by so much from one row of the log to the next begins a run of its own
LOW, HIGH = 10.0, 90.0  # percent between which copying is said to jump


def last(log: Log, name: str) -> float:
    """The last finite value of a column; 0 where it has none."""
    seen = log[name][np.isfinite(log[name])]
    return float(seen[-1]) if seen.size else 0.0


def first(log: Log, name: str) -> float:
    """The first finite value of a column; 0 where it has none."""
    seen = log[name][np.isfinite(log[name])]
    return float(seen[0]) if seen.size else 0.0


def jump(log: Log) -> tuple[int, int] | None:
    """(last step below LOW percent copied, first step above HIGH that follows); None where the log has no such jump."""
    copied, step = np.nan_to_num(log[COPIED]), log["step"]
    above = np.flatnonzero(copied > HIGH)
    if not above.size:
        return None
    below = np.flatnonzero(copied[: above[0]] < LOW)
    return int(step[below[-1]] if below.size else step[0]), int(step[above[0]])


def long_rows(log: Log) -> list[tuple[int, int]]:
    """First and last step of every stretch of the log that has the longest rows; none where all are equally long."""
    step, longest = log["step"].astype(int), log[ROW] == np.nanmax(log[ROW])
    if longest.all():
        return []
    edges = np.flatnonzero(np.diff(np.concatenate([[False], longest, [False]])))
    return [(int(step[a]), int(step[b - 1])) for a, b in edges.reshape(-1, 2)]


def restarts(log: Log) -> list[int]:
    """The steps after which the learning rate is high again."""
    rate = log[RATE]
    return [int(s) for s in log["step"][:-1][rate[1:] > AGAIN * rate[:-1]]]


def build(context: Context) -> View:
    """Loss above, what is copied below."""
    log = read_log(LOG, HEADERS)
    figure = training(
        context.look, log, Scale(context.t("learning.step"), digits=",d"),
        Scale(context.t("learning.bits")),
        (Column(EN, context.t("learning.english"), "A"), Column(ZH, context.t("learning.chinese"), "B")),
        Scale(context.t("learning.copied"), range=(0, 100)),
        (Column(COPIED, context.t("learning.share"), "C", " %"),),
    )
    found = jump(log)
    copied, steps = f"{last(log, COPIED):.1f} %", f"{int(last(log, 'step')):,}"
    story = (context.t("learning.jumped", below=f"{found[0]:,}", above=f"{found[1]:,}") if found
             else context.t("learning.waiting", copied=copied, step=steps))
    return View(
        plates=(Plate(figure),),
        numbers=(
            Number("bits", f"{last(log, EN):.2f} · {last(log, ZH):.2f}", {"step": steps}),
            Number("copied_log", copied),
            Number("induction_log", f"{last(log, INDUCTION):.2f}"),
        ),
        facts={"story": story, "from": f"{first(log, EN):.2f}", "to": f"{last(log, EN):.2f}",
               "short": int(np.nanmin(log[ROW])), "long": int(np.nanmax(log[ROW])),
               "grown": ", ".join(f"{a:,}–{b:,}" for a, b in long_rows(log)),
               "again": ", ".join(f"{s:,}" for s in restarts(log)) or "–",
               "step": steps, "tokens": f"{last(log, 'tokens') / 1e6:.1f}", "rows": len(log["step"])},
        table={name: [None if np.isnan(v) else float(v) for v in log[name]] for name in HEADERS},
    )


SCENE = Scene("attention", "learning", build)
