"""Blocks along any axis: per channel, per token, and KIVI's two choices for a KV cache (arXiv 2402.02750)."""

from __future__ import annotations

import numpy as np

from viz_core.quantizers.format import Format
from viz_core.quantizers.quantized import Quantized


def along(axis: int, form: Format, x: np.ndarray) -> tuple[Quantized, np.ndarray]:
    """`x` in `form` with its blocks along `axis`.

    Returns the quantized tensor, whose last axis is `axis`, and the values in the shape of `x`.
    """
    q = form.quantize(np.moveaxis(x, axis, -1))
    return q, np.moveaxis(q.values, -1, axis)


def per_channel(form: Format, k: np.ndarray) -> np.ndarray:
    """Values of keys (…, token, channel) whose blocks run over tokens: a channel's outliers stay in its own blocks."""
    return along(-2, form, k)[1]


def per_token(form: Format, v: np.ndarray) -> np.ndarray:
    """Values of `v` (…, token, channel) whose blocks run over the channels of one token."""
    return along(-1, form, v)[1]
