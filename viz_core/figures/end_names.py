"""Names of curves beside their ends, pushed apart where they would touch; above the plot on a phone.

A name stands in ink beside a dot in its curve's colour: the hues are too light to be read as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from viz_core.figures.labels import plot_text
from viz_core.figures.layout import Look, Parts, note
from viz_core.figures.matrix_axes import text_px


@dataclass(frozen=True, slots=True)
class End:
    """A curve's name, its last value in words, its colour, and how high it ends (0 bottom, 1 top)."""

    name: str
    value: str
    colour: str
    height: float


def names_px(look: Look, ends: Sequence[End]) -> float:
    """The right margin that the names need, in px."""
    widths = (text_px(f"●  {end.name} {end.value}", look.size(13)) for end in ends)
    return max(widths, default=0) + look.px(16)


def end_names(look: Look, ends: Sequence[End], area: float, panel: tuple[float, float] = (0, 1)) -> list[Parts]:
    """The names as annotations of a plot `area` px high, or of the panel of it between two shares of its height."""
    low, high = panel
    area *= high - low
    places = spread([end.height * area for end in ends], look.size(13) * 1.35)
    out = []
    for i, end in enumerate(ends):
        value = f" <b>{plot_text(end.value)}</b>" if end.value else ""
        text = f'<span style="color:{end.colour}">●</span> {plot_text(end.name)}{value}'
        side = {"xanchor": "left", "yanchor": "middle", "font": look.text()}
        if look.phone:
            out.append(note(look, text, 0, high, yshift=look.px(20) * (len(ends) - i) + look.px(16), **side))
        else:
            out.append(note(look, text, 1, low + (high - low) * places[i] / max(area, 1), xshift=6, **side))
    return out


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Places moved as little as needed to lie at least `gap` apart, in their order."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    out = list(places)
    for _ in range(50):
        for low, high in pairwise(order):
            if (close := gap - (out[high] - out[low])) > 1e-9:
                out[low], out[high] = out[low] - close / 2, out[high] + close / 2
    return out
