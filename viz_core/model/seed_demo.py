"""The demo the app grew out of, as a computation: five Hanzi, one head, with and without a KV cache.

Tokens 「我爱北京天」, d = 8, random weights (seed 42, W · 0.3, embeddings · 0.5, drawn in the order W_Q, W_K, W_V,
embeddings). Everything in float64. A projection is one vector times W_K or W_V, counted where it happens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.attention.dense import softmax

TOKENS = ("我", "爱", "北", "京", "天")
D = 8


@dataclass(frozen=True, slots=True)
class SeedStep:
    """One generated token: outputs (d,) both ways, and K/V projections done both ways.

    weights (n,): how the newest query divides its attention over the n tokens so far.
    """

    token: str
    out_uncached: np.ndarray
    out_cached: np.ndarray
    weights: np.ndarray
    projections_uncached: int
    projections_cached: int


@dataclass(frozen=True, slots=True)
class SeedDemo:
    """The whole run. k, v (n, d): the cache at the end; q (n, d): each step's query, never kept by a cache."""

    tokens: tuple[str, ...]
    steps: tuple[SeedStep, ...]
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray

    @property
    def total_uncached(self) -> int:
        """K/V projections of all steps without a cache."""
        return sum(step.projections_uncached for step in self.steps)

    @property
    def total_cached(self) -> int:
        """K/V projections of all steps with a cache."""
        return sum(step.projections_cached for step in self.steps)

    @property
    def saved(self) -> float:
        """Share of the projections that the cache spares, 0 … 1."""
        return 1 - self.total_cached / self.total_uncached

    @property
    def difference(self) -> float:
        """Largest |cached − uncached| of any output."""
        return max(float(np.abs(s.out_cached - s.out_uncached).max()) for s in self.steps)


class _Projector:
    """x @ W with a count of the vectors it projected."""

    def __init__(self, w: np.ndarray) -> None:
        self.w, self.vectors = w, 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.vectors += len(x) if x.ndim == 2 else 1
        return x @ self.w


def seed_demo(tokens: tuple[str, ...] = TOKENS, seed: int = 42) -> SeedDemo:
    """Run both versions over `tokens`, whose embeddings are drawn, not learned."""
    rng = np.random.RandomState(seed)
    w_q, w_k, w_v = (rng.randn(D, D) * 0.3 for _ in range(3))
    x = rng.randn(len(tokens), D) * 0.5
    return SeedDemo(tokens, *_run(tokens, x, w_q, w_k, w_v))


def saved_share(n: int) -> float:
    """Share of K/V projections spared over n tokens, by running both ways on n random tokens and counting."""
    again, once = _Projector(np.eye(1)), _Projector(np.eye(1))
    x = np.ones((n, 1))
    for i in range(n):
        for _ in ("k", "v"):
            again(x[: i + 1])
            once(x[i])
    return 1 - once.vectors / again.vectors


def _run(
    tokens: tuple[str, ...], x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
) -> tuple[tuple[SeedStep, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Both versions step by step; the cached one writes each new k and v behind the others and reads them all."""
    kept_k, kept_v, queries = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    steps = []
    for i, token in enumerate(tokens):
        again_k, again_v, once_k, once_v = (_Projector(w) for w in (w_k, w_v, w_k, w_v))
        queries[i] = x[i] @ w_q
        plain, _ = _attend(queries[i], again_k(x[: i + 1]), again_v(x[: i + 1]))
        kept_k[i], kept_v[i] = once_k(x[i]), once_v(x[i])
        cached, weights = _attend(queries[i], kept_k[: i + 1], kept_v[: i + 1])
        steps.append(
            SeedStep(
                token,
                plain,
                cached,
                weights,
                again_k.vectors + again_v.vectors,
                once_k.vectors + once_v.vectors,
            )
        )
    return tuple(steps), queries, kept_k, kept_v


def _attend(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One query (d,) over k, v (n, d) → output (d,) and weights (n,).

    Scores are divided by √d after the product, as in the demo: the order decides the last bits.
    """
    weights, _ = softmax(k @ q / np.sqrt(D))
    return weights @ v, weights
