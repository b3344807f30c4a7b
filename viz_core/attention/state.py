"""Attention is one monoid: what a set of keys gives a query is a State, and two sets join by `|`.

Milakov & Gimelshein's online softmax (arXiv 1805.02867) with the output carried along; FlashInfer's merge_state is its
normalised form (with lse in base 2; here everything is natural). FlashAttention, Flash-Decoding, cascade, ring and
paged attention are orders and groupings of this one fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from viz_core.attention.bias import Floats

Exp = Callable[..., Floats]
LOWEST = {c: np.finfo(c).min for c in "efd"}


@dataclass(frozen=True, slots=True)
class State:
    """m (r,): a reference, usually the running maximum; l (r,) and o (r, dv): sums of e^(s − m) and of e^(s − m) · v.

    Any m is right: the true sums are l · e^m and o · e^m (FlashAttention-4 keeps a stale one). `|` is associative and
    commutative up to rounding; its unit is (−∞, 0, 0).
    """

    m: Floats
    l: Floats  # noqa: E741 the papers' own letter
    o: Floats

    def at(self, m: Floats, exp: Exp = np.exp) -> State:
        """The same sums relative to another reference m (r,)."""
        a = exp(self.m - finite(m))
        return State(m, self.l * a, self.o * a[:, None])

    def __or__(self, other: State) -> State:
        m = np.maximum(self.m, other.m)
        a, b = self.at(m), other.at(m)
        return State(m, a.l + b.l, a.o + b.o)

    @property
    def out(self) -> Floats:
        """The attention output o / l (r, dv); 0 where no key was seen."""
        return self.o / np.where(self.l == 0, 1, self.l)[:, None]

    @property
    def lse(self) -> Floats:
        """ln Σ e^s (r,); −∞ where no key was seen."""
        with np.errstate(divide="ignore"):
            return self.m + np.log(self.l)


def unit(rows: int, dv: int, dtype: np.dtype[np.floating] | type[np.floating] = np.float32) -> State:
    """No keys seen yet: (−∞, 0, 0)."""
    return State(np.full(rows, -np.inf, dtype), np.zeros(rows, dtype), np.zeros((rows, dv), dtype))


def finite(m: Floats) -> Floats:
    """m with −∞ lifted to the lowest number, so that −∞ − m is −∞ and never NaN; the state itself keeps its −∞."""
    return np.maximum(m, LOWEST[m.dtype.char])


def lift(s: Floats, v: Floats, m: Floats, exp: Exp = np.exp, p_as: type[np.floating] | None = None) -> State:
    """One tile as a State: scores s (r, c), overwritten; v (c, dv); relative to the reference m (r,).

    p_as: the type that the weights are rounded to before they meet v, as tensor cores take them.
    """
    s -= finite(m)[:, None]
    p = exp(s, out=s)
    return State(m, np.add.reduce(p, 1), (p if p_as is None else p.astype(p_as).astype(p.dtype)) @ v)


def stack(states: Sequence[State]) -> State:
    """States of different queries as one, rows in the order given."""
    return State(*(np.concatenate([getattr(s, x) for s in states]) for x in ("m", "l", "o")))
