"""What stands on and beside the cells of a matrix: numbers, row sums, hover lines, click targets, an outlined row."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from viz_core.figures.cells import Matrix, ranks
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import MONO, Look, Parts
from viz_core.figures.matrix_axes import Grid
from viz_core.figures.theme import letter_on, tone
from viz_core.i18n import t

ROOMY: Final = (38, 20)  # width and height in px that a cell needs to hold its number
CLICKED: Final = 4096  # cells up to which each has its own click target; above, each row has one


def _name(look: Look, matrix: Matrix) -> str:
    return plot_text(matrix.name or t("figure.weight", look.lang))


def matrix_hover(look: Look, matrix: Matrix, step: float, value: str = "%{z:.4f}", rank: str = "%{text}") -> str:
    """Query, key, value; score and rank where the matrix carries them."""
    lines = [t("figure.query_line", look.lang, token="%{y}"), t("figure.key_line", look.lang, token="%{x}")]
    if matrix.thin:
        return "<br>".join([*lines, f"{_name(look, matrix)} %{{z}} × {step:g}"]) + "<extra></extra>"
    lines.append(f"{_name(look, matrix)} {value} · " + t("figure.rank", look.lang, rank=rank))
    if matrix.scores is not None:
        lines.append(t("figure.score", look.lang) + (" %{customdata[4]}" if rank != "%{text}" else " %{customdata}"))
    return "<br>".join(lines) + "<extra></extra>"


def row_sums(look: Look, values: NDArray[np.floating], fit: Grid, shown: bool) -> Parts:
    """Each labelled row's sum at its end.

    The trace is there even when none is shown: Plotly draws the visible axes only where a trace uses them.
    """
    rows = list(range(0, len(values), fit.row_step))
    totals = np.nansum(values, axis=1)
    return {
        "type": "scatter",
        "mode": "text",
        "x": [values.shape[1] - 0.5] * len(rows),
        "y": rows,
        "text": [f" Σ {totals[i]:.2f}" if shown else "" for i in rows],
        "textposition": "middle right",
        "textfont": look.digits(12, look.theme.muted),
        "cliponaxis": False,
        "hoverinfo": "skip",
        **undimmed(look.theme.muted),
    }


def numbers(look: Look, values: NDArray[np.floating], end: float, signed: bool, fit: Grid) -> list[Parts]:
    """The value in each cell that has room for it, in the letter colour that its tone needs: one trace a colour."""
    if fit.width < look.px(ROOMY[0]) or fit.height < look.px(ROOMY[1]):
        return []
    rows, columns = np.nonzero(~np.isnan(values))
    ramp = look.theme.signed if signed else look.theme.sequential
    places = values[rows, columns] / end
    letters = np.array([letter_on(tone(ramp, float(at + 1) / 2 if signed else float(at))) for at in places])
    return [_letters(look, values, rows[letters == c], columns[letters == c], c) for c in np.unique(letters).tolist()]


def _letters(
    look: Look, values: NDArray[np.floating], rows: NDArray[np.intp], columns: NDArray[np.intp], colour: str
) -> Parts:
    texts = [_short(value) for value in values[rows, columns].tolist()]
    trace: Parts = {"type": "scatter", "mode": "text", "xaxis": "x2", "yaxis": "y2", "hoverinfo": "skip"}
    trace |= {"x": columns.tolist(), "y": rows.tolist(), "text": texts}
    return trace | {"textfont": {"family": MONO, "size": look.size(12), "color": colour}} | undimmed(colour)


def _short(value: float) -> str:
    """Two decimals, or a dot where they would all be 0: the large ones are what the eye looks for."""
    return f"{value:.2f}".replace("-", "−") if abs(value) >= 0.005 else "·"


def undimmed(colour: str) -> Parts:
    """Keeps the text of a trace as it is when a click selects a point of another trace."""
    return {"unselected": {"textfont": {"color": colour}}}


def targets(look: Look, matrix: Matrix, fit: Grid) -> Parts:
    """Transparent points that a click can select: one a visible cell, or one a row where there are too many."""
    rows, columns = np.nonzero(~np.isnan(matrix.values))
    if len(rows) > CLICKED:
        last = np.flatnonzero(np.diff(rows, append=-1))
        rows, columns = rows[last], columns[last]
    fields = [rows, columns, np.round(matrix.values[rows, columns], 4), ranks(matrix.values)[rows, columns]]
    if matrix.scores is not None:
        fields.append(np.round(np.nan_to_num(matrix.scores[rows, columns]), 3))
    hover = matrix_hover(look, matrix, 1.0, "%{customdata[2]:.4f}", "%{customdata[3]}")
    return {
        "type": "scatter",
        "mode": "markers",
        "xaxis": "x2",
        "yaxis": "y2",
        "x": columns.tolist(),
        "y": rows.tolist(),
        "customdata": [list(point) for point in zip(*(field.tolist() for field in fields), strict=True)],
        "marker": {"size": max(fit.height, 4), "symbol": "square", "color": "rgba(0,0,0,0)"},
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
        "hovertemplate": hover,
    }


def outline(look: Look, row: int, values: NDArray[np.floating]) -> Parts:
    """A frame around the visible cells of one row."""
    seen = np.flatnonzero(~np.isnan(values[row]))
    first, last = (seen[0], seen[-1]) if seen.size else (0, values.shape[1] - 1)
    line = {"color": look.theme.ink, "width": 2}
    edges = {"x0": first - 0.5, "x1": last + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "line": line} | {name: float(value) for name, value in edges.items()}
