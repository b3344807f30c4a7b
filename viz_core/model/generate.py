"""Generation as an iterator of finished steps: take as many as wanted, stop at any time, keep what was made.

Uncached generation recomputes every position at every step, as a model without a KV cache must; both ways emit the same
kind of step, so they can be laid side by side. Left out: beam search, repetition penalties.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.cache import KVCache
from viz_core.model.counts import Counts, Tally
from viz_core.model.llama import Llama

Stop = Literal["", "eos", "length", "context"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn: greedy at temperature 0, else from the likeliest top_k holding top_p of the mass."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 42

    def __post_init__(self) -> None:
        if not (0 <= self.temperature <= 100 and self.top_k >= 0 and 0 < self.top_p <= 1):
            raise Problem("model_sampling", temperature=self.temperature, top_k=self.top_k, top_p=self.top_p)


@dataclass(frozen=True, slots=True)
class Step:
    """One new token and what it took.

    computed, reused: positions whose K and V were projected now, or read from the cache. counts: work of this step
    alone. seconds: wall time. cache_bytes: bytes of keys and values kept after the step (0 without a cache).
    top: the likeliest next tokens as (id, probability), before temperature. stop: why nothing follows, "" if it may.
    """

    index: int
    token: int
    computed: int
    reused: int
    counts: Counts
    seconds: float
    cache_bytes: int
    top: tuple[tuple[int, float], ...]
    stop: Stop

    @property
    def length(self) -> int:
        """Tokens in the sequence when this token was chosen."""
        return self.computed + self.reused


def generate(
    model: Llama,
    ids: Sequence[int],
    n: int,
    *,
    cached: bool = True,
    cache: KVCache | None = None,
    sampling: Sampling | None = None,
    ignore_eos: bool = False,
) -> Iterator[Step]:
    """Up to n new tokens after the prompt `ids`, which are checked at once; the work is done as steps are taken.

    cache: one to go on with, whose tokens precede `ids`; a fresh one is made unless given. Ends early at an
    end-of-sequence token (kept as the last step, unless ignore_eos) or where the context is full.
    """
    model.check(ids, cache)
    if cached and cache is None:
        cache = model.new_cache(min(model.config.context, len(ids) + max(n, 1)))
    return _steps(model, list(ids), n, cache if cached else None, sampling or Sampling(), ignore_eos)


def _steps(
    model: Llama, ids: list[int], n: int, cache: KVCache | None, sampling: Sampling, ignore_eos: bool
) -> Iterator[Step]:
    rng, fresh = np.random.default_rng(sampling.seed), ids
    for index in range(n):
        reused, tally, start = cache.length if cache else 0, Tally(), time.perf_counter()
        logits = model.forward(fresh, cache, counts=tally, last_only=True)[0]
        token = choose(logits, sampling, rng)
        seconds = time.perf_counter() - start
        length = reused + len(fresh)
        full = length >= (min(model.config.context, cache.capacity) if cache else model.config.context)
        done = token in model.config.eos and not ignore_eos
        stop: Stop = "eos" if done else "length" if index + 1 == n else "context" if full else ""
        kept = cache.nbytes if cache else 0
        yield Step(index, token, len(fresh), reused, tally.now, seconds, kept, likeliest(logits), stop)
        if stop:
            return
        fresh = [token] if cache else [*fresh, token]


def choose(logits: np.ndarray, sampling: Sampling, rng: np.random.Generator) -> int:
    """The next token id of logits (V,); ties of the greedy choice go to the lowest id."""
    if sampling.temperature == 0:
        return int(logits.argmax())
    p = softmax(logits / sampling.temperature)
    order = np.argsort(-p, kind="stable")
    if sampling.top_k:
        order = order[: sampling.top_k]
    kept = np.cumsum(p[order]) - p[order] < sampling.top_p * p[order].sum()
    order = order[kept]
    return int(rng.choice(order, p=p[order] / p[order].sum()))


def likeliest(logits: np.ndarray, k: int = 5) -> tuple[tuple[int, float], ...]:
    """The k likeliest ids with their probabilities, likeliest first."""
    k = min(k, len(logits))
    top = np.argpartition(-logits, k - 1)[:k]
    top = top[np.argsort(-logits[top], kind="stable")]
    p = softmax(logits)
    return tuple((int(i), float(p[i])) for i in top)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities float64 (V,)."""
    e = np.exp(logits.astype(np.float64) - logits.max())
    return e / e.sum()
