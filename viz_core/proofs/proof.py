"""The form of a claim that was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Proof:
    """A claim (catalogue key below `proof`), what was measured, what it may be at most, and whether it holds."""

    name: str
    measured: float
    tolerance: float
    holds: bool


def at_most(name: str, measured: float, tolerance: float, *also: bool) -> Proof:
    """The claim that an error stays within a tolerance, and that whatever else is given is true; NaN never holds."""
    return Proof(name, measured, tolerance, not math.isnan(measured) and measured <= tolerance and all(also))
