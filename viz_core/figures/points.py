"""A scatter of named points: one dot a thing, its name beside it, families by hue and shape.

For SQNR against bits. Names are placed where they touch neither a dot nor another name, or at the end of a thin line;
one that finds no place is in the hover alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.curve import Curve, curve_trace
from viz_core.figures.curves import axis_name
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame, note
from viz_core.figures.matrix_axes import text_px
from viz_core.figures.name_places import SIDES, Box, Name, Spot, places
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, place, reach, room, shown_range, ticks
from viz_core.figures.theme import Hue
from viz_core.i18n import t

SYMBOLS: dict[Hue, str] = {"A": "circle", "B": "square", "C": "diamond", "D": "triangle-up", "E": "cross", "F": "x"}
RADIUS, NAME_SIZE = 5, 12  # of a point and of its name, px


@dataclass(frozen=True, slots=True)
class Point:
    """One thing: its name, where it stands, its family's hue (and with it its shape), a further line for the hover.

    One that is not `named` has its name in the hover alone.
    """

    name: str
    x: float
    y: float
    hue: Hue = "A"
    detail: str = ""
    named: bool = True


def points(
    look: Look,
    dots: Sequence[Point],
    x: Scale,
    y: Scale,
    line: Curve | None = None,
    height: float = 400,
    families: Mapping[Hue, str] | None = None,
    led: bool = False,
) -> go.Figure:
    """The points, over a reference line where one is given; points that are not finite are left out.

    Earlier points have their names first. `families` names in a legend the hues that are there; with `led` a name that
    finds no place beside its point stands at the end of a line.
    """
    seen = [dot for dot in dots if np.isfinite([dot.x, dot.y]).all()]
    families = {hue: name for hue, name in (families or {}).items() if hue in {dot.hue for dot in seen}}
    across, up = _around(x, [dot.x for dot in seen]), _around(y, [dot.y for dot in seen])
    legend = look.px(96 if look.phone else 44) if families else 0  # beside the area that the names are placed in
    area = (look.width - look.px(72), look.px(height) - look.px(86))
    at = [(place(d.x, across, x) * area[0], (1 - place(d.y, up, y)) * area[1]) for d in seen]
    stand = spots(look, seen, at, area, led)
    apart = [_led(look, d, spot.away, x, y) for d, spot in zip(seen, stand, strict=True) if spot.away is not None]
    reference = [curve_trace(look, line, 1, x, y) | {"line": _thin(look)}] if line else []
    named = ", ".join(f"{dot.name} ({spoken(round(dot.x, 3))}, {spoken(round(dot.y, 2))})" for dot in seen)
    return frame(
        look,
        [*reference, _dots(look, seen, [spot.side for spot in stand], x, y),
         *(_key(look, *one) for one in families.items())],
        t("figure.alt_points", look.lang, x=x.title, y=y.title, names=named),
        look.px(height) + legend,
        xaxis=axis(look, plot_text(x.title), type=x.spacing, range=shown_range(across, x), **ticks(x)),
        yaxis=axis(look, "", grid=True, type=y.spacing, range=shown_range(up, y), **ticks(y)),
        margin={"l": 8, "r": 24, "t": round(look.px(34)), "b": 8},
        annotations=[axis_name(look, y.title), *apart],
        showlegend=bool(families),
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": -0.16, "yanchor": "top", "font": look.text()}
        | ({"x": -0.12, "entrywidthmode": "fraction", "entrywidth": 0.48, "font": look.text(12)} if look.phone else {})
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
        "text": [plot_text(dot.name) if side and dot.named else "" for dot, side in zip(seen, sides, strict=True)],
        "textposition": [side or SIDES[0] for side in sides],
        "textfont": look.text(NAME_SIZE),
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


def spots(
    look: Look, seen: Sequence[Point], at: Sequence[tuple[float, float]], area: tuple[float, float], led: bool
) -> list[Spot]:
    """Where the names of points at these px of the area stand; a name may reach a little into the right margin."""
    size = look.size(NAME_SIZE)
    wide = [text_px(dot.name, size) if dot.named else 0 for dot in seen]
    names = [Name(x, y, width, 1.2 * size) for width, (x, y) in zip(wide, at, strict=True)]
    return places(names, Box(0, 0, area[0] + look.px(20), area[1]), look.px(RADIUS), led)


def _led(look: Look, dot: Point, away: tuple[float, float], x: Scale, y: Scale) -> Parts:
    """A name at the end of a thin line from its point."""
    at_x, at_y = shown_range((dot.x, 1.0), x)[0], shown_range((dot.y, 1.0), y)[0]
    line: Parts = {"showarrow": True, "arrowhead": 0, "arrowwidth": 0.7, "arrowcolor": look.theme.muted}
    line |= {"ax": away[0], "ay": away[1], "standoff": look.px(RADIUS), "borderpad": 0}
    words: Parts = {"font": look.text(NAME_SIZE), "xanchor": "center", "yanchor": "middle", "captureevents": False}
    return note(look, plot_text(dot.name), at_x, at_y, xref="x", yref="y", **line, **words)
