"""One head on two texts of as many tokens: their difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viz_core.figures.cells import end_of
from viz_core.figures.compare import minus
from viz_core.figures.heatmap import heatmap
from viz_core.i18n import Problem
from viz_core.proofs.attention import past_is_equal
from viz_core.ui import cached, cached_heads
from viz_core.ui.heads import controls, matrix, title
from viz_core.ui.params import Line
from viz_core.ui.scene import Context, Number, Plate, Scene, View
from viz_core.units import percent

LAYER, HEAD = controls("layer", "head", lambda bench: cached_heads.moved_place(bench.model, bench.prompt))
OTHER = Line("other_text", "", longest=10_000)
LEAST = 0.1  # the colours reach at least this far: smaller differences stay pale
JOINED = {"join": False}  # two texts need not split their characters alike: a cell is a token


def texts(context: Context) -> tuple[str, str]:
    """The prompt and the text beside it: the reader's, else the prompt with one token replaced."""
    bench, typed = context.bench, context.values["other_text"]
    other = typed if typed.strip() else cached_heads.changed(bench.model, bench.prompt)
    one, two = (len(cached.tokens(bench.model, text)) for text in (bench.prompt, other))
    if one != two and typed.strip():
        raise Problem("attention_lengths", one=one, two=two)
    return bench.prompt, other


def build(context: Context) -> View:
    """The chosen head's weights on the prompt minus those on the other text."""
    bench, place = context.bench, (context.values["layer"], context.values["head"])
    prompt, other = texts(context)
    both = [replace(context, bench=replace(bench, prompt=text), values=JOINED) for text in (prompt, other)]
    maps = [cached.capture(bench.model, text).head(*place).weights for text in (prompt, other)]
    one, two = (matrix(at, weights) for at, weights in zip(both, maps, strict=True))
    ids = np.array([cached.shown(bench.model, text) for text in (prompt, other)])
    changed = np.flatnonzero(ids[0] != ids[1])
    first = int(changed[0]) if changed.size else len(ids[0])
    shown = minus(one, two, context.t("attention.difference"))
    figure = heatmap(context.look, shown, top=max(end_of(shown.values), LEAST), signed=True, title=title(place),
                     row=first if changed.size else None)
    moved = np.abs(np.nan_to_num(shown.values)).sum(-1) / 2
    most = int(moved.argmax())
    return View(
        quote=other,
        plates=(Plate(figure),),
        numbers=(
            Number("changed", str(len(changed)), {"n": len(ids[0])}),
            Number("moved", percent(moved[most]), {"token": shown.queries.texts[most]}),
        ),
        proofs=(past_is_equal(maps[0], maps[1], first),),
        facts={"first": first, "n": len(ids[0]), "count": len(changed), "moved": percent(moved[most])},
    )


SCENE = Scene("attention", "texts", build, params=(LAYER, HEAD, OTHER), bench=True)
