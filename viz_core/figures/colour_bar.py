"""The colour bar of a matrix: thin, horizontal, under the figure on every width, with its name beside it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, note

LENGTH: Final = 200  # px
ROOM: Final = 64  # px of bottom margin that the bar and its ticks need


def colour_bar(look: Look, values: NDArray[np.floating], end: float, signed: bool, step: float = 1.0) -> Parts:
    """A trace's `colorbar` for a range 0..end, or -end..end when signed; z counts steps of `step`.

    Its ends say ≥ and ≤ where values lie beyond the range.
    """
    ticks = [-end, 0.0, end] if signed else [0.0, end / 2, end]
    texts = [f"{tick:.2g}".replace("-", "−") for tick in ticks]
    texts[-1] = ("≥ " if np.nanmax(values, initial=0.0) > end else "") + texts[-1]
    texts[0] = ("≤ " if np.nanmin(values, initial=0.0) < ticks[0] else "") + texts[0]
    return {
        "orientation": "h",
        "thickness": look.px(10),
        "lenmode": "pixels",
        "len": look.px(LENGTH),
        "x": 0,
        "xanchor": "left",
        "xpad": 0,
        "y": 0,
        "yref": "container",
        "yanchor": "bottom",
        "ypad": 6,
        "outlinewidth": 0,
        "tickvals": [tick / step for tick in ticks],
        "ticktext": texts,
        "tickfont": look.digits(12, look.theme.muted),
    }


def bar_name(look: Look, name: str) -> Parts:
    """What the colours mean: to the right of the bar, on a phone above it."""
    x, y = (0.0, 48.0) if look.phone else (LENGTH + 28.0, 29.0)
    side = {"xanchor": "left", "yanchor": "middle", "xshift": look.px(x), "yshift": look.px(y - ROOM)}
    return note(look, plot_text(name), 0, 0, font=look.text(12, look.theme.muted), **side)
