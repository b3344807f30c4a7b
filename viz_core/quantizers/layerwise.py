"""A layer y = x @ w rounded plainly and by a method that makes its rounding easier: AWQ, SmoothQuant, HQQ.

AWQ and SmoothQuant scale input dimensions and take the factor back in the product; HQQ moves the zero points. Each is
set against the same grid without the method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from viz_core.quantizers.format import Format
from viz_core.quantizers.ggml import HALF
from viz_core.quantizers.registry import asymmetric, hqq, symmetric
from viz_core.quantizers.rescale import awq, smooth_factors

GROUP = 64
"""Input dimensions that share a scale where weights alone are rounded."""
Outputs = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Rounded:
    """A layer rounded in two ways, plainly and by the method.

    Attributes:
        seen: the tensor that the method changes, as the grid sees it in each way.
        weights: what is left of the weights (in, out), in the layer's own terms.
        outputs: how each way answers inputs (tokens, in).
        detail: what the method chose or is about: AWQ's exponent, SmoothQuant's largest activation over the largest
            before, HQQ's mean |error|^0.7 over that of min–max.
    """

    seen: tuple[np.ndarray, np.ndarray]
    weights: tuple[np.ndarray, np.ndarray]
    outputs: tuple[Outputs, Outputs]
    detail: float


def by_awq(inputs: np.ndarray, weight: np.ndarray, bits: int) -> Rounded:
    """Weights alone: dimensions with large activations are scaled up before rounding and down after it."""
    form = asymmetric(bits, GROUP, scale=HALF)
    found, plain = awq(weight, inputs, form), _rows(form, weight)
    seen = (weight, weight * found.factors[:, None])
    return Rounded(seen, (plain, found.weight), (_times(plain), _times(found.weight)), found.alpha)


def by_smoothing(inputs: np.ndarray, weight: np.ndarray, bits: int, alpha: float) -> Rounded:
    """Activations, one scale a tensor, and weights, one an output: outliers move from the first into the second."""
    factors = smooth_factors(inputs, weight, alpha)
    form, whole = symmetric(bits, "row"), symmetric(bits, "tensor")
    plain, moved = _rows(form, weight), _rows(form, weight * factors[:, None])
    eased = inputs / factors
    return Rounded(
        (inputs, eased),
        (plain, moved / factors[:, None]),
        (lambda x: whole.round(x) @ plain, lambda x: whole.round(x / factors) @ moved),
        float(np.abs(eased).max() / np.abs(inputs).max()),
    )


def by_hqq(inputs: np.ndarray, weight: np.ndarray, bits: int) -> Rounded:
    """Weights alone, without any data: zero points that make many errors small and let a few be large."""
    plain, ours = (_rows(form, weight) for form in (asymmetric(bits, GROUP, scale=HALF), hqq(bits, GROUP)))
    spread = [float(np.mean(np.abs(w - weight) ** 0.7, dtype=np.float64)) for w in (plain, ours)]
    return Rounded((weight, ours), (plain, ours), (_times(plain), _times(ours)), spread[1] / spread[0])


def _rows(form: Format, weight: np.ndarray) -> np.ndarray:
    """A weight (in, out) rounded along its inputs."""
    return np.ascontiguousarray(form.round(np.ascontiguousarray(weight.T)).T)


def _times(weight: np.ndarray) -> Outputs:
    return lambda x: x @ weight
