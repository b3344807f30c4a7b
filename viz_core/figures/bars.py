"""Horizontal bars with their numbers, plain or stacked: read from the left, names in full, nothing on a slant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame
from viz_core.figures.matrix_axes import text_px
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale, reach, shown_range, ticks
from viz_core.figures.theme import HUES, Hue
from viz_core.i18n import t

PATTERNS = ("", "/", ".", "x", "\\", "-")


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its name, its length, the number written at its end (the length by default), its hue.

    `detail` is a further line of the hover; `pale` draws a quoted or reference bar at 35 %.
    `cut` marks a bar that is drawn shorter than its number.
    """

    name: str
    value: float
    text: str = ""
    hue: Hue = "A"
    detail: str = ""
    pale: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """One bar of several parts, in the order of the legend's names."""

    name: str
    parts: tuple[float, ...]


def bars(look: Look, rows: Sequence[Bar], x: Scale) -> go.Figure:
    """Bars from top to bottom; on a log axis the scale needs a range, for a bar has no natural start there."""
    values = [row.value for row in rows]
    texts = [plot_text(row.text or spoken(row.value)) for row in rows]
    low, high = reach(x, [np.array([0.0, *values])])
    trace: Parts = {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": list(range(len(rows))),
        "text": [f"<b>{text}</b>" for text in texts],
        "textposition": "outside",
        "textfont": look.digits(),
        "cliponaxis": False,
        "width": 0.62,
        "marker": {
            "color": [look.theme.fill(row.hue, 0.35 if row.pale else 1) for row in rows],
            "line": {"color": [look.theme.fill(row.hue) for row in rows], "width": [int(row.pale) for row in rows]},
        },
        "customdata": [plot_text(row.name) + (f"<br>{plot_text(row.detail)}" if row.detail else "") for row in rows],
        "hovertemplate": [
            f"<b>%{{customdata}}</b><br>{plot_text(x.title)} {text if row.cut else f'%{{x:{x.digits}}}'}<extra></extra>"
            for row, text in zip(rows, texts, strict=True)
        ],
    }
    named = ", ".join(f"{row.name} {row.text or spoken(row.value)}" for row in rows)
    right = max((text_px(row.text or spoken(row.value), look.size(13)) * 1.1 for row in rows), default=0) + look.px(16)
    return frame(
        look,
        [trace],
        t("figure.alt_bars", look.lang, x=x.title, names=named),
        look.px(34) * len(rows) + look.px(52),
        xaxis=axis(look, plot_text(x.title), type=x.spacing, range=shown_range((low, high), x), **_ticks(look, x)),
        yaxis=_rows(look, [row.name for row in rows]),
        margin={"l": 8, "r": round(right), "t": 4, "b": 8},
        shapes=[_gap(look, row.value, i, high - low) for i, row in enumerate(rows) if row.cut],
    )


def _gap(look: Look, end: float, row: int, width: float) -> Parts:
    """A slanted gap near the end of a bar, as where an axis is broken."""
    left, wide = end - 0.06 * width, 0.012 * width
    corners = [(left, row + 0.4), (left + wide, row + 0.4), (left + 3 * wide, row - 0.4), (left + 2 * wide, row - 0.4)]
    path = "M" + "L".join(f"{x} {y}" for x, y in corners) + "Z"
    return {"type": "path", "path": path, "fillcolor": look.theme.paper, "line": {"width": 0}}


def stacks(
    look: Look, rows: Sequence[Stack], names: Sequence[str], x: Scale, hues: Sequence[Hue] = HUES, rest: bool = False
) -> go.Figure:
    """Stacked bars with a number in each part that has room; the legend above names the parts and their patterns.

    With `rest` the last part is what is left over: pale, with nothing to warn of.
    """
    whole = max((sum(row.parts) for row in rows), default=1.0) or 1.0
    room = (look.width - max((text_px(row.name, look.size(13)) for row in rows), default=0) - 32) / whole
    tones = [(look.theme.fill(hue), look.theme.letter(hue)) for hue in hues]
    tones[len(names) - 1 :] = [(look.theme.sequential[0], look.theme.ink)] if rest else tones[len(names) - 1 :]
    data = [_part(look, rows, name, k, tones[k], x, room) for k, name in enumerate(names)]
    said = "; ".join(
        f"{row.name}: " + ", ".join(f"{name} {spoken(part)}" for name, part in zip(names, row.parts, strict=True))
        for row in rows
    )
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "traceorder": "normal"}
    return frame(
        look,
        data,
        t("figure.alt_bars", look.lang, x=x.title, names=said),
        look.px(38) * len(rows) + look.px(96 if look.phone else 76),
        barmode="stack",
        showlegend=True,
        legend=legend | {"font": look.text(), "itemclick": False, "itemdoubleclick": False},
        xaxis=axis(look, plot_text(x.title), range=list(x.range or (0, whole * 1.01)), **_ticks(look, x)),
        yaxis=_rows(look, [row.name for row in rows]),
        margin={"l": 8, "r": 16, "t": round(look.px(48 if look.phone else 28)), "b": 8},
    )


def _part(look: Look, rows: Sequence[Stack], name: str, k: int, tone: tuple[str, str], x: Scale, room: float) -> Parts:
    values = [row.parts[k] for row in rows]
    texts = [spoken(value) for value in values]
    fits = [text_px(text, look.size(12)) + 8 < value * room for text, value in zip(texts, values, strict=True)]
    return {
        "type": "bar",
        "orientation": "h",
        "name": plot_text(name),
        "x": values,
        "y": list(range(len(rows))),
        "text": [f"<b>{text}</b>" if fit else "" for text, fit in zip(texts, fits, strict=True)],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": look.digits(12, tone[1]),
        "width": 0.66,
        "marker": {
            "color": tone[0],
            "line": {"color": look.theme.paper, "width": 1},
            "pattern": {
                "shape": PATTERNS[k % len(PATTERNS)], "fillmode": "overlay", "size": 9, "solidity": 0.1,
                "fgcolor": tone[1], "fgopacity": 0.25,  # fainter than the number that stands on it
            },
        },
        "customdata": [plot_text(row.name) for row in rows],
        "hovertemplate": f"<b>%{{customdata}}</b><br>{plot_text(name)} %{{x:{x.digits}}}<extra></extra>",
    }


def _ticks(look: Look, x: Scale) -> Parts:
    return ticks(x, 3 if look.phone else 6)


def _rows(look: Look, names: Sequence[str]) -> Parts:
    """The names of bars on integer rows, first on top."""
    named: Parts = {"tickvals": list(range(len(names))), "ticktext": [plot_text(name) + " " for name in names]}
    bare: Parts = {"range": [len(names) - 0.5, -0.5], "ticks": "", "showline": False, "tickfont": look.text()}
    return axis(look, "", **named, **bare)
