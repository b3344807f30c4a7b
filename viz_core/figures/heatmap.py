"""One matrix, large: an attention head (row = query, column = key), its scores, or a signed difference of two.

Masked cells are absent, 0 is the first tone of the ramp, so the two differ. Above 160 tokens the hover keeps tokens and
value and drops score and rank; above 512 the matrix is refused (`cells.Matrix`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.cells import Matrix, counted, end_of, ragged, ranks, written
from viz_core.figures.colour_bar import ROOM, bar_name, colour_bar
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, frame, note
from viz_core.figures.matrix_axes import Grid, axes, grid
from viz_core.figures.matrix_marks import matrix_hover, numbers, outline, row_sums, targets
from viz_core.figures.numbers import spoken
from viz_core.figures.theme import scale
from viz_core.i18n import t

NARROW: Final = 720  # px below which the line above the matrix is the short one


def heatmap(
    look: Look,
    matrix: Matrix,
    *,
    top: float | None = None,
    signed: bool = False,
    sums: bool = True,
    row: int | None = None,
    clickable: bool = False,
    title: str = "",
    height: float = 460,
) -> go.Figure:
    """The matrix as a figure.

    `top` is the end of the colour range (`cells.end_of` by default): give the same to figures that are compared.
    `signed` centres the colours at 0. `sums` writes each row's sum at its end. `row` outlines one query. `clickable`
    lays transparent points over the cells, whose customdata begins with (row, column). `title` names the matrix where
    several stand together. `height` is the most it takes.
    """
    if not matrix.values.size:
        return empty(look, t("figure.no_tokens", look.lang), height)
    summed = sums and not signed
    end = float(top) if top else end_of(matrix.values)
    base, bottom = look.px(24), look.px(ROOM)
    fit = grid(look, matrix.queries, matrix.keys, look.px(height) - base - bottom - look.px(24))
    data = [_colours(look, matrix, end, signed, fit)]
    data += [row_sums(look, matrix.values, fit, summed), *numbers(look, matrix.values, end, signed, fit)]
    data += [targets(look, matrix, fit)] if clickable else []
    return frame(
        look,
        data,
        _alt(look, matrix),
        fit.height * len(matrix.queries) + fit.top + base + bottom,
        margin={"l": round(fit.left), "r": round(look.px(72)), "t": round(fit.top + base), "b": round(bottom)},
        annotations=[_reading(look, fit, title, summed), bar_name(look, matrix.name or t("figure.weight", look.lang))],
        shapes=[] if row is None else [outline(look, row, matrix.values)],
        **axes(look, matrix.queries, matrix.keys, fit),
    )


def empty(look: Look, text: str, height: float = 160) -> go.Figure:
    """A figure that says in words why there is nothing to draw."""
    hidden = {"visible": False, "fixedrange": True}
    words = note(look, plot_text(text), 0.5, 0.5, font=look.text(16, look.theme.muted))
    return frame(look, [], text, look.px(min(height, 160)), annotations=[words], xaxis=hidden, yaxis=hidden)


def _colours(look: Look, matrix: Matrix, end: float, signed: bool, fit: Grid) -> Parts:
    masked = np.isnan(matrix.values)
    z, step = counted(matrix.values, masked, end) if matrix.thin else (written(matrix.values, masked, 4), 1.0)
    trace: Parts = {
        "type": "heatmap",
        "z": z,
        "zmin": (-end if signed else 0) / step,
        "zmax": end / step,
        "colorscale": scale(look.theme.signed if signed else look.theme.sequential),
        "xaxis": "x2",
        "yaxis": "y2",
        "hoverongaps": False,
        "hovertemplate": matrix_hover(look, matrix, step),
        "colorbar": colour_bar(look, matrix.values, end, signed, step),
    }
    gap = 2 if fit.height > 24 else 1 if fit.height > 8 else 0
    trace |= {"xgap": gap, "ygap": gap}
    if not matrix.thin:
        trace |= {"text": ragged(ranks(matrix.values).astype(object), masked, None)}
        if matrix.scores is not None:
            trace |= {"customdata": written(matrix.scores, masked | ~np.isfinite(matrix.scores), 3)}
    return trace


def _reading(look: Look, fit: Grid, title: str, summed: bool) -> Parts:
    """The matrix's name and how to read it, in a line above it."""
    short = bool(title) or look.width < NARROW
    words = t("figure.rows_columns_short" if short else "figure.rows_columns", look.lang)
    words += t("figure.row_end", look.lang) if summed and not short else ""
    if title:
        words = f'<b><span style="color:{look.theme.ink}">{plot_text(title)}</span></b> · {words}'
    corner = {"xanchor": "left", "yanchor": "bottom", "yshift": fit.top, "xshift": -fit.left + 4}
    return note(look, words, 0, 1, font=look.text(12, look.theme.muted), **corner)


def _alt(look: Look, matrix: Matrix) -> str:
    i, j = np.unravel_index(int(np.argmax(np.abs(np.nan_to_num(matrix.values)))), matrix.values.shape)
    return t(
        "figure.alt_heatmap",
        look.lang,
        name=matrix.name or t("figure.weight", look.lang),
        n=len(matrix.queries),
        m=len(matrix.keys),
        row=matrix.queries.texts[i],
        column=matrix.keys.texts[j],
        value=spoken(round(float(np.nan_to_num(matrix.values[i, j])), 2)),
    )
