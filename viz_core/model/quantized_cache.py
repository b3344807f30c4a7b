"""A KV cache that stores K and V in few bits: KIVI's rule (arXiv 2402.02750) with axis, group and bits free to choose.

Values are kept beside the codes' effect: `put` hands the model what the codes stand for. Groups over tokens that are
not full yet stay in full precision (KIVI's residual), or are quantized short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz_core.model.cache import KVCache
from viz_core.quantizers.along import along
from viz_core.quantizers.registry import kivi

Axis = Literal["channel", "token"]
"""A scale for a group of tokens in one channel, or for a group of channels of one token."""


@dataclass(frozen=True, slots=True)
class Side:
    """How K or V is kept: bits a number (16: as it is), the axis that shares a scale, values a group."""

    bits: int = 16
    axis: Axis = "token"
    group: int = 32

    def stored(self, x: np.ndarray, residual: bool) -> np.ndarray:
        """The values of `x` (heads, tokens, d) as they come back; with `residual` the open group stays exact."""
        if self.bits >= 16:
            return x
        form = kivi(self.bits, self.group)
        if self.axis == "token":
            return along(-1, form, x)[1]
        full = x.shape[1] // self.group * self.group if residual else x.shape[1]
        if not full:
            return x
        return np.concatenate([along(-2, form, x[:, :full])[1], x[:, full:]], axis=1)

    def token_bits(self, width: int) -> float:
        """Bits of one token's `width` numbers once its groups are full, scales and minima included."""
        if self.bits >= 16:
            return 16.0 * width
        group = min(self.group, width) if self.axis == "token" else self.group
        return width * (self.bits + 32 / group)


class QuantizedCache(KVCache):
    """A cache that answers with quantized keys and values, and counts the bytes they would take."""

    def __init__(
        self, layers: int, kv_heads: int, capacity: int, d_head: int, k: Side, v: Side, residual: bool = True
    ) -> None:
        super().__init__(layers, kv_heads, capacity, d_head)
        self.k_side, self.v_side, self.residual = k, v, residual

    @property
    def bytes_per_token(self) -> int:
        """Bytes of K and V that one token takes over all layers, at their bits."""
        layers, kv_heads, _, d_head = self.k.shape
        bits = self.k_side.token_bits(d_head) + self.v_side.token_bits(d_head)
        return round(layers * kv_heads * bits / 8)

    def put(self, layer: int, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Write one layer's k, v; → all its keys and values as they come back from their codes."""
        keys, values = super().put(layer, k, v)
        return self.k_side.stored(keys, self.residual), self.v_side.stored(values, self.residual)
