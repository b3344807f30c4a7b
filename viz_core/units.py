"""Numbers as a reader expects them: binary units for memory, groups of three, few digits."""

from __future__ import annotations

import re

HAN = r"[\u4e00-\u9fff]"  # what a number counts in Chinese follows it
UNITS = "dB|%|[KMGT]iB|[kMGT]?B|bits?|bytes?|tokens?|nats|ms|µs|s"
APART = re.compile(rf"(?<=[×≈±≥≤→]) (?=[−\d∞])|(?<=[\d∞]) (?=(?:{UNITS})(?![A-Za-z])|{HAN})|(?<=\bat) (?=\d)")
"""Spaces at which no line may end: between a sign and its number, a number and its unit."""


def bound(text: str) -> str:
    """A text whose lines do not break between a number and its sign or unit."""
    return APART.sub("\u00a0", text)


def size(n: float) -> str:
    """Bytes as B, KiB, MiB, GiB or TiB with three significant digits; exact below 1 KiB."""
    value, unit = float(n), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024:
            break
        value, unit = value / 1024, larger
    return f"{n:.0f} B" if unit == "B" else f"{_three(value)} {unit}"


def count(n: float) -> str:
    """A whole number with commas between groups of three, as in the player."""
    return f"{n:,.0f}"


def scaled(n: float, unit: str = "") -> str:
    """A large number with a decimal prefix: 1.23 M, 4.5 GFLOP."""
    value, prefix = float(n), ""
    for larger in ("k", "M", "G", "T", "P"):
        if abs(value) < 1000:
            break
        value, prefix = value / 1000, larger
    return f"{_three(value)} {prefix}{unit}".rstrip()


def duration(seconds: float) -> str:
    """Seconds as µs, ms or s with three significant digits."""
    for bound, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < bound:
            return f"{_three(seconds * factor)} {unit}"
    return f"{_three(seconds)} s"


def percent(share: float, digits: int = 0) -> str:
    """A share of one as a percentage."""
    return f"{100 * share:.{digits}f}\u202f%"


def decibels(value: float, digits: int = 1) -> str:
    """A ratio in dB; ∞ where there is no noise."""
    return f"{fixed(value, digits)} dB".replace("inf", "∞")


def fixed(value: float, digits: int = 1) -> str:
    """A number with so many decimals and a true minus sign, which what rounds to 0 does not get."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def _three(value: float) -> str:
    digits = max(0, 3 - len(f"{abs(value):.0f}"))
    return f"{value:.{digits}f}" if value else "0"
