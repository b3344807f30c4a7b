"""Line charts whose curves are named where they end, not in a legend; one panel, or several over the same x.

Each curve has its own dash, so that print without colour works. Values that a log axis cannot show leave a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    """Curves on one vertical axis; `ridges` are horizontal rules (y, name).

    `share` is a span of the figure's height; only how long it is counts, against those of the other panels.
    """

    lines: Sequence[Curve]
    y: Scale
    share: tuple[float, float] = (0.0, 1.0)
    ridges: Sequence[tuple[float, str]] = ()

    @property
    def up(self) -> tuple[float, float]:
        """The range of the vertical axis."""
        rules = np.array([ridge for ridge, _ in self.ridges], float) * (1.1 if self.y.spacing == "linear" else 1.0)
        return reach(self.y, [*(values(line.y) for line in self.lines), rules])


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
    """Panels over one x, the first on top; `height` grows on a phone, where the names stand above each panel."""
    across = reach(x, [values(line.x) for panel in parts for line in panel.lines])
    heads = [_head(look, panel) for panel in parts]
    area = look.px(height) - look.px(90) + (sum(heads[1:]) - look.px(30) * (len(parts) - 1) if look.phone else 0)
    placed = [replace(p, share=s) for p, s in zip(parts, _shares(parts, heads, area), strict=True)]
    ends = [_ends(look, panel) for panel in placed]
    rule = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": cursor, "x1": cursor} | _dotted(look)
    bottom = {"anchor": f"y{_id(len(parts) - 1)}"}
    return frame(
        look,
        [trace for k, panel in enumerate(placed) for trace in _traces(look, panel, k, x)],
        _said(look, parts, x),
        heads[0] + look.px(6) + area + look.px(52),
        xaxis=axis(look, plot_text(x.title), type=x.spacing, range=shown_range(across, x), **ticks(x)) | bottom,
        margin={"l": 8, "r": _right(look, ends), "t": round(heads[0] + look.px(6)), "b": 8},
        annotations=[word for k, panel in enumerate(placed) for word in _words(look, panel, k, ends[k], area)],
        shapes=[shape for k, panel in enumerate(placed) for shape in _ridges(look, panel, k)]
        + ([rule] if cursor is not None else []),
        **{f"yaxis{_id(k)}": _axis(look, panel) for k, panel in enumerate(placed)},
    )


def _head(look: Look, panel: Panel) -> float:
    """Px above a panel for the name of its axis, on a phone also for the names of its curves."""
    return look.px(30) + (look.px(20) * len(panel.lines) if look.phone else 0)


def _shares(parts: Sequence[Panel], heads: Sequence[float], area: float) -> list[tuple[float, float]]:
    """Where the panels stand in a plot `area` px high: what their heads leave, by the length of their shares."""
    weights = [panel.share[1] - panel.share[0] for panel in parts]
    rest = 1 - sum(heads[1:]) / area
    top, out = 1.0, []
    for k, weight in enumerate(weights):
        top -= heads[k] / area if k else 0
        low = max(top - rest * weight / sum(weights), 0.0)
        out.append((low, top))
        top = low
    return out


def _said(look: Look, parts: Sequence[Panel], x: Scale) -> str:
    return " ".join(
        t("figure.alt_curves", look.lang, y=panel.y.title, x=x.title, names=spoken_curves(panel.lines))
        for panel in parts
    )


def _right(look: Look, ends: Sequence[Sequence[End]]) -> int:
    return 16 if look.phone else round(names_px(look, [end for panel in ends for end in panel]))


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
