"""What a forward pass leaves behind for the eye: q, k and v of chosen layers, from which any head is recomputed.

Weights of 270 heads at 512 tokens would be 283 MB; q, k and v of a layer are 2 MB, and one head takes
milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from viz_core.attention.bias import Bias
from viz_core.attention.bias import window as window_bias
from viz_core.attention.dense import Dense, dense
from viz_core.i18n import Problem


class Capture:
    """Pass it to `forward(..., capture=…)`; `layers=None` keeps all layers, otherwise only those named.

    q[layer] (heads, n, d) and k[layer], v[layer] (kv_heads, m, d), rotated, float32; m > n behind a cache.
    """

    def __init__(self, layers: Collection[int] | None = None) -> None:
        self.wanted = None if layers is None else frozenset(layers)
        self.q: dict[int, np.ndarray] = {}
        self.k: dict[int, np.ndarray] = {}
        self.v: dict[int, np.ndarray] = {}
        self.window: dict[int, int | None] = {}
        self.bias: Bias | None = None

    def keep(
        self, layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, window: int | None, bias: Bias | None
    ) -> None:
        """Called by the model; arrays are copied, because a cache's memory is written again."""
        if self.wanted is None or layer in self.wanted:
            self.q[layer], self.k[layer], self.v[layer] = q.copy(), k.copy(), v.copy()
            self.window[layer], self.bias = window, bias

    @property
    def layers(self) -> list[int]:
        """Layers kept, in order."""
        return sorted(self.q)

    def kv_head(self, layer: int, head: int) -> int:
        """The KV head that query head `head` reads."""
        return head // (len(self.q[layer]) // len(self.k[layer]))

    def head(self, layer: int, head: int) -> Dense:
        """One head recomputed: out (n, d), lse (n,), scores and weights (n, m)."""
        if layer not in self.q or not 0 <= head < len(self.q[layer]):
            raise Problem("model_capture_head", layer=layer, head=head)
        q, g = self.q[layer][head], self.kv_head(layer, head)
        return dense(q, self.k[layer][g], self.v[layer][g], self._mask(layer))

    def weights(self, layer: int, last: int | None = None) -> np.ndarray:
        """Attention of all heads of a layer, float32 (heads, n, m), or of its `last` queries; every row sums to 1."""
        rows = slice(0 if last is None else -last, None)
        mask = self._mask(layer).whole(*self.shape(layer))[rows]
        return dense(self.q[layer][:, rows], self.k[layer], self.v[layer], mask).weights

    def shape(self, layer: int) -> tuple[int, int]:
        """(queries n, keys m) of a layer."""
        return self.q[layer].shape[1], self.k[layer].shape[1]

    def _mask(self, layer: int) -> Bias:
        n, m = self.shape(layer)
        window = self.window[layer]
        mask = window_bias(n, m, None if window is None else window - 1)
        return mask if self.bias is None else mask + self.bias
