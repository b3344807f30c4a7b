"""The KV cache: one preallocated block of memory per tensor, (layer, kv_head, token, d_head), float32.

Keys are kept after their rotation, so a cached token is never touched again. `QuantizedCache` rounds what it keeps,
per channel or per token, as in KIVI (Liu et al. 2024, arXiv 2402.02750): a group of tokens is rounded once it is whole,
until then its tokens stay exact. It holds the rounded values in float32 and counts the bytes their codes would take.
Left out: paging (see `viz_core.paging`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz_core.i18n import Problem
from viz_core.quantizers.along import along
from viz_core.quantizers.format import Format


class KVCache:
    """Keys and values of `length` tokens, with room for `capacity`.

    `k` and `v` are float32 (layers, kv_heads, capacity, d_head); tokens beyond `length` are undefined.
    """

    def __init__(self, layers: int, kv_heads: int, capacity: int, d_head: int) -> None:
        shape = (layers, kv_heads, capacity, d_head)
        self.k, self.v = np.empty(shape, np.float32), np.empty(shape, np.float32)
        self.length = 0

    @property
    def capacity(self) -> int:
        """Tokens it has room for."""
        return self.k.shape[2]

    @property
    def bytes_per_token(self) -> int:
        """Bytes of K and V that one token takes, over all layers."""
        layers, kv_heads, _, d_head = self.k.shape
        return 2 * layers * kv_heads * d_head * self.k.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes that hold tokens now."""
        return self.length * self.bytes_per_token

    @property
    def reserved(self) -> int:
        """Bytes allocated, used or not."""
        return self.k.nbytes + self.v.nbytes

    def need(self, n: int) -> None:
        """A Problem unless n more tokens fit."""
        if self.length + n > self.capacity:
            raise Problem("model_cache_full", capacity=self.capacity, length=self.length, more=n)

    def put(self, layer: int, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Write one layer's k, v (kv_heads, n, d_head) behind the tokens held; → views of all its keys and values.

        The tokens count only once `advance` was called, after every layer has written.
        """
        end = self.length + k.shape[1]
        self.k[layer, :, self.length : end], self.v[layer, :, self.length : end] = k, v
        return self.k[layer, :, :end], self.v[layer, :, :end]

    def append(self, k: np.ndarray, v: np.ndarray) -> None:
        """Append n tokens to every layer at once: k, v (layers, kv_heads, n, d_head)."""
        self.need(k.shape[2])
        for layer in range(len(self.k)):
            self.put(layer, k[layer], v[layer])
        self.advance(k.shape[2])

    def advance(self, n: int) -> None:
        """Take n written tokens into account."""
        self.length += n

    def truncate(self, length: int) -> None:
        """Forget all tokens from position `length` on."""
        self.length = min(self.length, length)

    def copy_prefix(self, other: KVCache, n: int) -> None:
        """Become a cache of `other`'s first n tokens, in memory of its own."""
        self.length = 0
        self.need(n)
        if n > other.length:
            raise Problem("model_cache_prefix", length=other.length, wanted=n)
        self.k[:, :, :n], self.v[:, :, :n] = other.k[:, :, :n], other.v[:, :, :n]
        self.length = n


@dataclass(frozen=True, slots=True)
class Rounding:
    """How keys or values are kept: a format, and which way its blocks run.

    axis "channel": a block is one channel of `group` tokens. axis "token": a block lies within one token's channels,
    and `group` is 1.
    """

    form: Format
    axis: Literal["channel", "token"]
    group: int = 1

    def __post_init__(self) -> None:
        if self.group < 1 or (self.axis == "token" and self.group != 1):
            raise Problem("model_kv_group", group=self.group)

    def round(self, x: np.ndarray) -> np.ndarray:
        """The kept values of x (kv_heads, n, d_head), n a multiple of the group."""
        return along(-2 if self.axis == "channel" else -1, self.form, x)[1]

    def bits(self, heads: int, tokens: int, d_head: int) -> float:
        """Bits that whole groups of `tokens` tokens take, scales included."""
        shape = (heads, d_head, tokens) if self.axis == "channel" else (heads, tokens, d_head)
        return self.form.bits(shape) if tokens else 0.0


class QuantizedCache(KVCache):
    """A KV cache that rounds keys and values (either may be None: kept exact), group by group."""

    def __init__(
        self, layers: int, kv_heads: int, capacity: int, d_head: int, keys: Rounding | None, values: Rounding | None
    ) -> None:
        super().__init__(layers, kv_heads, capacity, d_head)
        self.keys, self.values = keys, values

    def put(self, layer: int, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As in KVCache; groups that this completes are rounded before anything attends to them."""
        all_k, all_v = super().put(layer, k, v)
        for kept, rounding in ((all_k, self.keys), (all_v, self.values)):
            if rounding is not None:
                done, whole = (n // rounding.group * rounding.group for n in (self.length, kept.shape[1]))
                if whole > done:
                    kept[:, done:whole] = rounding.round(kept[:, done:whole])
        return all_k, all_v

    @property
    def nbytes(self) -> int:
        """Bytes the codes and scales of whole groups take, and of 16-bit numbers for the tokens still exact."""
        layers, heads, _, d_head = self.k.shape
        bits = 0.0
        for rounding in (self.keys, self.values):
            whole = 0 if rounding is None else self.length // rounding.group * rounding.group
            bits += 16 * heads * (self.length - whole) * d_head
            bits += 0 if rounding is None else rounding.bits(heads, whole, d_head)
        return int(layers * -(-bits // 8))
