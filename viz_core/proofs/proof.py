"""The form of a claim that was measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Proof:
    """A claim (catalogue key below `proof`), what was measured, what it may be at most, and whether it holds.

    `empty` where nothing was left to check: then it neither holds nor fails. `params` fill the claim's placeholders,
    such as how many cases were run.
    """

    name: str
    measured: float
    tolerance: float
    holds: bool
    empty: bool = False
    params: Mapping[str, object] = field(default_factory=dict)


def at_most(name: str, measured: float, tolerance: float, *also: bool, **params: object) -> Proof:
    """The claim that an error stays within a tolerance, and that whatever else is given is true; NaN never holds.

    `params` are the claim's.
    """
    holds = not math.isnan(measured) and measured <= tolerance and all(also)
    return Proof(name, measured, tolerance, holds, params=params)


def nothing_left(name: str) -> Proof:
    """The claim about no value at all: neither held nor broken."""
    return Proof(name, math.nan, math.nan, holds=False, empty=True)


def of_all(proofs: Iterable[Proof]) -> Proof:
    """One claim for several things: one that fails, else one about nothing, else the one with the largest measure."""
    return min(proofs, key=lambda proof: (proof.holds, proof.empty, -proof.measured))
