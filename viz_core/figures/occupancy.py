"""Who owns each block at each step: time to the right, one row a block, an owner's colour and letter.

Cells are bytes: 0 is free, k is the k-th owner; more than six owners repeat the hues, told apart by their letters and
the hover. A run longer than STEPS is shown at every k-th step, which the axis says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz_core.figures.curves import axis_name
from viz_core.figures.labels import plot_text, shortened
from viz_core.figures.layout import Look, Parts, axis, frame
from viz_core.figures.matrix_axes import text_px
from viz_core.figures.scales import whole_ticks
from viz_core.figures.theme import HUES
from viz_core.i18n import Problem, t

CELLS: Final = 320_000  # bytes of cells: under 450 KB of base64
NAMED: Final = 10_000  # cells whose hover names their owner
MOST_LETTERS: Final = 12  # of a name in its cells
LETTERED: Final = 14  # px a block's row needs to carry letters


def occupancy(
    look: Look,
    owners: NDArray[np.integer],
    names: Sequence[str],
    cursor: int | None = None,
    height: float = 320,
    shared: str = "",
) -> go.Figure:
    """owners (steps, blocks): 0 free, k owned by names[k - 1]; `cursor` marks one step.

    With a word for `shared`, len(names) + 1 stands for several owners: grey, and the word in place of a name.
    Raises Problem for an owner without a name or more than 250 owners.
    """
    steps, blocks = owners.shape
    tones = [look.theme.fill(HUES[k % len(HUES)]) for k in range(len(names))]
    letters = [look.theme.letter(HUES[k % len(HUES)]) for k in range(len(names))]
    if shared:
        names, tones, letters = [*names, shared], [*tones, look.theme.shared], [*letters, look.theme.letter("B")]
    if len(names) > 250 + bool(shared) or (owners.size and (owners.min() < 0 or owners.max() > len(names))):
        raise Problem("figure_owners", names=len(names), most=250)
    every = max(1, math.ceil(owners.size / CELLS))
    shown = owners[::every].T.astype(np.uint8)
    row = (look.px(height) - look.px(60)) / max(blocks, 1)
    title = t("figure.step_axis", look.lang) if every == 1 else t("figure.step_axis_thinned", look.lang, every=every)
    at = None if cursor is None else cursor + 1  # steps are counted from 1
    rule = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": at, "x1": at}
    return frame(
        look,
        [_cells(look, shown, every, tones, names), *_letters(look, shown, every, names, letters, row)],
        t("figure.alt_occupancy", look.lang, blocks=blocks, steps=steps, used=_used(owners)),
        look.px(height),
        xaxis=axis(look, title, range=[0.5, max(steps, 1) + 0.5], **whole_ticks(1, max(steps, 1), 8)),
        yaxis=axis(look, "", range=[blocks - 0.5, -0.5], showline=False, **whole_ticks(0, max(blocks - 1, 0), 6)),
        margin={"l": 8, "r": 16, "t": round(look.px(28)), "b": 8},
        annotations=[axis_name(look, t("figure.block_axis", look.lang)) | {"yshift": look.px(4)}],
        shapes=[] if cursor is None else [rule | {"line": {"color": look.theme.ink, "width": 2}}],
    )


def _used(owners: NDArray[np.integer]) -> str:
    return f"{100 * float((owners > 0).mean()):.0f} %" if owners.size else "0 %"


def _cells(look: Look, shown: NDArray[np.uint8], every: int, tones: Sequence[str], names: Sequence[str]) -> Parts:
    count = len(tones)
    tones = [look.theme.sequential[0], *tones]
    words = [t("figure.free", look.lang), *(plot_text(name) for name in names)]
    named = shown.size <= NAMED  # the hover of a larger figure gives an owner's number: its names would weigh too much
    owner = "%{text}" if named else f"%{{z}} (0 = {words[0]})"
    steps = [(k + side) / (count + 1) for k in range(count + 1) for side in (0, 1)]
    return {
        "type": "heatmap",
        "z": shown,
        "x0": 1,
        "dx": every,
        "zmin": -0.5,
        "zmax": count + 0.5,
        "colorscale": [[at, tones[i // 2]] for i, at in enumerate(steps)],
        "showscale": False,
        "ygap": 1 if shown.shape[0] <= 64 else 0,
        "hovertemplate": t("figure.block_hover", look.lang, block="%{y}", step="%{x}", owner=owner) + "<extra></extra>",
    } | ({"text": [[words[k] for k in row] for row in shown.tolist()]} if named else {})


def _letters(
    look: Look, shown: NDArray[np.uint8], every: int, names: Sequence[str], letters: Sequence[str], row: float
) -> list[Parts]:
    """An owner's name at the start of each of its runs that is long enough, where rows are high enough."""
    if row < look.px(LETTERED) or not shown.size:
        return []
    wide = (look.width - look.px(80)) / shown.shape[1]  # px a column
    names = [shortened(name, MOST_LETTERS) for name in names]
    room = [max(1, math.ceil((text_px(name, look.size(12)) + 4) / wide)) for name in names]
    spots = [
        (1 + (a + (room[owner - 1] - 1) / 2) * every, block, owner)
        for block in range(shown.shape[0])
        for a, b in runs(shown[block])
        if (owner := int(shown[block, a])) and b - a >= room[owner - 1]
    ]
    return [
        {
            "type": "scatter",
            "mode": "text",
            "x": [step for step, _, owner in spots if owner == k],
            "y": [block for _, block, owner in spots if owner == k],
            "text": [plot_text(names[k - 1])] * sum(owner == k for *_, owner in spots),
            "textfont": look.text(12, letters[k - 1]),
            "hoverinfo": "skip",
        }
        for k in sorted({owner for *_, owner in spots})
    ]


def runs(row: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """The [start, stop) of equal neighbours."""
    edges = [0, *(np.flatnonzero(np.diff(row.astype(np.int16))) + 1).tolist(), row.size]
    return list(pairwise(edges))
