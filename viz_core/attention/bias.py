"""Additive attention biases, composed by `+`.

A bias is a function of row (query) and column (key) numbers: 0 where a query may look, −∞ where it may not, any other
number to prefer or discourage (ALiBi, Press et al. 2022, arXiv 2108.12409). Masks are true −∞, never a finite sentinel.
Causal and windowed biases are bottom-right aligned when n ≠ m, as in flash-attn since 2.1: the last query sees the last
key. Left out: learned relative-position tables, which are `array`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Bias:
    """`bias(rows, cols)` → float (len(rows), len(cols)), added to the scaled scores; `a + b` adds two of them."""

    of: Callable[[Ints, Ints], Floats]

    def __call__(self, rows: Ints, cols: Ints) -> Floats:
        """The bias of these rows and columns, (len(rows), len(cols))."""
        return self.of(rows, cols)

    def __add__(self, other: Bias) -> Bias:
        return Bias(lambda rows, cols: self(rows, cols) + other(rows, cols))

    def whole(self, n: int, m: int) -> Floats:
        """The bias of all n queries and m keys, (n, m)."""
        return self(np.arange(n), np.arange(m))


def _where(seen: NDArray[np.bool_]) -> Floats:
    return np.where(seen, np.float32(0), np.float32(-np.inf))


def _behind(n: int, m: int, rows: Ints, cols: Ints) -> Ints:
    """How many keys a column lies behind its row's own key, (rows, cols); negative = in the future."""
    return np.subtract.outer(rows + (m - n), cols)


def free() -> Bias:
    """No bias: every query sees every key."""
    return Bias(lambda rows, cols: np.zeros((len(rows), len(cols)), np.float32))


def causal(n: int, m: int) -> Bias:
    """Query i of n sees keys up to i + m − n of m."""
    return Bias(lambda rows, cols: _where(_behind(n, m, rows, cols) >= 0))


def window(n: int, m: int, left: int | None, right: int | None = 0) -> Bias:
    """Query i sees keys i + m − n − left … i + m − n + right; None is no limit on that side.

    A causal sliding window of W keys, self included, is `window(n, m, W - 1)`.
    """

    def of(rows: Ints, cols: Ints) -> Floats:
        behind = _behind(n, m, rows, cols)
        far = np.bool_(True) if left is None else behind <= left
        near = np.bool_(True) if right is None else behind >= -right
        return _where(np.broadcast_to(far & near, behind.shape))

    return Bias(of)


def alibi(n: int, m: int, slope: float) -> Bias:
    """−slope · |distance in tokens|. Of H heads (H a power of two), head h = 1 … H has the slope 2^(−8h / H)."""
    return Bias(lambda rows, cols: (-slope * np.abs(_behind(n, m, rows, cols))).astype(np.float32))


def segment(of_query: ArrayLike, of_key: ArrayLike) -> Bias:
    """A query sees only keys of its own segment; integer segment ids of the n queries and of the m keys."""
    query, key = np.asarray(of_query), np.asarray(of_key)
    return Bias(lambda rows, cols: _where(np.equal.outer(query[rows], key[cols])))


def array(a: ArrayLike) -> Bias:
    """Any finished bias (n, m)."""
    whole = np.asarray(a)
    return Bias(lambda rows, cols: whole[np.ix_(rows, cols)])
