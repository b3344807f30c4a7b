"""A scatter of named points: one dot a thing, its name beside it, families by hue and shape.

For SQNR against bits. Names are placed where they touch neither a dot nor another name; one that finds no place is in
the hover alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.curve import Curve, curve_trace
from viz_core.figures.curves import axis_name
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame
from viz_core.figures.matrix_axes import text_px
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, place, reach, room, shown_range, ticks
from viz_core.figures.theme import Hue
from viz_core.i18n import t

SYMBOLS: dict[Hue, str] = {"A": "circle", "B": "square", "C": "diamond", "D": "triangle-up", "E": "cross", "F": "x"}
SIDES = ("middle right", "top center", "bottom center", "middle left",
         "top right", "bottom right", "top left", "bottom left")


@dataclass(frozen=True, slots=True)
class Point:
    """One thing: its name, where it stands, its family's hue (and with it its shape), a further line for the hover."""

    name: str
    x: float
    y: float
    hue: Hue = "A"
    detail: str = ""


class Box(NamedTuple):
    """A rectangle in px."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: Box) -> bool:
        """Whether the two overlap."""
        return not (
            self.right <= other.left or other.right <= self.left or self.bottom <= other.top or other.bottom <= self.top
        )


def points(
    look: Look,
    dots: Sequence[Point],
    x: Scale,
    y: Scale,
    line: Curve | None = None,
    height: float = 400,
    families: Mapping[Hue, str] | None = None,
) -> go.Figure:
    """The points, over a reference line where one is given; points that are not finite are left out.

    Earlier points have their names first. `families` names the hues in a legend.
    """
    seen = [dot for dot in dots if np.isfinite([dot.x, dot.y]).all()]
    across, up = _around(x, [dot.x for dot in seen]), _around(y, [dot.y for dot in seen])
    legend = look.px(96 if look.phone else 44) if families else 0  # beside the area that the names are placed in
    area = (look.width - look.px(72), look.px(height) - look.px(86))
    places = [(place(d.x, across, x) * area[0], (1 - place(d.y, up, y)) * area[1]) for d in seen]
    sides = sides_of(look, seen, places, area[0] + look.px(20))
    reference = [curve_trace(look, line, 1, x, y) | {"line": _thin(look)}] if line else []
    named = ", ".join(f"{dot.name} ({spoken(round(dot.x, 3))}, {spoken(round(dot.y, 2))})" for dot in seen)
    return frame(
        look,
        [*reference, _dots(look, seen, sides, x, y), *(_key(look, *one) for one in (families or {}).items())],
        t("figure.alt_points", look.lang, x=x.title, y=y.title, names=named),
        look.px(height) + legend,
        xaxis=axis(look, plot_text(x.title), type=x.spacing, range=shown_range(across, x), **ticks(x)),
        yaxis=axis(look, "", grid=True, type=y.spacing, range=shown_range(up, y), **ticks(y)),
        margin={"l": 8, "r": 24, "t": round(look.px(34)), "b": 8},
        annotations=[axis_name(look, y.title)],
        showlegend=bool(families),
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": -0.16, "yanchor": "top", "font": look.text()}
        | {"itemclick": False, "itemdoubleclick": False},
    )


def _around(scale: Scale, values: Sequence[float]) -> tuple[float, float]:
    """A range with room on both sides; a scatter need not begin at 0."""
    if scale.range or scale.spacing == "log" or not values:
        return reach(scale, [np.array(values, float)])
    free = room(min(values), max(values), 0.08)
    return min(values) - free, max(values) + free


def _thin(look: Look) -> Parts:
    return {"color": look.theme.muted, "width": 1, "dash": "dot"}


def _dots(look: Look, seen: Sequence[Point], sides: Sequence[str], x: Scale, y: Scale) -> Parts:
    said = [f"<b>{plot_text(d.name)}</b>" + (f"<br>{plot_text(d.detail)}" if d.detail else "") for d in seen]
    axes = f"{plot_text(x.title)} %{{x:{x.digits}}}<br>{plot_text(y.title)} %{{y:{y.digits}}}"
    return {
        "type": "scatter",
        "mode": "markers+text",
        "showlegend": False,
        "x": [dot.x for dot in seen],
        "y": [dot.y for dot in seen],
        "text": [plot_text(dot.name) if side else "" for dot, side in zip(seen, sides, strict=True)],
        "textposition": [side or SIDES[0] for side in sides],
        "textfont": look.text(12),
        "cliponaxis": False,
        "customdata": said,
        "marker": {
            "size": look.px(9),
            "color": [look.theme.fill(dot.hue) for dot in seen],
            "symbol": [SYMBOLS[dot.hue] for dot in seen],
            "line": {"color": look.theme.paper, "width": 1},
        },
        "hovertemplate": f"%{{customdata}}<br>{axes}<extra></extra>",
    }


def _key(look: Look, hue: Hue, name: str) -> Parts:
    """An entry of the legend: a family's hue and shape, without points of its own."""
    marker = {"color": look.theme.fill(hue), "symbol": SYMBOLS[hue], "size": look.px(9)}
    return {"type": "scatter", "mode": "markers", "x": [None], "y": [None], "name": plot_text(name), "marker": marker}


def sides_of(
    look: Look, dots: Sequence[Point], places: Sequence[tuple[float, float]], edge: float = float("inf")
) -> list[str]:
    """For each point the side where its name touches nothing and ends before the right `edge` (px), "" where there is
    none; earlier points choose first.
    """
    size, r = look.size(12), look.px(5)
    taken = [Box(px - r, py - r, px + r, py + r) for px, py in places]
    out = []
    for dot, (px, py) in zip(dots, places, strict=True):
        width = text_px(dot.name, size)
        boxes = {side: _box(side, px, py, width, size, r) for side in SIDES}
        own = Box(px - r, py - r, px + r, py + r)
        free = [s for s, box in boxes.items()
                if box.right <= edge and not any(box.touches(b) for b in taken if b != own)]
        out.append(free[0] if free else "")
        taken += [boxes[free[0]]] if free else []
    return out


def _box(side: str, px: float, py: float, width: float, size: float, r: float) -> Box:
    """Where a name would lie."""
    vertical, horizontal = side.split()
    left = {"right": px + r, "center": px - width / 2, "left": px - r - width}[horizontal]
    top = {"middle": py - size * 0.6, "top": py - r - size * 1.2, "bottom": py + r}[vertical]
    return Box(left, top, left + width, top + size * 1.2)
