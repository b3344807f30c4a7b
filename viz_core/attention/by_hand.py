"""Online softmax with few numbers: what a blackboard holds.

Milakov and Gimelshein 2018 (arXiv 1805.02867) for the passes over scores; Ye, "From Online Softmax to FlashAttention"
(University of Washington, CSE 599M, 2023) for why attention needs one pass and the softmax cannot do with one: its
outputs divide by a sum that only the last score completes; attention's one output can be corrected on the way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from viz_core.attention.rules import FA1, FA2
from viz_core.attention.state import unit


@dataclass(frozen=True, slots=True)
class Row:
    """One tile for one query: its scores and values, m, l, o before and after, α, the tile's weights p.

    o is what the algorithm keeps: the running sum, or under FA1's rule the quotient o / l. out: o / l in both.
    """

    scores: tuple[float, ...]
    values: tuple[float, ...]
    m_old: float
    m_new: float
    alpha: float
    p: tuple[float, ...]
    l_old: float
    l_new: float
    o_old: float
    o_new: float
    out: float


def by_hand(scores: Sequence[float], values: Sequence[float], size: int, *, normalise: bool = False) -> list[Row]:
    """Fold the scores of one query and scalar values in tiles of `size`; normalise: FA1's rule, else FA2's."""
    rule, state, rows = FA1 if normalise else FA2, unit(1, 1, np.float64), list[Row]()
    for first in range(0, len(scores), size):
        s, v = (np.array(x[first : first + size], np.float64) for x in (scores, values))
        new = rule.fold(state, s[None].copy(), v[:, None])
        m, old = float(new.m[0]), float(state.m[0])
        kept = [float((x.out if normalise else x.o)[0, 0]) for x in (state, new)]
        p = tuple(np.exp(s - m).tolist())
        rows.append(
            Row(
                tuple(s.tolist()), tuple(v.tolist()), old, m, math.exp(old - m), p,
                float(state.l[0]), float(new.l[0]), kept[0], kept[1], float(new.out[0, 0]),
            )
        )  # fmt: skip
        state = new
    return rows


class Tape:
    """Numbers in slow memory that count how often they are read and written."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.numbers, self.reads, self.writes = list(numbers), 0, 0

    def __iter__(self) -> Iterator[float]:
        for x in self.numbers:
            self.reads += 1
            yield x

    def write(self, at: int, x: float) -> None:
        """Put one number back."""
        self.writes += 1
        self.numbers[at] = x


def three_pass(tape: Tape) -> list[float]:
    """Safe softmax in place: the maximum, the sum, the quotients."""
    m = max(tape)
    total = math.fsum(math.exp(x - m) for x in tape)
    for at, x in enumerate(tape):
        tape.write(at, math.exp(x - m) / total)
    return tape.numbers


def two_pass(tape: Tape) -> list[float]:
    """Online softmax in place: maximum and sum in one pass, the quotients in another."""
    m, total = -math.inf, 0.0
    for x in tape:
        new = max(m, x)
        m, total = new, total * math.exp(m - new) + math.exp(x - new)
    for at, x in enumerate(tape):
        tape.write(at, math.exp(x - m) / total)
    return tape.numbers


def one_pass(scores: Tape, values: Tape) -> float:
    """Attention of one query with scalar values: each score and each value is read once, no weight is written."""
    m, total, o = -math.inf, 0.0, 0.0
    for x, v in zip(scores, values, strict=True):
        new = max(m, x)
        alpha, p = math.exp(m - new), math.exp(x - new)
        m, total, o = new, total * alpha + p, o * alpha + p * v
    return o / total
