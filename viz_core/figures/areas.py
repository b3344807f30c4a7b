"""Shares of a whole over time, stacked: used, reserved, wasted. The bands are named at their right ends, each with the
most it ever is: its last size is often 0 and says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from viz_core.figures.curves import axis_name
from viz_core.figures.end_names import End, end_names, names_px
from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, place, reach, shown_range, ticks
from viz_core.figures.theme import Hue
from viz_core.i18n import Problem, t

PATTERNS = ("", "/", ".", "x", "\\", "-")


@dataclass(frozen=True, slots=True)
class Band:
    """One share: its name, its size at each step (n,), its hue."""

    name: str
    y: ArrayLike
    hue: Hue


def areas(
    look: Look, steps: ArrayLike, bands: Sequence[Band], x: Scale, y: Scale, cursor: float | None = None
) -> go.Figure:
    """The bands from the bottom up over the steps (n,); each changes at a step and stays until the next."""
    at = np.asarray(steps, np.float64)
    sizes = [np.asarray(band.y, np.float64) for band in bands]
    if any(size.shape != at.shape for size in sizes):
        raise Problem("figure_bands", steps=at.size, names=", ".join(band.name for band in bands))
    total = np.sum(sizes, axis=0) if sizes else np.zeros(at.shape)
    up = reach(y, [total, np.zeros(1)])
    height, top = look.px(280), look.px(34) + (look.px(20) * len(bands) if look.phone else 0)
    ends = _ends(look, bands, sizes, y, up)
    rule = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": cursor, "x1": cursor}
    return frame(
        look,
        [_band(look, band, k, at, sizes[k], x) for k, band in enumerate(bands)],
        t("figure.alt_curves", look.lang, y=y.title, x=x.title, names=", ".join(f"{e.name} {e.value}" for e in ends)),
        height,
        xaxis=axis(look, plot_text(x.title), range=list(reach(x, [_closed(at)])), **ticks(x)),
        yaxis=axis(look, "", grid=True, range=shown_range(up, y), **ticks(y)),
        margin={"l": 8, "r": 16 if look.phone else round(names_px(look, ends)), "t": round(top), "b": 8},
        annotations=[*end_names(look, ends, height - top - look.px(52)), axis_name(look, y.title)],
        shapes=[] if cursor is None else [rule | {"line": {"color": look.theme.ink, "width": 1.5}}],
    )


def _band(look: Look, band: Band, k: int, at: np.ndarray, size: np.ndarray, x: Scale) -> Parts:
    name = plot_text(band.name)
    return {
        "type": "scatter",
        "mode": "lines",
        "stackgroup": "all",
        "x": _closed(at).tolist(),
        "y": [*size.tolist(), *size[-1:].tolist()],
        "customdata": [*at.tolist(), *at[-1:].tolist()],
        "line": {"width": 0, "shape": "hv", "color": look.theme.fill(band.hue)},
        "fillcolor": look.theme.fill(band.hue),
        "fillpattern": {"shape": PATTERNS[k % len(PATTERNS)], "size": 6, "solidity": 0.15},
        "hoveron": "points",
        "hovertemplate": f"<b>{name}</b> %{{y:,.4~g}}<br>{plot_text(x.title)} %{{customdata}}<extra></extra>",
    }


def _closed(at: np.ndarray) -> np.ndarray:
    """The steps and where the last one ends: as wide as the one before, or 1."""
    return np.append(at, at[-1] + (at[-1] - at[-2] if at.size > 1 else 1)) if at.size else at


def _ends(
    look: Look, bands: Sequence[Band], sizes: Sequence[np.ndarray], y: Scale, up: tuple[float, float]
) -> list[End]:
    """Each band's name with its peak, at the middle of its last thickness."""
    out, floor = [], 0.0
    for band, size in zip(bands, sizes, strict=True):
        last = float(size[-1]) if size.size else 0.0
        peak = t("figure.peak", look.lang, value=spoken(round(float(size.max()), 2))) if size.size else ""
        out.append(End(band.name, peak, look.theme.fill(band.hue), place(floor + last / 2, up, y)))
        floor += last
    return out
