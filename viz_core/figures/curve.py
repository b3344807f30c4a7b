"""One named line of a chart: its values, its trace, its name at its end, and what is said of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viz_core.figures.end_names import End
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, place
from viz_core.figures.theme import HUES, Hue
from viz_core.i18n import Problem

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


@dataclass(frozen=True, slots=True)
class Curve:
    """One named line: x and y of equal length; NaN in y leaves a gap. `hue` and `dash` follow the order by default.

    `points` marks every value, for few measured ones. `end` is the text beside the name, such as the last value.
    Raises Problem where x and y differ in length.
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    hue: Hue | None = None
    dash: str | None = None
    points: bool = False
    end: str = ""

    def __post_init__(self) -> None:
        x, y = np.shape(self.x), np.shape(self.y)
        if x != y or len(x) != 1:
            raise Problem("figure_curve", name=self.name, x=str(x), y=str(y))


def values(side: ArrayLike) -> NDArray[np.float64]:
    """One side of a curve as float64."""
    return np.asarray(side, np.float64)


def hue_of(line: Curve, i: int) -> Hue:
    """A curve's own hue, else the next one."""
    return line.hue or HUES[i % len(HUES)]


def curve_trace(look: Look, line: Curve, i: int, x: Scale, y: Scale) -> Parts:
    """The line of curve i, with its hover; what is not finite is null."""
    colour, name = look.theme.fill(hue_of(line, i)), plot_text(line.name)
    said = [f"<b>{name}</b>", f"{plot_text(x.title)} %{{x:{x.digits}}}", f"{plot_text(y.title)} %{{y:{y.digits}}}"]
    return {
        "type": "scatter",
        "mode": "lines+markers" if line.points else "lines",
        "name": name,
        "x": [v if math.isfinite(v) else None for v in values(line.x).tolist()],
        "y": [v if math.isfinite(v) else None for v in values(line.y).tolist()],
        "line": {"color": colour, "width": look.px(2), "dash": line.dash or DASHES[i % len(DASHES)]},
        "marker": {"color": colour, "size": look.px(6)},
        "cliponaxis": not line.points,  # a point on the edge is drawn whole
        "hovertemplate": "<br>".join(said) + "<extra></extra>",
    }


def curve_end(look: Look, line: Curve, i: int, y: Scale, up: tuple[float, float]) -> End:
    """The name of curve i and how high it ends in the range `up`; at the top where it ends at ∞."""
    whole = values(line.y)
    seen = whole[~np.isnan(whole) & ((whole > 0) | (y.spacing == "linear"))]
    last = float(seen[-1]) if seen.size else -math.inf
    height = place(last, up, y) if math.isfinite(last) else float(last > 0)
    return End(line.name, line.end, look.theme.fill(hue_of(line, i)), height)


def spoken_curves(lines: Sequence[Curve]) -> str:
    """Each curve with its first and last value, for the spoken description."""
    out = []
    for line in lines:
        seen = values(line.y)[np.isfinite(values(line.y))]
        out.append(f"{line.name} {spoken(seen[0])} → {spoken(seen[-1])}" if seen.size else line.name)
    return ", ".join(out)
