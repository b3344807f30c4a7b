"""Two histograms on one axis: before above, after below, hanging down.

Both halves use the same bins and the same count axis; a log axis counts from 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame, note
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, Spacing, room, ticks
from viz_core.i18n import t

BINS = 240


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of the same bins before and after.

    `left_out` values are not finite; `beyond` values lie outside the bins. Neither is counted.
    """

    edges: NDArray[np.float64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    left_out: int
    beyond: int

    @property
    def top(self) -> int:
        """The largest count of any bin."""
        return max(int(self.before.max(initial=0)), int(self.after.max(initial=0)), 1)


def tally(before: ArrayLike, after: ArrayLike, bins: int = BINS, share: float = 1.0) -> Tally:
    """Counts both in equal bins from the least to the largest value of either.

    With a `share` below 1 the bins span that central share of `before`, so that a few outliers do not squeeze the rest.
    """
    sides = [np.asarray(side, np.float64).ravel() for side in (before, after)]
    kept = [side[np.isfinite(side)] for side in sides]
    low, high = _span(kept, share)
    free = room(low, high, 0, bins)
    low, high = low - free, high + free
    counts = [np.histogram(side, bins, (low, high))[0] for side in kept]
    finite = sum(side.size for side in kept)
    lost, counted = sum(side.size for side in sides) - finite, int(sum(half.sum() for half in counts))
    return Tally(np.linspace(low, high, bins + 1), counts[0], counts[1], lost, finite - counted)


def _span(kept: list[NDArray[np.float64]], share: float) -> tuple[float, float]:
    """Where the bins begin and end, if they have any width."""
    if share < 1 and kept[0].size:
        low, high = np.quantile(kept[0], [0.5 - share / 2, 0.5 + share / 2]).tolist()
    else:
        ends = [float(f(side)) for side in kept if side.size for f in (np.min, np.max)] or [0.0, 1.0]
        low, high = min(ends), max(ends)
    return low, high


def mirrored(
    look: Look,
    counts: Tally,
    x: Scale,
    names: tuple[str, str],
    spacing: Spacing = "linear",
    height: float = 380,
) -> go.Figure:
    """Both halves, named by `names`; a bar says its interval and its count."""
    top = counts.top
    low, high = (float(counts.edges[0]), float(counts.edges[-1]))
    upper, lower = _count_axis(look, top, spacing), _count_axis(look, top, spacing)
    lower |= {"range": lower["range"][::-1], "domain": [0, 0.48]}
    halves = ((counts.before, "", names[0]), (counts.after, "2", names[1]))
    return frame(
        look,
        [_bars(look, counts.edges, *half) for half in halves],
        t("figure.alt_mirrored", look.lang, before=_filled(counts.before), after=_filled(counts.after), x=x.title),
        look.px(height),
        bargap=0,
        xaxis=axis(look, plot_text(x.title), range=[low, high], anchor="y2", **ticks(x)),
        yaxis=upper | {"domain": [0.52, 1]},
        yaxis2=lower,
        margin={"l": 8, "r": 16, "t": round(look.px(24)), "b": 8},
        annotations=[_name(look, names[0], 1, "bottom", 0), _name(look, names[1], 0, "bottom", 4)],
    )


def _count_axis(look: Look, top: int, spacing: Spacing) -> Parts:
    """Counts from 0, or from just under 1 on a log axis."""
    ends = [0, top * 1.05] if spacing == "linear" else [-0.15, float(np.log10(top)) + 0.1]
    return axis(look, "", grid=True, type=spacing, range=ends, **ticks(Scale(spacing=spacing), 4))


def _bars(look: Look, edges: NDArray[np.float64], counts: NDArray[np.int64], side: str, name: str) -> Parts:
    said = _intervals(edges, counts)
    middles = (edges[1:] + edges[:-1]) / 2
    seen = counts > 0
    return {
        "type": "bar",
        "x": middles[seen].tolist(),
        "y": counts[seen].tolist(),
        "width": float(edges[1] - edges[0]),
        "yaxis": f"y{side}",
        "marker": {"color": look.theme.fill("B" if side else "A"), "line": {"width": 0}},
        "customdata": [plot_text(said[k]) for k in np.flatnonzero(seen).tolist()],
        "hovertemplate": f"<b>{plot_text(name)}</b><br>%{{customdata}}<extra></extra>",
    }


def _intervals(edges: NDArray[np.float64], counts: NDArray[np.int64]) -> list[str]:
    """For each bin its ends and its count."""
    return [f"{spoken(float(a))} … {spoken(float(b))}: {n:,}"
            for a, b, n in zip(edges[:-1], edges[1:], counts.tolist(), strict=True)]


def _name(look: Look, name: str, y: float, anchor: str, up: float) -> Parts:
    place = {"xanchor": "left", "yanchor": anchor, "xshift": 4, "yshift": up, "font": look.text()}
    return note(look, f"<b>{plot_text(name)}</b>", 0, y, **place)


def _filled(counts: NDArray[np.int64]) -> str:
    """In how many bins the values lie."""
    return spoken(int((counts > 0).sum()))
