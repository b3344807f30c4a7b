"""The bits of a block, one cell a bit, in memory order: colour says what the bit is part of, the cell its value.

Within a byte the lowest bit comes first, as shifts and masks count. The legend above names the colours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, axis, frame
from viz_core.figures.theme import HUES
from viz_core.i18n import t

WIDE, NARROW = 64, 16  # bits in a row
MOST_WRITTEN = 1200  # cells up to which each shows its 0 or 1


def bitgrid(
    look: Look, bits: NDArray[np.uint8], roles: NDArray[np.integer], names: Sequence[str], hovers: Sequence[str]
) -> go.Figure:
    """`bits` (n,) with the role (n,) of each, an index into `names`; `hovers` say what each bit means (plain text)."""
    width = NARROW if look.phone else min(WIDE, max(8, bits.size))
    rows = -(-bits.size // width)
    used = sorted({int(role) for role in roles})
    data = [_cells(look, bits, roles, hovers, width, k, role) for k, role in enumerate(used)]
    legend = [_key(look, names[role], k) for k, role in enumerate(used)]
    said = ", ".join(f"{names[role]} {int((roles == role).sum())}" for role in used)
    cell = look.px(22 if rows < 12 else 15)
    bare: Parts = {"showgrid": False, "zeroline": False, "fixedrange": True, "showline": False, "ticks": ""}
    named = list(range(0, rows, max(1, rows // 12))) if rows > 1 else []
    return frame(
        look,
        [*data, *legend],
        t("figure.alt_bits", look.lang, names=said),
        cell * rows + look.px(56),
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1 + look.px(6) / (cell * rows), "yanchor": "bottom",
                "font": look.text(), "itemclick": False, "itemdoubleclick": False},
        xaxis=axis(look, "", range=[-0.5, width - 0.5], tickvals=[]) | bare,
        yaxis=axis(look, "", range=[rows - 0.5, -0.5], tickvals=named,
                   ticktext=[str(r * width // 8) for r in named]) | bare,
        margin={"l": 8, "r": 8, "t": round(look.px(44)), "b": 4},
    )


def _cells(
    look: Look,
    bits: NDArray[np.uint8],
    roles: NDArray[np.integer],
    hovers: Sequence[str],
    width: int,
    k: int,
    role: int,
) -> Parts:
    """All cells of one role as one heatmap of a single colour."""
    rows = -(-bits.size // width)
    own = [bool(x) for x in roles == role] + [False] * (rows * width - bits.size)
    texts = [str(int(bits[i])) if mine else "" for i, mine in enumerate(own)]
    said = [plot_text(hovers[i]) if mine else "" for i, mine in enumerate(own)]
    grid = np.array([1.0 if mine else None for mine in own], object).reshape(rows, width)
    hue = HUES[k % len(HUES)]
    return {
        "type": "heatmap",
        "z": grid.tolist(),
        "text": np.array(texts, object).reshape(rows, width).tolist(),
        "texttemplate": "%{text}" if bits.size <= MOST_WRITTEN else "",
        "textfont": look.digits(12, look.theme.letter(hue)),
        "customdata": np.array(said, object).reshape(rows, width).tolist(),
        "hovertemplate": "%{customdata}<extra></extra>",
        "hoverongaps": False,
        "colorscale": [[0, look.theme.fill(hue)], [1, look.theme.fill(hue)]],
        "showscale": False,
        "xgap": 1,
        "ygap": 2,
    }


def _key(look: Look, name: str, k: int) -> Parts:
    """A legend entry: heatmaps have none of their own."""
    marker = {"symbol": "square", "size": 12, "color": look.theme.fill(HUES[k % len(HUES)])}
    return {"type": "scatter", "mode": "markers", "x": [None], "y": [None], "name": plot_text(name), "marker": marker}
