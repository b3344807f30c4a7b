"""Prefill and decode on one time line, with the arithmetic intensity of each against the ridge of each GPU.

Above: one bar a pass through the model, as long as it takes. Below: how many operations each pass does per byte it
reads (log scale); a pass over a GPU's ridge (its peak operations divided by its bandwidth) is limited by compute, one
below it by memory. Times and intensities are measured or counted by the caller; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz_core.figures.curves import axis_name
from viz_core.figures.end_names import spread
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame, note
from viz_core.figures.matrix_axes import text_px
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, place, reach, shown_range, ticks
from viz_core.figures.theme import Hue
from viz_core.i18n import t

Starts = NDArray[np.float64]
Kind = Literal["prefill", "decode"]
HUE: dict[Kind, Hue] = {"prefill": "E", "decode": "F"}
SPLIT = 0.62  # share of the height that the intensities take; the bars stand above


@dataclass(frozen=True, slots=True)
class Segment:
    """One pass through the model: its kind, how many tokens it computes, how long it takes, and its FLOPs per byte."""

    kind: Kind
    tokens: int
    length: float
    intensity: float


@dataclass(frozen=True, slots=True)
class Ridge:
    """A GPU by name, and the FLOPs per byte from which it is limited by compute."""

    name: str
    intensity: float


def timeline(
    look: Look, segments: Sequence[Segment], ridges: Sequence[Ridge], x: Scale, height: float = 320
) -> go.Figure:
    """The passes in order; `x` names the unit of their lengths (seconds, or steps)."""
    starts = np.concatenate([[0.0], np.cumsum([s.length for s in segments])])
    y = Scale(t("figure.intensity", look.lang), "log")
    up = reach(y, [np.array([s.intensity for s in segments] + [r.intensity for r in ridges], float)])
    data = [trace for kind in HUE for trace in _kind(look, segments, starts, kind, ridges)]
    across = axis(look, plot_text(x.title), range=[0, float(starts[-1]) or 1.0], anchor="y", **ticks(x))
    bare = {"range": [0, 1], "visible": False, "domain": [SPLIT + 0.16, 1], "fixedrange": True}
    return frame(
        look,
        data,
        _alt(look, segments, ridges),
        look.px(height),
        bargap=0,
        xaxis=across,
        yaxis=axis(look, "", grid=True, type="log", range=shown_range(up, y), domain=[0, SPLIT], **ticks(y)),
        yaxis2=bare,
        margin={"l": 8, "r": round(_right(look, ridges)), "t": round(look.px(28)), "b": 8},
        annotations=[_names(look, segments), *_ridge_names(look, ridges, up, height), _intensity_name(look)],
        shapes=[_ridge(look, ridge) for ridge in ridges],
    )


def verdict(segment: Segment, ridge: Ridge) -> str:
    """The catalogue key of what limits a pass on a GPU."""
    return "figure.compute_bound" if segment.intensity > ridge.intensity else "figure.memory_bound"


def _kind(look: Look, segments: Sequence[Segment], starts: Starts, kind: Kind, ridges: Sequence[Ridge]) -> list[Parts]:
    """The bars of one kind above, its intensities below."""
    chosen = [i for i, segment in enumerate(segments) if segment.kind == kind]
    colour = look.theme.fill(HUE[kind])
    shared: Parts = {
        "type": "bar",
        "x": [float(starts[i] + segments[i].length / 2) for i in chosen],
        "width": [segments[i].length for i in chosen],
        "customdata": [_hover(look, segments[i], ridges) for i in chosen],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": colour, "line": {"color": look.theme.paper, "width": 1 if len(segments) < 120 else 0}},
    }
    above = shared | {"y": [1] * len(chosen), "yaxis": "y2"}
    edges = [edge for i in chosen for edge in (float(starts[i]), float(starts[i + 1]), None)]
    level = [value for i in chosen for value in (segments[i].intensity, segments[i].intensity, None)]
    said = [text for i in chosen for text in (_hover(look, segments[i], ridges),) * 3]
    line = {"color": colour, "width": look.px(4)}
    below = {"type": "scatter", "mode": "lines", "x": edges, "y": level, "line": line, "customdata": said}
    return [above, below | {"hovertemplate": "%{customdata}<extra></extra>"}]


def _hover(look: Look, segment: Segment, ridges: Sequence[Ridge]) -> str:
    head = t(f"figure.{segment.kind}", look.lang)
    lines = [
        f"<b>{head}</b> · " + t("figure.tokens", look.lang, n=f"{segment.tokens:,}"),
        t("figure.intensity", look.lang) + " " + spoken(segment.intensity),
    ]
    lines += [f"{plot_text(r.name)}: {t(verdict(segment, r), look.lang)}" for r in ridges]
    return "<br>".join(lines)


def _names(look: Look, segments: Sequence[Segment]) -> Parts:
    """Prefill and decode in a line above the bars, with how many tokens each computes."""
    words = []
    for kind in HUE:
        if tokens := sum(segment.tokens for segment in segments if segment.kind == kind):
            dot = f'<span style="color:{look.theme.fill(HUE[kind])}">■</span>'
            words.append(f"{dot} {t(f'figure.{kind}', look.lang)} · {t('figure.tokens', look.lang, n=f'{tokens:,}')}")
    return note(look, "    ".join(words), 0, 1, xanchor="left", yanchor="bottom", font=look.text())


def _ridge(look: Look, ridge: Ridge) -> Parts:
    line = {"color": look.theme.ink, "width": 1, "dash": "dash"}
    ends = {"x0": 0, "x1": 1, "y0": ridge.intensity, "y1": ridge.intensity}
    return {"type": "line", "xref": "paper", "yref": "y", "line": line} | ends


def _ridge_texts(ridges: Sequence[Ridge]) -> list[str]:
    return [f"{plot_text(ridge.name)} {spoken(ridge.intensity)}" for ridge in ridges]


def _right(look: Look, ridges: Sequence[Ridge]) -> float:
    return 16 if look.phone else max((text_px(text, look.size(12)) for text in _ridge_texts(ridges)), default=0) + 16


def _ridge_names(look: Look, ridges: Sequence[Ridge], up: tuple[float, float], height: float) -> list[Parts]:
    """The GPUs' names at the right of their ridges, pushed apart; on a phone inside the plot."""
    area = SPLIT * (look.px(height) - look.px(80))
    places = spread([place(r.intensity, up, Scale(spacing="log")) * area for r in ridges], look.size(12) * 1.35)
    inside: Parts = {"xanchor": "right", "yanchor": "bottom"}
    beside: Parts = {"xanchor": "left", "yanchor": "middle", "xshift": 6}
    side = (inside if look.phone else beside) | {"font": look.text(12)}
    return [note(look, text, 1, SPLIT * y / area, **side) for text, y in zip(_ridge_texts(ridges), places, strict=True)]


def _intensity_name(look: Look) -> Parts:
    return axis_name(look, t("figure.intensity", look.lang)) | {"y": SPLIT, "yshift": look.px(4)}


def _alt(look: Look, segments: Sequence[Segment], ridges: Sequence[Ridge]) -> str:
    said = []
    for kind in HUE:
        chosen = [segment for segment in segments if segment.kind == kind]
        if chosen:
            limits = ", ".join(f"{r.name} {t(verdict(chosen[-1], r), look.lang)}" for r in ridges)
            said.append(f"{t(f'figure.{kind}', look.lang)} {spoken(chosen[-1].intensity)} FLOP/B ({limits})")
    return t("figure.alt_timeline", look.lang, n=len(segments), names="; ".join(said))
