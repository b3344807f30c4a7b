"""The roofline of several GPUs, both axes logarithmic, and where some kernels stand under it.

A roof is min(peak, bandwidth × intensity) (Williams, Waterman and Patterson 2009). A kernel is a vertical rule at its
FLOPs per byte with a dot where it meets each roof: what it can reach at most, not what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.curve import Curve
from viz_core.figures.curves import Panel, panels
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, note
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale
from viz_core.figures.theme import Hue
from viz_core.i18n import t


@dataclass(frozen=True, slots=True)
class Roof:
    """A GPU: its name, peak FLOP/s and bytes/s of memory."""

    name: str
    flops: float
    bandwidth: float

    def reached(self, intensity: float) -> float:
        """FLOP/s at most at so many FLOPs a byte."""
        return min(self.flops, self.bandwidth * intensity)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A piece of work by name, with its FLOPs per byte."""

    name: str
    intensity: float
    hue: Hue = "B"


def roofline(look: Look, roofs: Sequence[Roof], kernels: Sequence[Kernel], height: float = 420) -> go.Figure:
    """Roofs from a quarter of the least to four times the largest intensity in sight."""
    seen = [k.intensity for k in kernels if k.intensity > 0] + [roof.flops / roof.bandwidth for roof in roofs]
    low, high = (min(seen, default=1.0) / 4, max(seen, default=1.0) * 4)
    x = Scale(t("figure.intensity", look.lang), "log", (low, high))
    y = Scale(t("figure.reached", look.lang), "log")
    lines = [_roof(roof, low, high) for roof in roofs]
    figure = panels(look, [Panel(lines, y)], x, height=height)
    for kernel in kernels:
        _stand(look, figure, kernel, roofs)
    figure.layout.meta = {"alt": _alt(look, roofs, kernels)}
    return figure


def _roof(roof: Roof, low: float, high: float) -> Curve:
    ridge = roof.flops / roof.bandwidth
    x = np.array([low, ridge, high])
    return Curve(roof.name, x, [roof.reached(v) for v in x.tolist()], end=f"{roof.flops / 1e12:.0f} T")


def _stand(look: Look, figure: go.Figure, kernel: Kernel, roofs: Sequence[Roof]) -> None:
    """The rule of one kernel, its dots under the roofs and its name at the foot."""
    colour = look.theme.fill(kernel.hue)
    line = {"color": colour, "width": look.px(1.5), "dash": "dot"}
    figure.add_shape(type="line", yref="paper", y0=0, y1=1, x0=kernel.intensity, x1=kernel.intensity, line=line)
    dots: Parts = {"type": "scatter", "mode": "markers", "x": [kernel.intensity] * len(roofs)}
    dots |= {"y": [roof.reached(kernel.intensity) for roof in roofs], "customdata": [plot_text(r.name) for r in roofs]}
    dots["marker"] = {"color": colour, "size": look.px(8), "line": {"color": look.theme.paper, "width": 1}}
    head = f"<b>{plot_text(kernel.name)}</b> · {spoken(round(kernel.intensity, 2))} FLOP/B"
    figure.add_trace(dots | {"hovertemplate": head + "<br>%{customdata}: %{y:.3s}FLOP/s<extra></extra>"})
    foot = {"xref": "x", "xanchor": "left", "yanchor": "bottom", "textangle": -90, "xshift": 2}
    text = f"{plot_text(kernel.name)} · {spoken(round(kernel.intensity, 1))}"
    figure.add_annotation(note(look, text, math.log10(kernel.intensity), 0, **foot))


def _alt(look: Look, roofs: Sequence[Roof], kernels: Sequence[Kernel]) -> str:
    said = [
        f"{kernel.name} {spoken(round(kernel.intensity, 2))}: "
        + ", ".join(f"{roof.name} {roof.reached(kernel.intensity) / 1e12:.3g} TFLOP/s" for roof in roofs)
        for kernel in kernels
    ]
    return t("figure.alt_roofline", look.lang, names="; ".join(said))
