"""A whole text through a quantized cache in one pass, as a decoder would read it token by token.

What a token sees of the newest ones depends on when it looks: they are exact to it and in codes to later ones. So the
cache answers with every key four times, K and V in codes or exact, and a mask lets each query see the one it would
have. For texts read from their start and without a window; short last groups are never seen, as their tokens are still
exact to all.
"""

from __future__ import annotations

import numpy as np

from viz_core.attention.bias import Bias, array
from viz_core.model.cache import KVCache
from viz_core.model.quantized_cache import QuantizedCache, Side

COPIES = ((False, False), (True, False), (False, True), (True, True))
"""Which of K and V each copy holds exactly; the last copy lies where causality looks, the others are masked alone."""


class OnePass(QuantizedCache):
    """Room for one text of `capacity` tokens and a residual of `recent`; pass `bias` to `forward` with it."""

    def put(self, layer: int, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One layer's k, v of the whole text → each four times over, (kv_heads, 4 n, d_head)."""
        keys, values = KVCache.put(self, layer, k, v)
        ks, vs = (keys, self.k_side.stored(keys)), (values, self.v_side.stored(values))
        return (
            np.concatenate([ks[0 if exact else 1] for exact, _ in COPIES], axis=1),
            np.concatenate([vs[0 if exact else 1] for _, exact in COPIES], axis=1),
        )

    @property
    def bias(self) -> Bias:
        """Which copy of each key a query sees, (n, 4 n); future keys are masked in all."""
        n = self.capacity
        k, v = (exact_to(side, n, self.recent) for side in (self.k_side, self.v_side))
        past = np.tri(n, dtype=bool)
        seen = [past & (k == k_exact) & (v == v_exact) for k_exact, v_exact in COPIES]
        return array(np.where(np.concatenate(seen, axis=1), np.float32(0), np.float32(-np.inf)))


def exact_to(side: Side, n: int, recent: int) -> np.ndarray:
    """Whether key j is exact to query i, bool (n, n): it is one of the newest when i + 1 tokens are held."""
    newest = np.array([side.exact(i + 1, recent) for i in range(n)])
    return np.arange(n)[None] > (np.arange(n) - newest)[:, None]


def fold(weights: np.ndarray) -> np.ndarray:
    """Attention over the copies (…, n, 4 n) as attention over the tokens, (…, n, n)."""
    n = weights.shape[-2]
    return weights.reshape(*weights.shape[:-1], len(COPIES), n).sum(axis=-2)
