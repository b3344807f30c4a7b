"""How often a running maximum moves, and how rarely by 2^τ: FlashAttention-4's reason for a stale one."""

from __future__ import annotations

import numpy as np

from viz_core.attention.bias import Floats
from viz_core.attention.rules import Rule
from viz_core.attention.tiled import tiled
from viz_core.attention.views import rescales

QUERIES, KEYS, D = 64, 2048, 64
TILE = (64, 128)


def drawn(spread: float, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """QUERIES queries with standard deviation `spread`, KEYS standard-normal keys and values."""
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=(n, D)).astype(np.float32) for n in (QUERIES, KEYS, KEYS))
    return q * np.float32(spread), k, v


def rescale_count(spread: float, tau: float) -> int:
    """Rows rescaled over the whole walk, each row's first tile apart; tau = 0: whenever its maximum grows."""
    q, k, v = drawn(spread)
    return rescales(tiled(q, k, v, TILE, rule=Rule("counted", tau=tau)))
