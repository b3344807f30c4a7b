"""A sliding window alone, and one that keeps the first tokens: what each does to the model's perplexity."""

from __future__ import annotations

import math

from viz_core.figures.bars import Bar, bars
from viz_core.figures.scales import Scale
from viz_core.model.library import held_out
from viz_core.ui import cached, cached_heads
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Number, Plate, Scene, View
from viz_core.units import percent

TEXT = Choice("text", ("held_out", "prompt"), "held_out")
WINDOW = Choice("window", ("4", "8", "16", "32", "64"), "32")
KEPT = Whole("kept", 1, 8, 1)
FIRST = 100  # perplexity is measured after this position, where every window has left tokens behind


def recovered(full: float, alone: float, both: float) -> str:
    """The share of what the window cost, in nats a token, that kept tokens win back; a dash where it cost little."""
    cost = math.log(alone / full)
    return percent(math.log(alone / both) / cost) if cost > 0.02 else "–"


def story(context: Context, won: str) -> str:
    """What the kept tokens did."""
    return context.t("window.nothing") if won == "–" else context.t("window.won", won=won)


def build(context: Context) -> View:
    """Three runs of the workbench's model over one text."""
    bench, window, kept = context.bench, int(context.values["window"]), context.values["kept"]
    text = held_out(context.lang) if context.values["text"] == "held_out" else bench.prompt
    n = len(cached_heads.read(bench.model, text))
    full = cached_heads.perplexity(bench.model, text, None, 0, FIRST)
    alone, both = (cached_heads.perplexity(bench.model, text, window, k, FIRST) for k in (0, kept))
    won = recovered(full, alone, both)
    facts = {"story": story(context, won), "window": window, "kept": kept, "n": n,
             "full": f"{full:.1f}", "alone": f"{alone:.1f}", "both": f"{both:.1f}",
             "first": FIRST, "measured": n - FIRST - 1, "won": won}
    rows = [Bar(context.t("window.full"), full, f"{full:.1f}", "A"),
            Bar(context.t("window.alone", window=window), alone, f"{alone:.1f}", "B"),
            Bar(context.t("window.both", window=window, kept=kept), both, f"{both:.1f}", "C")]
    return View(
        plates=(Plate(bars(context.look, rows, Scale(context.t("window.perplexity")))),),
        numbers=(
            Number("held", f"{window} → {window + kept}", {"n": n}),
            Number("won", won, {"kept": kept}),
            Number("measured", str(n - FIRST - 1), {"first": FIRST}),
        ),
        proofs=(cached_heads.window_proof(bench.model),),
        facts=facts,
        quote=cached.model(bench.model).tokenizer.decode(cached_heads.read(bench.model, text)),
        table={"run": [row.name for row in rows], "perplexity": [full, alone, both]},
    )


SCENE = Scene("attention", "window", build, params=(WINDOW, KEPT, TEXT), bench=True)
