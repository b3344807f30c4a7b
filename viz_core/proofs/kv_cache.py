"""Claims about the KV cache, each measured by running both sides.

Tolerances: 1e-4 for float32 logits and 1e-6 for the row sums of attention weights; the demo in float64 may differ in
the last bits only: 2⁻⁵⁴ = 5.6e-17 on most processors, other matrix kernels 2⁻⁵³, so 2⁻⁵² is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viz_core.model.capture import Capture
from viz_core.model.generate import Step, generate
from viz_core.model.llama import Llama
from viz_core.model.prefix import continue_from
from viz_core.model.seed_demo import SeedDemo
from viz_core.proofs.proof import Proof, at_most

LOGITS = 1e-4
ROW_SUM = 1e-6
LAST_BITS = 2.0**-52


def demo_cached_equals_uncached(demo: SeedDemo) -> Proof:
    """The five-token demo gives the same outputs with and without its cache, but for the last bits of float64."""
    return at_most("demo_cached_equals_uncached", demo.difference, LAST_BITS)


def cached_equals_uncached(model: Llama, ids: Sequence[int], n: int = 8) -> Proof:
    """Token by token through a cache gives the logits of one uncached pass, and the same greedy text of n tokens."""
    whole, cache = model.forward(ids), model.new_cache(len(ids))
    stepwise = np.concatenate([model.forward([i], cache) for i in ids])
    same = [[step.token for step in generate(model, ids, n, cached=way)] for way in (True, False)]
    return at_most("cached_equals_uncached", _apart(stepwise, whole), LOGITS, same[0] == same[1])


def prefix_equals_full(model: Llama, prefix: Sequence[int], suffix: Sequence[int]) -> Proof:
    """A prompt whose beginning comes out of another request's cache gives the logits of the whole prompt."""
    ids, held = [*prefix, *suffix], model.new_cache(len(prefix))
    model.forward(prefix, held)
    cache, reused = continue_from(model, held, prefix, ids)
    rest = model.forward(ids[reused:], cache)
    return at_most("prefix_equals_full", _apart(rest, model.forward(ids)[reused:]), LOGITS)


def batch_of_one(model: Llama, ids: Sequence[int], others: Sequence[Sequence[int]] = ()) -> Proof:
    """A sequence computed in a batch, alone in it or among `others`, has the logits it has by itself."""
    alone = model.forward(ids)
    batches = ([ids], [ids, *others])
    apart = [_apart(model.forward_batch(b, [model.new_cache(len(s)) for s in b])[0], alone) for b in batches]
    return at_most("batch_of_one", max(apart), LOGITS)


def rows_sum_to_one(capture: Capture) -> Proof:
    """Every row of every captured head sums to 1, and what lies in the future weighs exactly 0."""
    worst, future = np.float64(0), np.float64(0)
    for layer in capture.layers:
        weights, (n, m) = capture.weights(layer), capture.shape(layer)
        worst = np.maximum(worst, np.abs(weights.sum(-1, dtype=np.float64) - 1).max())  # NaN stays NaN
        future = np.maximum(future, np.abs(weights[:, ~np.tri(n, m, m - n, dtype=bool)]).max(initial=0))
    return at_most("rows_sum_to_one", float(worst), ROW_SUM, bool(future == 0))


def projections_match_formula(layers: int, prompt: int, cached: Sequence[Step], uncached: Sequence[Step]) -> Proof:
    """K/V projections counted while N tokens were generated after P are 2L(P + N − 1) cached and 2L Σ(P + i) uncached.

    Both runs must have gone to their end past end-of-text tokens (`generate(..., ignore_eos=True)`).
    """
    counted = [sum(step.counts.kv_projections for step in steps) for steps in (cached, uncached)]
    expected = [2 * layers * (prompt + len(cached) - 1), 2 * layers * sum(prompt + i for i in range(len(uncached)))]
    off = sum(abs(a - b) for a, b in zip(counted, expected, strict=True))
    return at_most("projections_match_formula", off, 0)


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    """Largest absolute difference of two arrays of one shape."""
    return float(np.abs(a.astype(np.float64) - b).max())
