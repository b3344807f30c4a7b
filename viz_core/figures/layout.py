"""What all figures share: size, type, axes, the export buttons and the sentence for screen readers.

A figure is drawn for a width that the page only knows roughly; ranges, sizes and margins are fixed, so that a figure
changes in place when its data change. No TeX: labels come escaped from `labels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import plotly.graph_objects as go

from viz_core.figures.theme import LIGHT, Theme
from viz_core.i18n import Lang

SANS: Final = "Source Sans, Source Sans Pro, PingFang SC, Microsoft YaHei, Noto Sans CJK SC, sans-serif"
MONO: Final = (
    "Source Code, Source Code Pro, SF Mono, Menlo, Consolas, DejaVu Sans Mono, "
    "PingFang SC, Microsoft YaHei, Noto Sans CJK SC, monospace"
)
PHONE: Final = 480  # narrower figures are laid out for a phone
Parts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """For whom a figure is drawn: colours, language, the width it will have in px, and the type size.

    `width` decides the layout (below 480 px the phone's: legend above, colour bar below, no slanted labels), not the
    drawn size, which follows the page. `zoom` is 1, or 1.5 in presentation mode.
    """

    theme: Theme = LIGHT
    lang: Lang = "en"
    width: int = 920
    zoom: float = 1.0

    @property
    def phone(self) -> bool:
        """Whether the figure is laid out for a phone."""
        return self.width < PHONE

    def size(self, base: float = 13) -> float:
        """A type size in px: never below 12, in presentation mode never below 20."""
        return max(base * self.zoom, 12 if self.zoom == 1 else 20)

    def px(self, length: float) -> float:
        """A length that grows with the type."""
        return length * self.zoom

    def text(self, base: float = 13, colour: str | None = None) -> Parts:
        """A font for words."""
        return {"family": SANS, "size": self.size(base), "color": colour or self.theme.ink}

    def digits(self, base: float = 13, colour: str | None = None) -> Parts:
        """A font for numbers: monospace, so that digits line up."""
        return {"family": MONO, "size": self.size(base), "color": colour or self.theme.ink}


def frame(look: Look, data: list[Parts], alt: str, height: float, **layout: Any) -> go.Figure:
    """A figure in the app's look. `alt` is one sentence that says what it shows; read it back with `alt_text`."""
    base: Parts = {
        "height": round(height),
        "autosize": True,
        "font": look.text(),
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": look.theme.panel,
            "bordercolor": look.theme.muted,
            "font": look.text(),
            "align": "left",
            "namelength": -1,
        },
        "meta": {"alt": alt},
        "template": None,
    }
    return go.Figure({"data": data, "layout": base | layout})


def alt_text(figure: go.Figure) -> str:
    """The sentence that says what a figure shows, for `alt=`."""
    return str(figure.layout.meta["alt"])


def axis(look: Look, title: str = "", grid: bool = False, **parts: Any) -> Parts:
    """A number axis: a thin rule, digits that line up, no zero line, fixed range."""
    base: Parts = {
        "title": {"text": title, "font": look.text(colour=look.theme.muted), "standoff": 8},
        "tickfont": look.digits(12, look.theme.muted),
        "showgrid": grid,
        "gridcolor": look.theme.rule,
        "gridwidth": 1,
        "zeroline": False,
        "showline": not grid,
        "linecolor": look.theme.muted,
        "ticks": "" if grid else "outside",
        "ticklen": 4,
        "tickcolor": look.theme.muted,
        "automargin": True,
        "fixedrange": True,
        "tickangle": 0,
    }
    return base | parts


def note(look: Look, text: str, x: float, y: float, **parts: Any) -> Parts:
    """Words inside a figure, at paper coordinates unless told otherwise; `text` is already escaped."""
    base: Parts = {"xref": "paper", "yref": "paper", "x": x, "y": y, "text": text, "showarrow": False}
    return base | {"font": look.text(colour=look.theme.muted), "align": "left"} | parts


def config(file_name: str, image: Literal["png", "svg"] = "png") -> Parts:
    """The chart's `config=`: one button that saves it as an image; Plotly's bar knows one format, so ask for either."""
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": image, "filename": file_name, "scale": 2 if image == "png" else 1},
        "scrollZoom": False,
        "doubleClick": False,
        "responsive": True,
    }


def spec_bytes(figure: go.Figure) -> int:
    """How many bytes of JSON the figure costs on the wire; budgets: 500 KB a figure, 1 MB a mosaic."""
    return len(figure.to_json(validate=False).encode())
