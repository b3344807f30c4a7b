"""Remedies for outliers in a matrix whose rows share a scale: rotate, keep apart, give them a block of their own."""

from __future__ import annotations

from typing import Literal

import numpy as np

from viz_core.i18n import Problem
from viz_core.quantizers.registry import symmetric
from viz_core.quantizers.rescale import random_signs, rotate, rotate_back

Remedy = Literal["rotate", "split", "block"]
WIDTH = 128  # a power of two that the rows of every tensor hold
MOST = 1e36  # larger values leave float32 when a row of them is added up
SIGMAS = 6  # from how many standard deviations on a value is an outlier


def in_rows(whole: np.ndarray) -> np.ndarray:
    """The values strung together in rows of `WIDTH`, without those that do not fill one.

    Raises:
        Problem: fewer values than one row, or values too large to be added up.
    """
    if whole.size < WIDTH:
        raise Problem("quantizers_small", values=whole.size, least=WIDTH)
    if float(np.abs(whole).max()) > MOST:
        raise Problem("quantizers_large", most=f"{MOST:.0e}")
    return whole.reshape(-1)[: whole.size // WIDTH * WIDTH].reshape(-1, WIDTH)


def outliers(x: np.ndarray) -> np.ndarray:
    """Which values lie beyond `SIGMAS` standard deviations from the mean, a mask in the shape of `x`; equal ones never.
    """
    if x.min() == x.max():
        return np.zeros(x.shape, bool)
    away = np.abs(x - x.mean(dtype=np.float64))
    return away > SIGMAS * x.std(dtype=np.float64)


def treat(x: np.ndarray, remedy: Remedy, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """`x` (rows, WIDTH) as the remedy lets the grid see it, and its values after quantizing.

    Columns kept apart are in FP16, which numbers beyond 65,504 overflow.
    """
    form = symmetric(bits, "row")
    if remedy == "rotate":
        signs = random_signs(WIDTH)
        seen = rotate(x, signs)
        return seen, rotate_back(form.round(seen), signs)
    if remedy == "block":
        return x, symmetric(bits, 32).round(x)
    apart, rest = outliers(x).any(axis=0), x.copy()
    rest[:, apart] = 0
    after = form.round(rest)
    with np.errstate(over="ignore"):
        after[:, apart] = x[:, apart].astype(np.float16)
    return rest, after
