"""The KV cache: one preallocated block of memory per tensor, (layer, kv_head, token, d_head), float32.

Keys are kept after their rotation, so a cached token is never touched again. Left out: paging (see `viz_core.paging`),
keys and values in few bits (see `quantized_cache`).
"""

from __future__ import annotations

import numpy as np

from viz_core.i18n import Problem


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
