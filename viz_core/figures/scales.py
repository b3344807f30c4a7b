"""One axis of a chart: its name with the unit, its spacing, its range, and where a value lies on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from viz_core.figures.layout import Parts
from viz_core.figures.numbers import RAISED

POWERS = range(-45, 39)  # of ten that float32 holds
Spacing = Literal["linear", "log"]


@dataclass(frozen=True, slots=True)
class Scale:
    """The name of an axis with its unit, its spacing, an optional fixed range and a d3 number format for the hover;
    `whole`: ticks at whole numbers only.
    """

    title: str = ""
    spacing: Spacing = "linear"
    range: tuple[float, float] | None = None
    digits: str = ",.4~g"
    whole: bool = False


def reach(scale: Scale, values: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """The range that holds all values: from 0 where they are far from each other, with a little room at the ends."""
    if scale.range:
        return scale.range
    whole = np.concatenate([*values, np.empty(0)])
    seen = whole[np.isfinite(whole) & ((whole > 0) | (scale.spacing == "linear"))]
    low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.1, 1.0)
    if scale.spacing == "log":
        return low / 1.3, high * 1.3
    low = min(low, 0.0) if low < 0.5 * high else low
    free = room(low, high, 0.04)
    return (low - free if low < 0 else low), high + free


def room(low: float, high: float, share: float, parts: int = 64) -> float:
    """That share of a range's width, as room at its ends; enough for `parts` float64 numbers where it has no width."""
    far = max(abs(low), abs(high))
    return share * (high - low) if high - low >= 4 * parts * float(np.spacing(far)) else max(1.0, far / 8)


def shown_range(ends: tuple[float, float], scale: Scale) -> list[float]:
    """A range as Plotly wants it: exponents on a log axis."""
    return [math.log10(end) for end in ends] if scale.spacing == "log" else list(ends)


def place(value: float, ends: tuple[float, float], scale: Scale) -> float:
    """Where a value lies in a range, 0..1; beyond the range at its end."""
    low, high = shown_range(ends, scale)
    at = shown_range((value, 1.0), scale)[0]
    return min(max((at - low) / (high - low or 1.0), 0.0), 1.0)


def ticks(scale: Scale, most: int = 6) -> Parts:
    """At most so many ticks on a linear axis, whole powers of ten on a log one."""
    if scale.spacing == "log":
        return {"tickvals": [10.0**n for n in POWERS], "ticktext": [power(n) for n in POWERS]}
    if scale.whole and scale.range:
        return whole_ticks(*scale.range, most)
    return {"nticks": most, "exponentformat": "none", "separatethousands": True}


def power(n: int) -> str:
    """Ten to the n as a tick says it, in the size of other ticks: Plotly writes its own powers a quarter larger."""
    return f"{10.0**n:g}" if -2 < n < 2 else f"10{str(n).translate(RAISED)}"


def whole_ticks(low: float, high: float, most: int) -> Parts:
    """Ticks at whole numbers of a range: all of them, else multiples of 2, 5, 10, 20 … and its first one."""
    first, last = math.ceil(low), math.floor(high)
    every = next(k * 10**n for n in range(16) for k in (1, 2, 5) if (last - first) // (k * 10**n) < most)
    values = sorted({first, *range(math.ceil((first + every / 2) / every) * every, last + 1, every)})
    return {"tickvals": values, "tickformat": ",d"}


def round_ticks(low: float, high: float, most: int) -> list[float]:
    """At most `most` multiples of 1, 2 or 5 times a power of ten in a range, as many as that allows."""
    if not high > low:
        return [low]
    power = math.floor(math.log10((high - low) / most))
    every = next(step for n in (power, power + 1) for step in (10.0**n, 2 * 10.0**n, 5 * 10.0**n)
                 if math.floor(high / step) - math.ceil(low / step) < most)
    return [k * every for k in range(math.ceil(low / every), math.floor(high / every) + 1)]
