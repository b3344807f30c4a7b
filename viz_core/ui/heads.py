"""What the scenes of the attention page share: controls that name a head, and the matrix of a head to draw."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from viz_core.figures.cells import MOST, Matrix, causal
from viz_core.figures.labels import Labels, joined, labels, merge
from viz_core.i18n import Lang
from viz_core.model.probes import SINK_FROM, best_place, previous_token
from viz_core.ui import cached, cached_heads
from viz_core.ui.params import Live, Switch, Whole
from viz_core.ui.scene import Bench, Context

Place = tuple[int, int]  # (layer, head)
JOIN = Switch("join", True)


def controls(layer: str, head: str, default: Callable[[Bench], Place]) -> tuple[Live, Live]:
    """A control for the layer and one for the head, with the default that `default` finds in the workbench's model."""

    def layers(bench: Bench) -> Whole:
        return Whole(layer, 0, len(cached.model(bench.model).llama.config.layers) - 1, default(bench)[0])

    def heads(bench: Bench) -> Whole:
        return Whole(head, 0, cached.model(bench.model).llama.config.heads - 1, default(bench)[1])

    return Live(layer, layers), Live(head, heads)


def readable(bench: Bench) -> Place:
    """The head that looks most at the token before: the easiest to read."""
    capture = cached.capture(bench.model, bench.prompt)
    if capture.shape(0)[0] > SINK_FROM + 1:
        return best_place(cached_heads.probes(bench.model, bench.prompt).previous)
    if capture.shape(0)[0] < 2:
        return 0, 0
    return best_place(np.stack([previous_token(capture.weights(layer)) for layer in capture.layers]))


def sink(bench: Bench) -> Place:
    """The head that puts most weight on the first token; the readable one where the text is too short to say."""
    if len(cached.shown(bench.model, bench.prompt)) <= SINK_FROM + 1:
        return readable(bench)
    return best_place(cached_heads.probes(bench.model, bench.prompt).sink)


LAYER, HEAD = controls("layer", "head", readable)


def token_labels(bench: Bench, lang: Lang, merged: bool) -> Labels:
    """The labels of the workbench's tokens, one a token or one a character."""
    ids, tokenizer = cached.shown(bench.model, bench.prompt), cached.model(bench.model).tokenizer
    return labels(tokenizer.pieces(ids), tokenizer.scheme, lang, ids, merged=merged)


def split(bench: Bench) -> bool:
    """Whether some character of the prompt lies in more than one token."""
    tokenizer = cached.model(bench.model).tokenizer
    pieces = tokenizer.pieces(cached.shown(bench.model, bench.prompt))
    return any(len(group) > 1 for group in joined(pieces, tokenizer.scheme))


def matrix(context: Context, values: np.ndarray, *, name: str = "", scores: np.ndarray | None = None) -> Matrix:
    """Values (n, n) of a head over the prompt's tokens, or over its characters where tokens share one."""
    bench = context.bench
    merged = bool(context.values.get("join", True)) and split(bench)
    names, seen = token_labels(bench, context.lang, merged), causal(values)
    if not merged:
        shown = None if scores is None else np.where(np.isnan(seen), np.nan, scores)
        return Matrix(seen, names, names, scores=shown, name=name)
    tokenizer = cached.model(bench.model).tokenizer
    groups = joined(tokenizer.pieces(cached.shown(bench.model, bench.prompt)), tokenizer.scheme)
    return Matrix(merge(seen, groups, groups), names, names, name=name)


def cropped(context: Context) -> str | None:
    """What to say where only the beginning of a long prompt is drawn."""
    n = len(cached.tokens(context.bench.model, context.bench.prompt))
    return context.t("attention.cropped", most=MOST, n=n) if n > MOST else None


def title(place: Place) -> str:
    """L3 H2: layers and heads count from 0."""
    return f"L{place[0]} H{place[1]}"
