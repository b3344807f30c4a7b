"""The real bits of a block, byte after byte, coloured by what they are part of: scale, minimum, codes.

A byte is written with its highest bit first, as in text; bytes run in memory order. Neighbouring codes differ in shade,
so that it can be seen where one ends. The hover names the byte, the bit, and what it belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz_core.figures.labels import plot_text
from viz_core.figures.layout import MONO, Look, Parts, frame, note
from viz_core.figures.theme import HUES, faded
from viz_core.i18n import Problem, t

ODD: Final = 0.55  # opacity of every second code
CELL: Final = 18  # px of a bit's row
DIGITS: Final = 2048  # bits that carry their 0 or 1
MOST: Final = 16_384  # bits of one figure


@dataclass(frozen=True, slots=True)
class Bits:
    """Bits of a block in memory order, the lowest bit of each byte first, and what each belongs to.

    `bit` is 0 or 1; `role` an index into `roles`, whose names are in the reader's language (-1: unused); `index` says
    which code or scale, `weight` which bit of it, 0 the lowest. All have the same length, a multiple of 8.
    """

    bit: NDArray[np.integer]
    role: NDArray[np.integer]
    index: NDArray[np.integer]
    weight: NDArray[np.integer]
    roles: tuple[str, ...]

    def __post_init__(self) -> None:
        sizes = {self.bit.size, self.role.size, self.index.size, self.weight.size}
        if len(sizes) > 1 or self.bit.size % 8 or self.bit.size > MOST or len(self.roles) > len(HUES):
            raise Problem("figure_bits", sizes=", ".join(map(str, sorted(sizes))), most=MOST)


def bits(look: Look, block: Bits) -> go.Figure:
    """Rows of eight bytes, in a presentation of four, on a phone of two."""
    across = 2 if look.phone else 4 if look.zoom > 1 else 8
    rows = max(1, -(-block.bit.size // (8 * across)))
    order = np.arange(block.bit.size).reshape(-1, 8)[:, ::-1].ravel()  # highest bit of each byte first
    place = np.arange(block.bit.size)
    row, column = place // (8 * across), place % (8 * across)
    x = column + 0.5 * (column // 8)  # a gap after every byte
    hidden: Parts = {"visible": False, "fixedrange": True}
    return frame(
        look,
        [trace for k in range(-1, len(block.roles)) for trace in _role(look, block, k, order, x, row, across)],
        t("figure.alt_bits", look.lang, bytes=block.bit.size // 8, names=", ".join(_counts(block))),
        look.px(CELL) * 1.25 * rows + look.px(40),
        xaxis=hidden | {"range": [-0.8, 8.5 * across - 0.2]},
        yaxis=hidden | {"range": [rows - 0.3, -0.7]},
        margin={"l": 8, "r": 8, "t": round(look.px(32)), "b": 8},
        annotations=[_legend(look, block)],
    )


def _role(
    look: Look,
    block: Bits,
    k: int,
    order: NDArray[np.intp],
    x: NDArray[np.floating],
    row: NDArray[np.intp],
    across: int,
) -> list[Parts]:
    """The bits of one role as squares with their digit."""
    at = np.flatnonzero(block.role[order] == k)
    if not at.size:
        return []
    bit = order[at]
    size = min(look.px(CELL), (look.width - 24) / (8.5 * across + 0.6))
    colour = look.theme.rule if k < 0 else look.theme.fill(HUES[k])
    shade = [colour if i % 2 == 0 or k < 0 else faded(colour, ODD) for i in block.index[bit].tolist()]
    trace: Parts = {"type": "scatter", "mode": "markers", "x": x[at].tolist(), "y": row[at].tolist()}
    trace["marker"] = {"symbol": "square", "size": size, "color": shade, "line": {"width": 0}}
    trace["customdata"] = [_said(look, block, b) for b in bit.tolist()]
    trace["hovertemplate"] = "%{customdata}<extra></extra>"
    if block.bit.size <= DIGITS and size >= 9:
        ink = look.theme.muted if k < 0 else look.theme.letter(HUES[k])
        trace |= {"mode": "markers+text", "text": [str(v) for v in block.bit[bit].tolist()]}
        inks = [ink if tone == colour else look.theme.ink for tone in shade]
        trace["textfont"] = {"family": MONO, "size": min(look.size(12), size), "color": inks}
    return [trace]


def _said(look: Look, block: Bits, b: int) -> str:
    where = t("figure.bit_place", look.lang, byte=b // 8, bit=b % 8)
    if block.role[b] < 0:
        return where
    name = plot_text(block.roles[block.role[b]])
    own = t("figure.bit_of", look.lang, bit=block.weight[b])
    return f"{where}<br><b>{name} {block.index[b]}</b> · {own}"


def _counts(block: Bits) -> list[str]:
    """Each role that has bits, with how many."""
    sizes = [(name, int((block.role == k).sum())) for k, name in enumerate(block.roles)]
    return [f"{name} {size}" for name, size in sizes if size]


def _legend(look: Look, block: Bits) -> Parts:
    """Each role with its colour and how many bits it has."""
    shown = [k for k in range(len(block.roles)) if (block.role == k).any()]
    dots = [f'<span style="color:{look.theme.fill(HUES[k])}">■</span>' for k in shown]
    words = [f"{dot} {plot_text(text)}" for dot, text in zip(dots, _counts(block), strict=True)]
    return note(look, "   ".join(words), 0, 1, xanchor="left", yanchor="bottom", yshift=4, font=look.text())
