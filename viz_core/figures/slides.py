"""A few values sliding to the points of several grids: one number line a format, the grid's points as ticks.

The hollow dot above the line is the value, the solid one on it the point it went to; the stroke between them is the
error. All lines share one axis, so the same value stands at the same place in every format. A value that comes back
infinite or NaN has no point: a cross stands in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame, note
from viz_core.figures.scales import Scale, room, ticks
from viz_core.figures.theme import Hue
from viz_core.i18n import Problem, t

ABOVE = 0.26  # how far above its line a value stands, in rows
JOINED = ("x", "y", "customdata")
TICKS = 400  # grid points that are drawn on one line; of more, those in sight are thinned evenly


@dataclass(frozen=True, slots=True)
class Line:
    """A format: its name, a remark (bits, SQNR), its grid's points, and for each value the point it went to.

    `hovers` say for each value how its code decodes; they are text, not markup.
    """

    name: str
    points: ArrayLike
    after: ArrayLike
    remark: str = ""
    hovers: tuple[str, ...] = ()
    hue: Hue = "B"


def slides(look: Look, values: ArrayLike, lines: Sequence[Line], x: Scale) -> go.Figure:
    """The values (n,) on each line from top to bottom; raises Problem where a line has another number of points."""
    before = np.asarray(values, np.float64)
    after = [np.asarray(line.after, np.float64) for line in lines]
    for line, moved in zip(lines, after, strict=True):
        if moved.shape != before.shape:
            raise Problem("figure_slides", name=line.name, values=before.size, after=moved.size)
    low, high = _reach(x, [before, *after])
    named = ", ".join(f"{line.name} {line.remark}".strip() for line in lines)
    data = [trace for i, line in enumerate(lines) for trace in _line(look, line, i, before, after[i], (low, high))]
    return frame(
        look,
        _joined(data),
        t("figure.alt_slides", look.lang, n=before.size, names=named),
        look.px(96) * len(lines) + look.px(44),
        xaxis=axis(look, plot_text(x.title), range=[low, high], **ticks(x)),
        yaxis={"range": [len(lines) - 0.5, -0.62], "visible": False, "fixedrange": True},
        margin={"l": 16, "r": 16, "t": 4, "b": 8},
        annotations=[_title(look, line, i) for i, line in enumerate(lines)],
    )


def _joined(traces: Sequence[Parts]) -> list[Parts]:
    """Traces that look alike as one: Plotly checks each of them, which for fifty lines took a tenth of a second."""
    out: dict[str, Parts] = {}
    for trace in traces:
        kind = repr({key: value for key, value in trace.items() if key not in JOINED})
        held = out.setdefault(kind, {**trace, **{key: [] for key in JOINED if key in trace}})
        for key in JOINED:
            if key in trace:
                held[key] += trace[key]
    return list(out.values())


def _reach(x: Scale, sides: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """From the least to the largest value, with room for half a dot; grid points beyond are not in sight."""
    if x.range:
        return x.range
    whole = np.concatenate([side[np.isfinite(side)] for side in sides] + [np.zeros(1)])
    low, high = float(whole.min()), float(whole.max())
    free = room(low, high, 0.06)
    return low - free, high + free


def _line(
    look: Look, line: Line, i: int, before: NDArray[np.float64], after: NDArray[np.float64], sight: tuple[float, float]
) -> list[Parts]:
    """The grid, the strokes, the values and the points they went to."""
    kept = np.isfinite(before) & np.isfinite(after)
    x, moved, colour = before[kept], after[kept], look.theme.fill(line.hue)
    hovers = [plot_text(line.hovers[k]) if line.hovers else "" for k in np.flatnonzero(kept)]
    said = [f"<b>{a:.5g} → {b:.5g}</b>".replace("-", "−") + (f"<br>{h}" if h else "")
            for a, b, h in zip(x, moved, hovers, strict=True)]
    strokes: Parts = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "line": {"color": colour, "width": 1.5}}
    strokes |= {"x": _broken(x, moved), "y": _broken(np.full(x.size, i - ABOVE), np.full(x.size, float(i)))}
    shared: Parts = {"type": "scatter", "mode": "markers", "customdata": said}
    shared |= {"hovertemplate": "%{customdata}<extra></extra>"}
    hollow = {"color": look.theme.paper, "size": look.px(9), "line": {"color": look.theme.ink, "width": 1.5}}
    solid = {"color": colour, "size": look.px(10), "line": {"color": look.theme.paper, "width": 1}}
    lost = np.isfinite(before) & ~np.isfinite(after)
    return [
        *([_lost(look, i, before[lost], after[lost])] if lost.any() else []),
        _grid(look, line, i, sight),
        strokes,
        shared | {"x": x.tolist(), "y": [i - ABOVE] * x.size, "marker": hollow},
        shared | {"x": moved.tolist(), "y": [i] * x.size, "marker": solid},
    ]


def _lost(look: Look, i: int, before: NDArray[np.float64], after: NDArray[np.float64]) -> Parts:
    """Crosses where values stand that come back infinite or NaN."""
    said = [f"<b>{a:.5g} → {b}</b>".replace("-", "−").replace("inf", "∞").replace("nan", "NaN")
            for a, b in zip(before, after, strict=True)]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": before.tolist(),
        "y": [i - ABOVE] * before.size,
        "marker": {"symbol": "x-thin", "size": look.px(9), "line": {"color": look.theme.ink, "width": 2}},
        "customdata": said,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _grid(look: Look, line: Line, i: int, sight: tuple[float, float]) -> Parts:
    """The number line with a tick at each grid point in sight."""
    points = np.unique(np.asarray(line.points, np.float64))
    points = points[(points >= sight[0]) & (points <= sight[1])]
    points = points[:: -(-points.size // TICKS) or 1]
    ends = _broken(points, points)
    heights = _broken(np.full(points.size, i - 0.09), np.full(points.size, i + 0.09))
    rule: list[float | None] = [sight[0], sight[1], None]
    stroke = {"color": look.theme.muted, "width": 1}
    trace: Parts = {"type": "scatter", "mode": "lines", "line": stroke, "hoverinfo": "skip"}
    return trace | {"x": rule + ends, "y": [float(i), float(i), None, *heights]}


def _broken(one: NDArray[np.float64], other: NDArray[np.float64]) -> list[float | None]:
    """Pairs as separate strokes of one trace."""
    return [v for a, b in zip(one.tolist(), other.tolist(), strict=True) for v in (a, b, None)]


def _title(look: Look, line: Line, i: int) -> Parts:
    remark = f' <span style="color:{look.theme.muted}">{plot_text(line.remark)}</span>' if line.remark else ""
    place = {"yref": "y", "xanchor": "left", "yanchor": "middle", "font": look.text()}
    return note(look, f"<b>{plot_text(line.name)}</b>{remark}", 0, i - 0.5, **place)
