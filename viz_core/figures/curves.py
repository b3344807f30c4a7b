"""Line charts whose curves are named where they end, not in a legend.

Each curve has its own dash, so that print without colour works. Values that a log axis cannot show leave a gap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from viz_core.figures.end_names import End, end_names, names_px
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame, note
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, place, reach, shown_range, ticks
from viz_core.figures.theme import HUES, Hue
from viz_core.i18n import Problem, t

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
Points = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Curve:
    """One named line: x and y of equal length; NaN in y leaves a gap. `hue` and `dash` follow the order by default.

    `points` marks every value, for few measured ones. `end` is the text beside the name, such as the last value.
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    hue: Hue | None = None
    dash: str | None = None
    points: bool = False
    end: str = ""


def curves(
    look: Look,
    lines: Sequence[Curve],
    x: Scale,
    y: Scale,
    *,
    cursor: float | None = None,
    ridges: Sequence[tuple[float, str]] = (),
    height: float = 340,
) -> go.Figure:
    """The curves over x; `cursor` is a vertical rule at one x, `ridges` are horizontal rules (y, name)."""
    data = [_points(line) for line in lines]
    across = reach(x, [p[0] for p in data])
    up = reach(y, [p[1] for p in data] + [np.array([ridge]) for ridge, _ in ridges])
    ends = [_end(look, line, i, data[i], y, up) for i, line in enumerate(lines)]
    top = look.px(34) + (look.px(20) * len(lines) if look.phone else 0)
    rules, words = _rules(look, cursor, ridges, y)
    return frame(
        look,
        [_trace(look, line, i, data[i], x, y) for i, line in enumerate(lines)],
        t("figure.alt_curves", look.lang, y=y.title, x=x.title, names=_spoken(lines, data)),
        look.px(height),
        xaxis=axis(look, plot_text(x.title), type=x.spacing, range=shown_range(across, x), **ticks(x)),
        yaxis=axis(look, "", grid=True, type=y.spacing, range=shown_range(up, y), **ticks(y)),
        margin={"l": 8, "r": 16 if look.phone else round(names_px(look, ends)), "t": round(top), "b": 8},
        annotations=[*end_names(look, ends, look.px(height) - top - look.px(52)), *words, axis_name(look, y.title)],
        shapes=rules,
    )


def _points(line: Curve) -> Points:
    x, y = np.asarray(line.x, np.float64), np.asarray(line.y, np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise Problem("figure_curve", name=line.name, x=str(x.shape), y=str(y.shape))
    return x, y


def _hue(line: Curve, i: int) -> Hue:
    return line.hue or HUES[i % len(HUES)]


def _trace(look: Look, line: Curve, i: int, data: Points, x: Scale, y: Scale) -> Parts:
    colour, name = look.theme.fill(_hue(line, i)), plot_text(line.name)
    values = [[v if math.isfinite(v) else None for v in side.tolist()] for side in data]
    said = [f"<b>{name}</b>", f"{plot_text(x.title)} %{{x:{x.digits}}}", f"{plot_text(y.title)} %{{y:{y.digits}}}"]
    return {
        "type": "scatter",
        "mode": "lines+markers" if line.points else "lines",
        "name": name,
        "x": values[0],
        "y": values[1],
        "line": {"color": colour, "width": look.px(2), "dash": line.dash or DASHES[i % len(DASHES)]},
        "marker": {"color": colour, "size": look.px(6)},
        "hovertemplate": "<br>".join(said) + "<extra></extra>",
    }


def _end(look: Look, line: Curve, i: int, data: Points, y: Scale, up: tuple[float, float]) -> End:
    """The name of a curve and how high it ends."""
    seen = data[1][np.isfinite(data[1]) & ((data[1] > 0) | (y.spacing == "linear"))]
    return End(line.name, line.end, look.theme.fill(_hue(line, i)), place(float(seen[-1]), up, y) if seen.size else 0.0)


def _rules(
    look: Look, cursor: float | None, ridges: Sequence[tuple[float, str]], y: Scale
) -> tuple[list[Parts], list[Parts]]:
    """Rules and their names: the cursor at one x, a horizontal rule a ridge."""
    line = {"color": look.theme.muted, "width": 1, "dash": "dot"}
    shapes: list[Parts] = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": r, "y1": r} for r, _ in ridges]
    if cursor is not None:
        shapes.append({"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": cursor, "x1": cursor})
    corner = {"yref": "y", "xanchor": "left", "yanchor": "bottom", "xshift": 4}
    names = [note(look, plot_text(name), 0, shown_range((ridge, 1.0), y)[0], **corner) for ridge, name in ridges]
    return [shape | {"line": line, "layer": "below"} for shape in shapes], names


def axis_name(look: Look, title: str) -> Parts:
    """The name of the vertical axis, lying, above it: read without turning the head."""
    corner = {"xanchor": "left", "yanchor": "bottom", "yshift": look.px(8), "xshift": -4}
    return note(look, plot_text(title), 0, 1, **corner)


def _spoken(lines: Sequence[Curve], data: Sequence[Points]) -> str:
    """Each curve with its first and last value, for the spoken description."""
    out = []
    for line, (_, y) in zip(lines, data, strict=True):
        seen = y[np.isfinite(y)]
        out.append(f"{line.name} {spoken(seen[0])} → {spoken(seen[-1])}" if seen.size else line.name)
    return ", ".join(out)
