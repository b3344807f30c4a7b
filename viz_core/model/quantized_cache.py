"""A KV cache that stores K and V in few bits: KIVI's rule (arXiv 2402.02750) with axis, group and bits free to choose.

Values are kept beside the codes' effect: `put` hands the model what the codes stand for. KIVI keeps the newest tokens
in 16 bits (here: as they are): of K, whose groups run over tokens, all since the last full stretch of R; of V the last
R.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from viz_core.model.cache import KVCache
from viz_core.quantizers.along import along
from viz_core.quantizers.format import Format
from viz_core.quantizers.registry import kivi

Axis = Literal["channel", "token"]
"""A scale for a group of tokens in one channel, or for a group of channels of one token."""


@dataclass(frozen=True, slots=True)
class Side:
    """How K or V is kept: bits a number (16: as it is), the axis that shares a scale, values a group."""

    bits: int = 16
    axis: Axis = "token"
    group: int = 32

    def within(self, width: int) -> Side:
        """The same where heads have `width` channels: by token a group ends with its head, so that none is longer."""
        return replace(self, group=min(self.group, width)) if self.axis == "token" else self

    def exact(self, held: int, recent: int) -> int:
        """How many of `held` tokens stay as they are under a residual of `recent` (0: none).

        By channel a stretch of whole groups leaves together once it is full; by token each leaves on its own.
        """
        if self.bits >= 16 or not recent:
            return held if self.bits >= 16 else 0
        if self.axis == "token":
            return min(held, recent)
        return held % (-(-recent // self.group) * self.group)

    def stored(self, x: np.ndarray, recent: int = 0) -> np.ndarray:
        """The values of `x` (heads, tokens, d) as they come back; a last group by channel may be a short one."""
        coded = x.shape[1] - self.exact(x.shape[1], recent)
        if not coded:
            return x
        axis = -1 if self.axis == "token" else -2
        values = along(axis, self._format, x[:, :coded])[1]
        return values if coded == x.shape[1] else np.concatenate([values, x[:, coded:]], axis=1)

    def token_bits(self, width: int) -> float:
        """Bits of one token's `width` numbers once its groups are full, scales and minima included."""
        if self.bits >= 16:
            return 16.0 * width
        if self.axis == "token":
            return self._coded_bits(1, width)
        return self._coded_bits(self.group, width) / self.group

    def bits_of(self, held: int, width: int, recent: int) -> float:
        """Bits of `held` tokens of `width` numbers: 16 a number for those that stay exact, codes for the others."""
        exact = self.exact(held, recent)
        return exact * 16.0 * width + (self._coded_bits(held - exact, width) if held > exact else 0.0)

    @property
    def _format(self) -> Format:
        return kivi(self.bits, self.group)

    def _coded_bits(self, tokens: int, width: int) -> float:
        """Bits of so many tokens in codes: a short last group has a scale and a minimum too."""
        return self._format.bits((tokens, width) if self.axis == "token" else (width, tokens))


class QuantizedCache(KVCache):
    """A cache that answers with quantized keys and values, and counts the bytes they would take."""

    def __init__(
        self, layers: int, kv_heads: int, capacity: int, d_head: int, k: Side, v: Side, recent: int = 0
    ) -> None:
        super().__init__(layers, kv_heads, capacity, d_head)
        self.k_side, self.v_side, self.recent = k, v, recent

    @property
    def bytes_per_token(self) -> int:
        """Bytes of K and V that one token takes over all layers, at their bits."""
        layers, kv_heads, _, d_head = self.k.shape
        bits = self.k_side.token_bits(d_head) + self.v_side.token_bits(d_head)
        return round(layers * kv_heads * bits / 8)

    @property
    def nbytes(self) -> int:
        """Bytes of the tokens held now: the newest in 16 bits, the others in codes."""
        layers, kv_heads, _, d_head = self.k.shape
        bits = sum(side.bits_of(self.length, d_head, self.recent) for side in (self.k_side, self.v_side))
        return round(layers * kv_heads * bits / 8)

    def put(self, layer: int, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Write one layer's k, v; → all its keys and values as they come back from their codes."""
        keys, values = super().put(layer, k, v)
        return self.k_side.stored(keys, self.recent), self.v_side.stored(values, self.recent)
