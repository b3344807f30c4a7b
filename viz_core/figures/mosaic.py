"""All heads of a model at once: ONE heatmap of tiles with gutters, never a grid of subplots.

Tiles are pooled by maximum, because a mean erases diagonals. Cells are bytes: 0 is empty (gutter or masked), 1 and
up run from 0 to `top`. A transparent point on each tile takes the click and tells which head it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.colour_bar import ROOM, bar_name, colour_bar
from viz_core.figures.heatmap import empty
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, frame
from viz_core.figures.matrix_marks import undimmed
from viz_core.figures.mosaic_plan import CELLS, Head, Plan, Tiles, cells_a_side, plan, pool
from viz_core.figures.theme import scale
from viz_core.i18n import Problem, t

BRIGHT: Final = 250  # the byte of the last tone; Plotly writes each / of base64, as in a run of 255, as six bytes
Places = list[tuple[int, int]]
__all__ = ["Head", "cells_a_side", "mosaic", "pool"]


def mosaic(
    look: Look,
    tiles: Tiles,
    heads: Sequence[Head],
    tokens: int,
    *,
    top: float | None = None,
    chosen: tuple[int, int] | None = None,
    height: float = 460,
) -> go.Figure:
    """Tiles (heads, k, k), already pooled from `tokens` tokens, in the order of `heads`.

    The customdata of a click is [layer, head]. `top` ends the colours (the 99th percentile by default). `chosen` frames
    one head. Raises Problem for another number of tiles than heads, or tiles too large for the budget.
    """
    if len(tiles) != len(heads):
        raise Problem("figure_heads", tiles=len(tiles), heads=len(heads))
    if not tiles.size:
        return empty(look, t("figure.no_tokens", look.lang))
    shape = plan(look, heads, height)
    rows = math.ceil(len(heads) / shape.columns)
    end = top or float(np.nanpercentile(tiles, 99)) or 1.0
    places = _places(look, heads, shape)
    pixels = rows * shape.tile
    return frame(
        look,
        [_picture(look, tiles, places, shape, rows, end), *_clicks(look, heads, places, shape)],
        t("figure.alt_mosaic", look.lang, heads=len(heads), n=tokens),
        pixels + ROOM + look.px(40),
        margin={"l": round(look.px(44)), "r": 12, "t": round(look.px(28)), "b": round(look.px(ROOM))},
        annotations=[bar_name(look, _reading(look, tiles, tokens))],
        shapes=_frames(look, heads, places, chosen, _half_gutter(shape)),
        **_axes(look, shape, rows),
    )


def _places(look: Look, heads: Sequence[Head], shape: Plan) -> Places:
    """(row, column) of each tile."""
    if shape.natural and not look.phone:
        return [(head.head, head.layer) for head in heads]
    return [divmod(i, shape.columns) for i in range(len(heads))]


def _picture(look: Look, tiles: Tiles, places: Places, shape: Plan, rows: int, end: float) -> Parts:
    """One byte image of all tiles; a tile and its gutter are one unit long on both axes."""
    side = max(tiles.shape[1:])
    gap = max(1, round(side * shape.gutter))
    pitch = side + gap
    if (cells := rows * shape.columns * pitch**2) > CELLS:
        raise Problem("figure_mosaic", cells=cells, most=CELLS)
    image = np.zeros((rows * pitch, shape.columns * pitch), np.uint8)
    tones = 1 + np.round((BRIGHT - 1) * np.clip(np.nan_to_num(tiles) / end, 0, 1))
    for (row, column), tile in zip(places, np.where(np.isnan(tiles), 0, tones).astype(np.uint8), strict=True):
        image[row * pitch + gap :, column * pitch :][: tile.shape[0], : tile.shape[1]] = tile
    clear: list[list[float | str]] = [[0, "rgba(0,0,0,0)"], [0.5 / BRIGHT, "rgba(0,0,0,0)"]]
    ramp = [[0.5 / BRIGHT + (1 - 0.5 / BRIGHT) * float(at), colour] for at, colour in scale(look.theme.sequential)]
    return {
        "type": "heatmap",
        "z": image,
        "x0": 0.5 / pitch,
        "dx": 1 / pitch,
        "y0": 0.5 / pitch,
        "dy": 1 / pitch,
        "zmin": 0,
        "zmax": BRIGHT,
        "colorscale": clear + ramp,
        "hoverinfo": "skip",
        "colorbar": colour_bar(look, tiles, end, False, end / (BRIGHT - 1)) | {"tickmode": "array"},
    }


def _clicks(look: Look, heads: Sequence[Head], places: Places, shape: Plan) -> list[Parts]:
    """A transparent square a tile, and the tiles' names where they have room."""
    x, y = [column + 0.5 for _, column in places], [row + 0.5 for row, _ in places]
    square = {"size": shape.tile * 0.96, "symbol": "square", "color": "rgba(0,0,0,0)"}
    lines = [f"<b>{head.name}</b>" + (f"<br>{plot_text(head.caption)}" if head.caption else "") for head in heads]
    points: Parts = {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": y,
        "marker": square,
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
        "customdata": [[head.layer, head.head] for head in heads],
        "text": lines,
        "hovertemplate": "%{text}<extra></extra>",
    }
    if not shape.titled:
        return [points]
    named = [f"<b>{head.name}</b> {plot_text(head.caption)}".strip() for head in heads]
    words: Parts = {"type": "scatter", "mode": "text", "hoverinfo": "skip", "textposition": "bottom right"}
    words |= {"x": [column for _, column in places], "y": [row for row, _ in places]}
    words |= undimmed(look.theme.ink)
    return [points, words | {"text": named, "textfont": look.text(12), "cliponaxis": False}]


def _half_gutter(shape: Plan) -> float:
    """Half of the gutter between two columns, where a tile and its gutter are 1."""
    return shape.gutter / (1 + shape.gutter) / 2


def _frames(
    look: Look, heads: Sequence[Head], places: Places, chosen: tuple[int, int] | None, margin: float
) -> list[Parts]:
    """A frame around the chosen head and its name, in the middle of the gutters at its sides."""
    line = {"color": look.theme.ink, "width": 2}
    return [
        {"type": "rect", "x0": column - margin, "x1": column + 1 - margin, "y0": row, "y1": row + 1, "line": line}
        for head, (row, column) in zip(heads, places, strict=True)
        if (head.layer, head.head) == chosen
    ]


def _axes(look: Look, shape: Plan, rows: int) -> Parts:
    """Names of layers and heads where the arrangement is the model's own; square tiles."""
    bare: Parts = {"showgrid": False, "zeroline": False, "ticks": "", "fixedrange": True, "constrain": "domain"}
    bare |= {"tickfont": look.digits(12, look.theme.muted), "showticklabels": shape.natural and not shape.titled}
    letters = "HL" if look.phone else "LH"
    step = max(1, math.ceil(look.size(12) * 2.4 / shape.tile))

    def ticks(count: int, letter: str) -> Parts:
        shown = range(0, count, step)
        return {"tickvals": [i + 0.5 for i in shown], "ticktext": [f"{letter}{i}" for i in shown]}

    left = -_half_gutter(shape)
    x = bare | {"range": [left, shape.columns + left], "side": "top", "constraintoward": "left", "tickangle": 0}
    y = bare | {"range": [rows, 0], "constraintoward": "top", "scaleanchor": "x"}
    return {"xaxis": x | ticks(shape.columns, letters[0]), "yaxis": y | ticks(rows, letters[1])}


def _reading(look: Look, tiles: Tiles, tokens: int) -> str:
    """What a cell is: one weight, or the largest of a square of them."""
    side = math.ceil(tokens / max(tiles.shape[1:]))
    key = "figure.pooled" if side > 1 else "figure.unpooled"
    return t(key, look.lang, side=side, cells=max(tiles.shape[1:]))
