"""Online softmax by hand: four scores in two tiles, m, α, ℓ and o of one query."""

from __future__ import annotations

import math

from viz_core.attention.by_hand import Row, Tape, by_hand, one_pass, three_pass, two_pass
from viz_core.attention.film import signed
from viz_core.i18n import Problem
from viz_core.proofs.flash_attention import by_hand_equals_softmax
from viz_core.trace import State, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.ui.params import Line, Whole
from viz_core.ui.scene import Context, Number, Question, Scene, View

VALUES = (4.0, 0.0, 2.0, 1.0)  # of key 0, 1, 2, 3, and again from the start
MOST = 12
SERIES = (("m", 2), ("alpha", 3), ("l", 3), ("o", 3), ("out", 3))


def numbers(text: str) -> list[float]:
    """Scores as typed, separated by spaces or commas; a Problem for anything else."""
    words = text.replace("，", ",").replace(",", " ").replace("−", "-").split()
    try:
        scores = [float(word) for word in words]
    except ValueError:
        raise Problem("attention_scores", most=MOST) from None
    if not 1 <= len(scores) <= MOST or not all(math.isfinite(s) and abs(s) <= 1000 for s in scores):
        raise Problem("attention_scores", most=MOST)
    return scores


def stage(scores: list[float], values: list[float]) -> tuple[TraceBuilder, range, range, range]:
    """The cells: scores, weights and values of each key; the numbers as series."""
    builder, n = TraceBuilder(Text("scene.flash_attention.hand.title"), settle=State.HELD), len(scores)
    names, keys = [f"{s:g}".replace("-", "−") for s in scores], range(1, n + 1)
    score = builder.lane(Text("hand.scores"), n, labels=names, under=[f"k{j}" for j in range(n)], keys=keys)
    weight = builder.lane(Text("hand.weights"), n, keys=keys)
    value = builder.lane(Text("hand.values"), n, labels=[f"{v:g}" for v in values], keys=keys)
    for lane, hue, letter in ((score, 2, "K"), (value, 3, "V"), (weight, 4, "O")):
        builder.hue(hue, letter, Text(f"attention.tensor.{letter}"))
        builder.set("hue", lane, hue)
    for name, places in SERIES:
        builder.series(f"hand.{name}", places=places)
    return builder, score, weight, value


def trace(scores: list[float], values: list[float], rows: list[Row]) -> Trace:
    """One step a tile, then the division. The weights of earlier tiles shrink when a new maximum comes."""
    builder, score, weight, value = stage(scores, values)
    stop = 0
    for number, row in enumerate(rows):
        first, stop = stop, stop + len(row.scores)
        for lane in (score, weight, value):
            builder.set("state", lane[first:stop], State.COMPUTED)
        for j in range(stop):
            builder.write(weight[j], f"{math.exp(scores[j] - row.m_new):.2g}")
        for (name, _), x in zip(SERIES, (row.m_new, row.alpha, row.l_new, row.o_new, row.out), strict=True):
            builder.value(f"hand.{name}", x)
        kind = "first_caption" if not number else "caption" if row.m_new > row.m_old else "same_caption"
        builder.step(f"scene.flash_attention.hand.{kind}", tile=number, **told(row))
    out = f"{rows[-1].out:.4f}".replace("-", "−")
    builder.step("scene.flash_attention.hand.end_caption", o=signed(rows[-1].o_new), l=f"{rows[-1].l_new:.3f}", out=out)
    return builder.build()


def told(row: Row) -> dict[str, str]:
    """What the caption says of one tile."""
    told = {name: signed(getattr(row, name)) for name in ("m_old", "m_new", "o_old", "o_new")}
    return told | {name: f"{getattr(row, name):.3f}" for name in ("alpha", "l_old", "l_new")}


def question(context: Context, rows: list[Row]) -> Question | None:
    """What the second tile does to the first one's sums."""
    if len(rows) < 2:
        return None
    row, top = rows[1], max(rows[1].scores)
    options, right = powers(row.m_old, top)
    old, new = signed(row.m_old), signed(row.m_new)
    why = context.t("hand.grows" if row.m_new > row.m_old else "hand.stays", old=old, new=new)
    return Question(options, right, {"old": old, "top": signed(top), "alpha": f"{row.alpha:.3f}", "why": why})


def powers(old: float, top: float) -> tuple[tuple[str, ...], int]:
    """Three powers of e, smallest first, and which of them the sums so far are multiplied by."""
    right, named = min(0.0, old - top), dict[str, float]()
    for x in (right, 0.0, top - old, old - top, 1.0, -1.0):
        named.setdefault(f"e^({x + 0.0:.4g})".replace("-", "−"), x)
    options = sorted(list(named)[:3], key=named.__getitem__)
    return tuple(options), options.index(next(iter(named)))


def build(context: Context) -> View:
    """The scores as typed, folded tile by tile."""
    scores, size = numbers(context.values["scores"]), context.values["tile_keys"]
    values = [VALUES[j % len(VALUES)] for j in range(len(scores))]
    rows, divided = (by_hand(scores, values, size, normalise=way) for way in (False, True))
    tapes = {name: Tape(scores) for name in ("three", "two", "one")}
    three_pass(tapes["three"])
    two_pass(tapes["two"])
    one_pass(tapes["one"], Tape(values))
    return View(
        trace=trace(scores, values, rows),
        numbers=tuple(
            Number(f"fa_passes_{name}", f"{tape.reads} / {tape.writes}", {"n": len(scores)})
            for name, tape in tapes.items()
        ),
        proofs=(by_hand_equals_softmax(scores, values, size),),
        question=question(context, rows),
        table={
            "tile": list(range(len(rows))),
            "m": [r.m_new for r in rows],
            "α": [r.alpha for r in rows],
            "ℓ": [r.l_new for r in rows],
            "o, FA2": [r.o_new for r in rows],
            "o, FA1": [r.o_new for r in divided],
            "o / ℓ": [r.out for r in rows],
        },
        facts={"n": len(scores), "three": tapes["three"].reads, "two": tapes["two"].reads, "one": tapes["one"].reads},
        code=(by_hand, three_pass, two_pass, one_pass),
    )


SCENE = Scene("flash_attention", "hand", build, params=(Line("scores", "1 3 2 5", 200), Whole("tile_keys", 1, MOST, 2)))
