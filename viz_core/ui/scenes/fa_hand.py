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


def trace(scores: list[float], values: list[float], rows: list[Row]) -> Trace:
    """One step a tile, then the division. The weights of earlier tiles shrink when a new maximum comes."""
    builder, n = TraceBuilder(Text("scene.flash_attention.hand.title"), settle=State.HELD), len(scores)
    under = tuple(f"k{j}" for j in range(n))
    keys = range(1, n + 1)
    score = builder.lane(
        Text("hand.scores"), n, labels=[f"{s:g}".replace("-", "−") for s in scores], under=under, keys=keys
    )
    weight = builder.lane(Text("hand.weights"), n, keys=keys)
    value = builder.lane(Text("hand.values"), n, labels=[f"{v:g}" for v in values], keys=keys)
    for hue, letter in ((2, "K"), (3, "V"), (4, "O")):
        builder.hue(hue, letter, Text(f"attention.tensor.{letter}"))
    for name, places in SERIES:
        builder.series(f"hand.{name}", places=places)
    for lane, hue in ((score, 2), (weight, 4), (value, 3)):
        builder.set("hue", lane, hue)
    first, size = 0, len(rows[0].scores)
    for number, row in enumerate(rows):
        tile = range(first, first + len(row.scores))
        for lane in (score, weight, value):
            builder.set("state", [lane[j] for j in tile], State.COMPUTED)
        for j in range(tile.stop):
            builder.write(weight[j], f"{math.exp(scores[j] - row.m_new):.2g}")
        for (name, _), x in zip(SERIES, (row.m_new, row.alpha, row.l_new, row.o_new, row.out), strict=True):
            builder.value(f"hand.{name}", x)
        caption = "scene.flash_attention.hand.caption" if number else "scene.flash_attention.hand.first_caption"
        builder.step(
            caption,
            tile=number,
            m_old=signed(row.m_old),
            m_new=signed(row.m_new),
            alpha=f"{row.alpha:.3f}",
            l_old=f"{row.l_old:.3f}",
            l_new=f"{row.l_new:.3f}",
            o_old=signed(row.o_old),
            o_new=signed(row.o_new),
        )
        first += size
    last = rows[-1]
    builder.step(
        "scene.flash_attention.hand.end_caption",
        o=signed(last.o_new),
        l=f"{last.l_new:.3f}",
        out=f"{last.out:.4f}".replace("-", "−"),
    )
    return builder.build()


def question(rows: list[Row]) -> Question | None:
    """What the second tile does to the first one's sums."""
    if len(rows) < 2:
        return None
    row = rows[1]
    options = (
        f"1 / {len(rows)}",
        f"e^({signed(row.m_old)} − {signed(row.m_new)}) = {row.alpha:.3f}",
        f"{row.l_old:.3f}",
    )
    return Question(options, 1, {"old": signed(row.m_old), "new": signed(row.m_new)})


def build(context: Context) -> View:
    """The scores as typed, folded tile by tile."""
    scores, size = numbers(context.values["scores"]), context.values["tile_keys"]
    values = [VALUES[j % len(VALUES)] for j in range(len(scores))]
    rows, divided = (by_hand(scores, values, size, normalise=way) for way in (False, True))
    tapes = {name: Tape(scores) for name in ("three", "two", "one")}
    three_pass(tapes["three"])
    two_pass(tapes["two"])
    one_pass(tapes["one"], Tape(values))
    film = trace(scores, values, rows)
    return View(
        trace=film,
        start=min(1, film.steps - 1),
        numbers=tuple(
            Number(f"fa_passes_{name}", f"{tape.reads} / {tape.writes}", {"n": len(scores)})
            for name, tape in tapes.items()
        ),
        proofs=(by_hand_equals_softmax(scores, values, size),),
        question=question(rows),
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
