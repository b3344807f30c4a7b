"""Line charts whose curves are named where they end, not in a legend; one panel, or several over the same x.

Each curve has its own dash, so that print without colour works. Values that a log axis cannot show leave a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.curve import Curve, curve_end, curve_trace, spoken_curves, values
from viz_core.figures.end_names import End, end_names, names_px
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame, note
from viz_core.figures.scales import Scale, reach, shown_range, ticks
from viz_core.i18n import t

__all__ = ["Curve", "Panel", "Scale", "axis_name", "curves", "panels"]


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves on one vertical axis, in a share of the figure's height; `ridges` are horizontal rules (y, name)."""

    lines: Sequence[Curve]
    y: Scale
    share: tuple[float, float] = (0.0, 1.0)
    ridges: Sequence[tuple[float, str]] = ()

    @property
    def up(self) -> tuple[float, float]:
        """The range of the vertical axis."""
        return reach(self.y, [values(line.y) for line in self.lines] + [np.array([r]) for r, _ in self.ridges])


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
    return panels(look, [Panel(lines, y, ridges=ridges)], x, cursor=cursor, height=height)


def panels(
    look: Look, parts: Sequence[Panel], x: Scale, *, cursor: float | None = None, height: float = 340
) -> go.Figure:
    """Panels over one x, the first on top; their shares leave room between them for the name of the lower axis."""
    across = reach(x, [values(line.x) for panel in parts for line in panel.lines])
    top = look.px(34) + (look.px(20) * len(parts[0].lines) if look.phone else 0)
    area = look.px(height) - top - look.px(52)
    ends = [_ends(look, panel) for panel in parts]
    every = [end for panel in ends for end in panel]
    said = " ".join(
        t("figure.alt_curves", look.lang, y=panel.y.title, x=x.title, names=spoken_curves(panel.lines))
        for panel in parts
    )
    layout = {f"yaxis{_id(k)}": _axis(look, panel) for k, panel in enumerate(parts)}
    rule = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": cursor, "x1": cursor} | _dotted(look)
    return frame(
        look,
        [trace for k, panel in enumerate(parts) for trace in _traces(look, panel, k, x)],
        said,
        look.px(height),
        xaxis=axis(look, plot_text(x.title), type=x.spacing, range=shown_range(across, x), **ticks(x))
        | {"anchor": f"y{_id(len(parts) - 1)}"},
        margin={"l": 8, "r": 16 if look.phone else round(names_px(look, every)), "t": round(top), "b": 8},
        annotations=[word for k, panel in enumerate(parts) for word in _words(look, panel, k, ends[k], area)],
        shapes=[shape for k, panel in enumerate(parts) for shape in _ridges(look, panel, k)]
        + ([rule] if cursor is not None else []),
        **layout,
    )


def _id(k: int) -> str:
    """Plotly's number of panel k's axis: none, 2, 3 …"""
    return str(k + 1) if k else ""


def _axis(look: Look, panel: Panel) -> Parts:
    few = ticks(panel.y, 6 if panel.share[1] - panel.share[0] > 0.4 else 3)
    ends = shown_range(panel.up, panel.y)
    return axis(look, "", grid=True, type=panel.y.spacing, range=ends, domain=list(panel.share), **few)


def _traces(look: Look, panel: Panel, k: int, x: Scale) -> list[Parts]:
    return [curve_trace(look, line, i, x, panel.y) | {"yaxis": f"y{_id(k)}"} for i, line in enumerate(panel.lines)]


def _ends(look: Look, panel: Panel) -> list[End]:
    return [curve_end(look, line, i, panel.y, panel.up) for i, line in enumerate(panel.lines)]


def _words(look: Look, panel: Panel, k: int, ends: Sequence[End], area: float) -> list[Parts]:
    """Names of the curves, of the axis and of the ridges."""
    corner = {"yref": f"y{_id(k)}", "xanchor": "left", "yanchor": "bottom", "xshift": 4}
    ridges = [(plot_text(name), shown_range((ridge, 1.0), panel.y)[0]) for ridge, name in panel.ridges]
    title = axis_name(look, panel.y.title) | {"y": panel.share[1]}
    named = [note(look, name, 0, at, **corner) for name, at in ridges]
    return [*end_names(look, ends, area, panel.share), title, *named]


def _ridges(look: Look, panel: Panel, k: int) -> list[Parts]:
    across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": f"y{_id(k)}"} | _dotted(look)
    return [across | {"y0": ridge, "y1": ridge} for ridge, _ in panel.ridges]


def _dotted(look: Look) -> Parts:
    return {"line": {"color": look.theme.muted, "width": 1, "dash": "dot"}, "layer": "below"}


def axis_name(look: Look, title: str) -> Parts:
    """The name of the vertical axis, lying, above it: read without turning the head."""
    corner = {"xanchor": "left", "yanchor": "bottom", "yshift": look.px(8), "xshift": -4}
    return note(look, plot_text(title), 0, 1, **corner)
