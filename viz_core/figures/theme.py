"""The colours of the app as data: six hues, ink, paper and the ramps of light and dark.

Every pair of hues differs by at least 25 (CIELAB, 1976) for normal, protan, deutan and tritan sight (Machado, Oliveira
and Fernandes 2009, severity 1); `tests/test_figures_theme.py` recomputes it. Hues are fills, never text colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Mode = Literal["light", "dark"]
Hue = Literal["A", "B", "C", "D", "E", "F"]
Ramp = tuple[str, ...]
HUES: Final[tuple[Hue, ...]] = ("A", "B", "C", "D", "E", "F")
TENSORS: Final[dict[str, Hue]] = {"Q": "A", "K": "B", "V": "C", "O": "D"}


@dataclass(frozen=True, slots=True)
class Theme:
    """All colours of one mode, as #RRGGBB.

    `letters[i]` is the text colour that stands on `hues[i]`; ramps run from 0 (or from the lowest value) upwards; the
    middle tone of `signed` is 0. Larger means farther from the paper in `sequential` and `error`. `shared` is what
    several owners hold; the letter of hue B stands on it.
    """

    name: Mode
    hues: tuple[str, ...]
    letters: tuple[str, ...]
    ink: str
    muted: str
    panel: str
    paper: str
    rule: str
    shared: str
    sequential: Ramp
    signed: Ramp
    error: Ramp

    def fill(self, hue: Hue, opacity: float = 1.0) -> str:
        """The colour of a hue; with an opacity below 1 as rgba(), for cells that are reused and bands behind a line."""
        return faded(self.hues[HUES.index(hue)], opacity)

    def letter(self, hue: Hue) -> str:
        """The text colour to be used on a hue."""
        return self.letters[HUES.index(hue)]

    def tensor(self, name: str) -> str:
        """The hue of a tensor: Q, K, V or O (the output)."""
        return self.fill(TENSORS[name])


def faded(colour: str, opacity: float) -> str:
    """#RRGGBB as rgba(); unchanged at opacity 1."""
    if opacity >= 1:
        return colour
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


LIGHT = Theme(
    name="light",
    hues=("#304C76", "#CA7F5B", "#3A9E97", "#B575D0", "#505200", "#733E41"),
    letters=("#FFFFFF", "#1B1F27", "#1B1F27", "#1B1F27", "#FFFFFF", "#FFFFFF"),
    ink="#1B1F27",
    muted="#5B6472",
    panel="#F5F6F8",
    paper="#FFFFFF",
    rule="#DDE1E7",
    shared="#9AA3B0",
    sequential=("#EEF1F6", "#7F90BD", "#1A2547"),
    signed=("#1F4E9C", "#8FA9D6", "#F1F2F4", "#E0A987", "#A84E12"),
    error=("#F6EEF0", "#C77F8E", "#5E1527"),
)
DARK = Theme(
    name="dark",
    hues=("#82A0F8", "#F7BE7D", "#2EE4C0", "#AC78A5", "#7D9126", "#D06D71"),
    letters=("#12161C",) * 6,
    ink="#E8EBF0",
    muted="#9AA5B4",
    panel="#171D26",
    paper="#0E1218",
    rule="#2A323E",
    shared="#6F7B8B",
    sequential=("#171D26", "#3283F0", "#DCEBFF"),
    signed=("#7FB2FF", "#2F5C9E", "#1B212B", "#9A5A28", "#FFB071"),
    error=("#21191E", "#B4536A", "#FFD3DB"),
)


def theme(mode: Mode) -> Theme:
    """The theme of a mode; anything but `dark` is light, because a reader's browser may not say."""
    return DARK if mode == "dark" else LIGHT


def scale(ramp: Ramp) -> list[list[float | str]]:
    """A ramp as an evenly spaced Plotly colour scale."""
    last = len(ramp) - 1
    return [[i / last, colour] for i, colour in enumerate(ramp)]


def tone(ramp: Ramp, at: float) -> tuple[float, float, float]:
    """The colour of an evenly spaced ramp at 0..1 (clipped) as (red, green, blue) in 0..255, mixed as Plotly does."""
    place = min(max(at, 0.0), 1.0) * (len(ramp) - 1)
    low = min(int(place), len(ramp) - 2)
    pair = [[int(ramp[low + k][i : i + 2], 16) for i in (1, 3, 5)] for k in (0, 1)]
    red, green, blue = (a + (b - a) * (place - low) for a, b in zip(*pair, strict=True))
    return red, green, blue


def luminance(rgb: tuple[float, float, float]) -> float:
    """Relative luminance (WCAG 2) of a colour in 0..255."""
    linear = [c / 3294.6 if c <= 10.31 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def letter_on(rgb: tuple[float, float, float]) -> str:
    """White or black, whichever stands out more on a colour: one of them always has a contrast of 4.5 or more."""
    return "#FFFFFF" if 1.05 / (luminance(rgb) + 0.05) > (luminance(rgb) + 0.05) / 0.05 else "#000000"
