"""The axes of a token × token matrix: integer positions, thinned tick labels, full tokens in the hover.

Two pairs of axes lie on each other. The visible pair has as many tick labels as there is room for. The hidden pair
has a tick at every position whose text is the token's hover line: `%{x}` and `%{y}` of a hover print it, so the tokens
cost n strings instead of n². Positions are numbers: a category axis merges equal tokens and reads "10" as a number.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from viz_core.figures.labels import LONGEST, Labels, tick_text
from viz_core.figures.layout import Look, Parts

STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200)
WIDEST: Final = 1.8  # a cell is at most this much wider than high: room for its number and its token, still a matrix


def text_px(text: str, size: float) -> float:
    """About how wide a text is drawn: Hanzi and other wide characters one em, the rest 0.58 em."""
    return size * sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.58 for c in text)


def step_for(widths: Sequence[float], cell: float) -> int:
    """Label every how many positions, so that no label touches the next one on a pitch of `cell` px."""
    for step in STEPS:
        shown = widths[::step]
        if all((a + b) / 2 + 2 <= step * cell for a, b in pairwise(shown)):
            return step
    return max(STEPS[-1], len(widths))


@dataclass(frozen=True, slots=True)
class Grid:
    """The geometry of a matrix in px: cells, margins for labels, and which positions are labelled.

    `longest` is how many characters a column's label may have.
    """

    width: float
    height: float
    left: float
    top: float
    row_step: int
    column_step: int
    angle: int
    longest: int


def grid(look: Look, rows: Labels, columns: Labels, side: float) -> Grid:
    """Fits a matrix with its labels into the look's width and at most `side` px of height."""
    size, longest = look.size(label_size(look, rows, columns)), 8 if look.phone else LONGEST
    across, down = ([text_px(text[:longest], size) for text in axis.texts] for axis in (columns, rows))
    left = max(down) + look.px(16)
    room = max(look.width - left - look.px(72), look.px(80))
    height = min(side / len(rows), room / len(columns))
    width = min(height * (1 if look.phone else WIDEST), room / len(columns))
    if width >= text_px("abcdef", size) and max(across) + 4 > width:  # room for a shortened label: better than upright
        longest = int(width / text_px("a", size)) - 1
        across = [text_px(text[:longest], size) for text in columns.texts]
    upright = step_for(across, width) > 1 and not look.phone and max(across) > 1.3 * size
    return Grid(
        width=width,
        height=height,
        left=left,
        top=(max(across) if upright else size) + look.px(12),
        row_step=step_for([size] * len(rows), height),
        column_step=step_for([size] * len(columns) if upright else across, width),
        angle=-90 if upright else 0,
        longest=longest,
    )


def label_size(look: Look, rows: Labels, columns: Labels) -> float:
    """Tokens are set larger where there are few and room for them."""
    return 14 if max(len(rows), len(columns)) <= 24 and not look.phone else 12


def axes(look: Look, rows: Labels, columns: Labels, fit: Grid) -> Parts:
    """Layout entries xaxis, yaxis (visible) and xaxis2, yaxis2 (hover) of a matrix drawn with row 0 on top."""
    bare: Parts = {"showgrid": False, "zeroline": False, "ticks": "", "tickmode": "array", "constrain": "domain"}
    bare |= {"fixedrange": True}
    across = bare | {"range": [-0.5, len(columns) - 0.5], "constraintoward": "left"}
    down = bare | {"range": [len(rows) - 0.5, -0.5], "constraintoward": "top"}
    seen: Parts = {"tickfont": look.text(label_size(look, rows, columns)), "showticklabels": True}
    hidden: Parts = {"showticklabels": False}
    shape = {"scaleanchor": "x", "scaleratio": round(fit.height / fit.width, 4)}
    named = _ticks(columns, fit.column_step, fit.longest)
    return {
        "xaxis": across | seen | named | {"side": "top", "tickangle": fit.angle},
        "yaxis": down | seen | _ticks(rows, fit.row_step, 8 if look.phone else LONGEST) | shape,
        "xaxis2": across | hidden | _hovers(columns) | {"overlaying": "x", "matches": "x"},
        "yaxis2": down | hidden | _hovers(rows) | {"overlaying": "y", "matches": "y"},
    }


def _ticks(labels: Labels, step: int, longest: int) -> Parts:
    shown = range(0, len(labels), step)
    return {"tickvals": list(shown), "ticktext": [tick_text(labels.texts[i], longest) for i in shown]}


def _hovers(labels: Labels) -> Parts:
    return {"tickvals": list(range(len(labels))), "ticktext": list(labels.hovers)}
