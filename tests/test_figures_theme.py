"""The palette, recomputed: colour vision after Machado et al. 2009, contrast after WCAG 2."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from tests.source import ROOT
from viz_core.figures.theme import DARK, HUES, LIGHT, Theme, faded, letter_on, scale, theme, tone

# Machado, Oliveira, Fernandes 2009, table of severity 1.0, applied to linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    x = XYZ @ np.clip(rgb, 0, 1) / XYZ.sum(1)
    f = np.where(x > (6 / 29) ** 3, np.cbrt(x), x / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    a, b = sorted((float(XYZ[1] @ linear(c)) for c in (one, other)), reverse=True)
    return (a + 0.05) / (b + 0.05)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda c: c.name)
def test_hues_differ_for_every_sight(colours: Theme, sight: str) -> None:
    seen = [lab(SIGHT[sight] @ linear(c)) for c in colours.hues]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) >= 25


@pytest.mark.parametrize(("colours", "least"), [(LIGHT, 3.0), (DARK, 5.0)], ids=["light", "dark"])
def test_hues_stand_out_from_the_paper(colours: Theme, least: float) -> None:
    assert min(contrast(c, colours.paper) for c in colours.hues) >= least


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda c: c.name)
def test_text_is_readable(colours: Theme) -> None:
    assert min(contrast(colours.letter(h), colours.fill(h)) for h in HUES) >= 4.5
    assert all(contrast(c, p) >= 4.5 for c in (colours.ink, colours.muted) for p in (colours.paper, colours.panel))


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda c: c.name)
def test_ramps_move_away_from_the_paper(colours: Theme) -> None:
    """Lightness is monotone, so a ramp survives grey-scale print; the signed one is monotone on both sides of 0."""
    for ramp in (colours.sequential, colours.error, colours.signed[2:], colours.signed[2::-1]):
        steps = [contrast(c, colours.paper) for c in ramp]
        assert steps == sorted(steps)
        assert steps[-1] / steps[0] > 4


def test_first_tone_is_not_the_paper() -> None:
    assert all(t.sequential[0] != t.paper for t in (LIGHT, DARK))


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda c: c.name)
def test_numbers_in_cells_are_readable_on_every_tone(colours: Theme) -> None:
    for ramp in (colours.sequential, colours.signed, colours.error):
        for at in np.linspace(0, 1, 41):
            rgb = tone(ramp, float(at))
            cell = "#" + "".join(f"{round(c):02X}" for c in rgb)
            assert contrast(letter_on(rgb), cell) >= 4.5


def style_sheet() -> str:
    return (ROOT / "viz_core/ui/player/player.css").read_text("utf-8")


def player_ramp(mode: int) -> tuple[list[str], list[str], float]:
    """Of one theme, from the player's style sheet: the ramp's three tones, the letters' two, and where these change."""
    block = style_sheet().split("\n.shade {")[1].split("\n}")[0]
    hue, letter = (block.split(f"--{name}: light-dark(")[1].split("\n  );")[0].strip().split("\n")[mode]
                   for name in ("hue", "letter"))
    (change,) = re.findall(r"var\(--t\) - ([\d.]+)%", letter)
    return re.findall(r"#\w{6}", hue)[::-1], re.findall(r"#\w{6}", letter)[::-1], float(change)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda c: c.name)
def test_every_shade_of_a_cell_has_a_readable_letter(colours: Theme) -> None:
    """The player's 255 shades are the ramp of the figures, mixed in two halves, with 4.5:1 for the letter on each."""
    tones, letters, change = player_ramp(0 if colours is LIGHT else 1)
    assert [c.upper() for c in tones] == list(colours.sequential)
    for shade in range(1, 256):
        share = round((shade - 1) / 2.54)  # per cent, as cells.js sets it
        rgb = tone(colours.sequential, share / 100)
        cell = "#" + "".join(f"{round(c):02X}" for c in rgb)
        letter = letters[share > change]
        assert contrast(letter, cell) >= 4.5, (shade, cell)
        assert letter.upper() == letter_on(rgb), "the better of the two"


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=lambda c: c.name)
def test_the_player_paints_the_palette_with_readable_letters(colours: Theme) -> None:
    """Its style sheet has the same hues and letters; a cell of no one and of several is readable too."""
    found = re.findall(r"\.h(\d) { --hue: light-dark\((.*?)\); --letter: light-dark\((.*?)\); }", style_sheet())
    pick = [[both.split(", ")[colours is DARK].upper() for both in pair] for _, *pair in found]
    assert [int(number) for number, *_ in found] == list(range(7))
    assert [tuple(one) for one in pick[1:]] == list(zip(colours.hues, colours.letters, strict=True))
    assert pick[0][0] == colours.shared
    assert min(contrast(*one) for one in pick) >= 4.5


def test_small_helpers() -> None:
    assert theme("dark") is DARK
    assert theme("light") is LIGHT
    assert LIGHT.tensor("O") == LIGHT.fill("D")
    assert faded("#102030", 0.35) == "rgba(16,32,48,0.35)"
    assert scale(("#000000", "#888888", "#FFFFFF")) == [[0.0, "#000000"], [0.5, "#888888"], [1.0, "#FFFFFF"]]
