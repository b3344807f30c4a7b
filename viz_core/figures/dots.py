"""Measures as dots on one line each: one dot a head, a quiet band for what is expected, the best one named.

For probes: hundreds of heads share a few measures; a bar of the mean would hide that one head does the work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame, note
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, reach, ticks
from viz_core.figures.theme import Hue
from viz_core.i18n import t

MIDDLE = 0.14  # where a row's dots lie under its name
SPREAD = 0.24  # half the height that a row's dots take; dots are spread so that equal values do not hide each other


@dataclass(frozen=True, slots=True)
class Measure:
    """One row: its name, a value for each head with the head's name, and perhaps the band expected of the best one."""

    name: str
    values: ArrayLike
    names: tuple[str, ...]
    band: tuple[float, float] | None = None
    hue: Hue = "A"


def dots(look: Look, rows: Sequence[Measure], x: Scale) -> go.Figure:
    """The measures from top to bottom on one axis; values that are not finite are left out and counted in the name."""
    data = [np.asarray(row.values, np.float64) for row in rows]
    low, high = reach(x, [*data, *(np.array(row.band) for row in rows if row.band)])
    traces = [trace for i, row in enumerate(rows) for trace in _row(look, row, i, data[i])]
    named = ", ".join(_best(row, values) for row, values in zip(rows, data, strict=True))
    y: Parts = {"range": [len(rows) - 0.5, -0.5], "visible": False, "fixedrange": True}
    return frame(
        look,
        traces,
        t("figure.alt_dots", look.lang, names=named),
        look.px(76) * len(rows) + look.px(48),
        xaxis=axis(look, plot_text(x.title), range=[low, high], **ticks(x)),
        yaxis=y,
        margin={"l": 16, "r": 24, "t": 8, "b": 8},
        annotations=[_title(look, row, i, values) for i, (row, values) in enumerate(zip(rows, data, strict=True))],
        shapes=[_band(look, row, i) for i, row in enumerate(rows) if row.band] + _lines(look, len(rows)),
    )


def _row(look: Look, row: Measure, i: int, values: NDArray[np.float64]) -> list[Parts]:
    shown = np.flatnonzero(np.isfinite(values))
    colour = look.theme.fill(row.hue, 0.7)
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": values[shown].tolist(),
            "y": (i + MIDDLE + SPREAD * _apart(len(shown))).tolist(),
            "marker": {"color": colour, "size": look.px(7), "line": {"color": look.theme.paper, "width": 0.5}},
            "customdata": [plot_text(row.names[k]) for k in shown],
            "hovertemplate": f"<b>%{{customdata}}</b><br>{plot_text(row.name)} %{{x:.3f}}<extra></extra>",
        }
    ]


def _apart(count: int) -> NDArray[np.float64]:
    """Offsets in (-1, 1) that never repeat soon: the golden ratio's multiples, the same at every drawing."""
    return 2 * ((np.arange(count) * (math.sqrt(5) - 1) / 2) % 1) - 1


def _best(row: Measure, values: NDArray[np.float64]) -> str:
    if not np.isfinite(values).any():
        return row.name
    k = int(np.nanargmax(values))
    return f"{row.name} {spoken(round(float(values[k]), 3))} ({row.names[k]})"


def _title(look: Look, row: Measure, i: int, values: NDArray[np.float64]) -> Parts:
    """The measure's name over its row, with its best head."""
    best = _best(row, values).removeprefix(row.name)
    text = f"{plot_text(row.name)}<b>{plot_text(best)}</b>"
    return note(look, text, 0, i - 0.34, yref="y", xanchor="left", yanchor="middle", font=look.text())


def _band(look: Look, row: Measure, i: int) -> Parts:
    low, high = row.band or (0.0, 0.0)
    place = {"x0": low, "x1": high, "y0": i + MIDDLE - SPREAD - 0.05, "y1": i + MIDDLE + SPREAD + 0.05}
    return {"type": "rect", "layer": "below", "line": {"width": 0}, "fillcolor": look.theme.rule} | place


def _lines(look: Look, count: int) -> list[Parts]:
    line: Parts = {"type": "line", "layer": "below", "xref": "paper", "x0": 0, "x1": 1}
    line |= {"line": {"color": look.theme.rule, "width": 1}}
    return [line | {"y0": i + MIDDLE, "y1": i + MIDDLE} for i in range(count)]
