"""Moving difficulty between activations and weights before quantizing: SmoothQuant, AWQ, and rotation.

All three use x @ w = (x / s) @ (s · w), or (x R) @ (Rᵀ w): the product is the same, the tensors are easier to round.
Sources: SmoothQuant arXiv 2211.10438 eq. 4 (`smooth.py`); AWQ arXiv 2306.00978 §3.2 (`auto_scale.py`); QuaRot arXiv
2404.00456 §3 (random signs times a Hadamard matrix).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.i18n import Problem
from viz_core.quantizers.format import Format

LEAST = 1e-5
"""Where the references clamp a factor."""


def smooth_factors(inputs: np.ndarray, weight: np.ndarray, alpha: float = 0.5) -> np.ndarray:
    """SmoothQuant's factor of each input dimension, (in,): max|x|^α / max|w|^(1−α).

    Args:
        inputs: (tokens, in).
        weight: (in, out).
        alpha: how much of the difficulty moves into the weights, 0..1.
    """
    activation = np.abs(inputs).max(axis=0).astype(np.float64)
    weights = np.maximum(np.abs(weight).max(axis=1).astype(np.float64), LEAST)
    return np.maximum(activation**alpha / weights ** (1 - alpha), LEAST).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Scaled:
    """AWQ's choice: weights as the layer sees them (in, out), the factors and their exponent, its output MSE."""

    weight: np.ndarray
    factors: np.ndarray
    alpha: float
    loss: float


def awq(weight: np.ndarray, inputs: np.ndarray, form: Format, steps: int = 20) -> Scaled:
    """AWQ: scale up the input dimensions with large activations before rounding, by the exponent of least output error.

    Args:
        weight: (in, out), y = x @ weight.
        inputs: (tokens, in).
        form: the weight format; its blocks run over input dimensions.
        steps: exponents tried, 0, 1/steps, ….
    """
    importance = np.maximum(np.abs(inputs).mean(axis=0, dtype=np.float64), 1e-4)
    target = inputs @ weight
    best: Scaled | None = None
    for step in range(steps):
        factors = importance ** (step / steps)
        factors = (factors / np.sqrt(factors.max() * factors.min())).astype(np.float32)[:, None]
        rounded = form.round((weight * factors).T).T / factors
        loss = float(np.mean((inputs @ rounded - target) ** 2, dtype=np.float64))
        if best is None or loss < best.loss:
            best = Scaled(rounded, factors[:, 0], step / steps, loss)
    assert best is not None
    return best


def hadamard(x: np.ndarray) -> np.ndarray:
    """The orthonormal Walsh–Hadamard transform of the last axis (a power of two long); its own inverse."""
    n = x.shape[-1]
    if n & (n - 1):
        raise Problem("quantizers_power_of_two", width=n)
    y = x.astype(np.float32).reshape(-1, n).copy()
    half = 1
    while half < n:
        pairs = y.reshape(len(y), -1, 2, half)
        first, second = pairs[:, :, 0].copy(), pairs[:, :, 1]
        pairs[:, :, 0] += second
        np.subtract(first, second, out=second)
        half *= 2
    return (y * np.float32(n**-0.5)).reshape(x.shape)


def random_signs(n: int, seed: int = 0) -> np.ndarray:
    """n signs ±1, float32."""
    return np.random.default_rng(seed).choice(np.array([-1, 1], np.float32), n)


def rotate(x: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """`x` times the orthogonal matrix diag(signs) · H, which spreads an outlier over all its dimensions."""
    return hadamard(x * signs)


def rotate_back(y: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The inverse of `rotate`."""
    return hadamard(y) * signs
