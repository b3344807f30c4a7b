"""Inputs that are hard on an online softmax, each (q, k, v, bias) of n queries and n keys."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from viz_core.attention.bias import Bias, Floats, array, causal

Inputs = tuple[Floats, Floats, Floats, Bias | None]


def normal(n: int, d: int, seed: int = 0) -> Inputs:
    """Standard-normal numbers, no mask."""
    q, k, v = np.random.default_rng(seed).normal(size=(3, n, d)).astype(np.float32)
    return q, k, v, None


def masked(n: int, d: int, seed: int = 0) -> Inputs:
    """As `normal`, causal: tiles above the diagonal can be skipped."""
    return (*normal(n, d, seed)[:3], causal(n, n))


def rises(n: int, d: int, seed: int = 0) -> Inputs:
    """Scores grow from key to key: every tile brings a new maximum."""
    q, k, v, _ = normal(n, d, seed)
    q[:, 0], k[:, 0] = 1, np.linspace(0, 12, n) * d**0.5
    return q, k, v, None


def huge(n: int, d: int, seed: int = 0) -> Inputs:
    """Scores of some thousands, far beyond e^88, where float32 overflows without the maximum."""
    q, k, v, _ = normal(n, d, seed)
    return q * np.float32(64), k * np.float32(64), v, None


def holes(n: int, d: int, seed: int = 0) -> Inputs:
    """A third of the pairs masked at random, and one row that sees nothing."""
    q, k, v, _ = normal(n, d, seed)
    seen = np.random.default_rng(seed + 1).random((n, n)) > 1 / 3
    seen[n // 2] = False
    return q, k, v, array(np.where(seen, np.float32(0), np.float32(-np.inf)))


INPUTS: dict[str, Callable[[int, int, int], Inputs]] = {
    "normal": normal, "masked": masked, "rises": rises, "huge": huge, "holes": holes,
}  # fmt: skip
