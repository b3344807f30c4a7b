"""What heads do, as numbers read off the attention of one text, and of one repeated random sequence.

previous token and induction heads: Olsson et al. 2022 (arXiv 2209.11895); sinks: Xiao et al. 2023 (arXiv 2309.17453);
K-channel outliers: Liu et al. 2024, KIVI (arXiv 2402.02750). All arrays are (layers, heads) unless said otherwise. Left
out: what a head is *for*; a number here says where it looks, not what that causes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.capture import Capture
from viz_core.model.llama import Llama

SINK_FROM = 4  # earlier queries see little else than token 0


@dataclass(frozen=True, slots=True)
class Probes:
    """Scores of every head on one text.

    previous: mean weight on the token before. sink: mean weight on token 0, of queries from position 4 on. entropy:
    mean entropy of a row ÷ its largest possible, 0 (one key) … 1 (all alike). redundancy (layers,): mean cosine between
    the maps of two heads of a layer. k_outliers, v_outliers (layers, kv_heads): largest channel's mean |value| ÷ the
    median channel's.
    """

    previous: np.ndarray
    sink: np.ndarray
    entropy: np.ndarray
    redundancy: np.ndarray
    k_outliers: np.ndarray
    v_outliers: np.ndarray


@dataclass(frozen=True, slots=True)
class Induction:
    """A random sequence shown twice: how each head and the whole model use the first showing in the second.

    score: mean weight on the token that followed last time. copied: share of the second showing that greedy choice
    repeats. nll_first, nll_second: mean nats a token in each showing.
    """

    score: np.ndarray
    copied: float
    nll_first: float
    nll_second: float
    ids: tuple[int, ...]


def probe(capture: Capture) -> Probes:
    """The scores of a captured pass over one whole text of more than 5 tokens, without a cache."""
    if not capture.layers or capture.shape(capture.layers[0])[0] <= SINK_FROM + 1:
        raise Problem("model_probe_short", least=SINK_FROM + 2)
    maps = [capture.weights(layer) for layer in capture.layers]
    return Probes(
        previous=np.stack([previous_token(w) for w in maps]),
        sink=np.stack([sink_mass(w) for w in maps]),
        entropy=np.stack([entropy(w) for w in maps]),
        redundancy=np.array([redundancy(w) for w in maps]),
        k_outliers=np.stack([outliers(capture.k[layer]) for layer in capture.layers]),
        v_outliers=np.stack([outliers(capture.v[layer]) for layer in capture.layers]),
    )


def previous_token(weights: np.ndarray) -> np.ndarray:
    """Mean weight of query i on key i − 1, (heads,), of weights (heads, n, n)."""
    return np.diagonal(weights, -1, 1, 2).mean(-1)


def sink_mass(weights: np.ndarray) -> np.ndarray:
    """Mean weight on key 0 of the queries from position 4 on, (heads,)."""
    return weights[:, SINK_FROM:, 0].mean(-1)


def entropy(weights: np.ndarray) -> np.ndarray:
    """Mean over rows of −Σ w ln w ÷ ln(keys seen), (heads,); the first row, which sees one key, is left out."""
    w = weights[:, 1:]
    h = -(w * np.log(np.where(w > 0, w, 1))).sum(-1)
    return (h / np.log(np.arange(2, weights.shape[1] + 1))).mean(-1)


def redundancy(weights: np.ndarray) -> float:
    """Mean cosine between the maps of two different heads; 1 for a layer with one head."""
    near = cosines(weights)[np.triu_indices(len(weights), 1)]
    return float(near.mean()) if near.size else 1.0


def cosines(weights: np.ndarray) -> np.ndarray:
    """Cosine between the maps (heads, n, m) of any two heads, (heads, heads)."""
    flat = weights.reshape(len(weights), -1)
    flat = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    return flat @ flat.T


def best_place(scores: np.ndarray) -> tuple[int, int]:
    """The (layer, head) of the largest of scores (layers, heads)."""
    layer, head = np.unravel_index(int(np.argmax(scores)), scores.shape)
    return int(layer), int(head)


def outliers(x: np.ndarray) -> np.ndarray:
    """Largest channel ÷ median channel by mean |value|, (kv_heads,), of keys or values (kv_heads, n, d)."""
    channel = np.abs(x).mean(1)
    return channel.max(-1) / np.maximum(np.median(channel, -1), np.finfo(np.float32).tiny)


def induction(model: Llama, length: int = 50, seed: int = 0) -> Induction:
    """Show `length` random tokens twice, behind the model's start token (id 0 where it has none)."""
    config = model.config
    if length < 2 or 2 * length + 1 > config.context:
        raise Problem("model_probe_length", length=length, most=(config.context - 1) // 2)
    reserved = {config.bos, *config.eos, 0}
    ordinary = np.array([i for i in range(config.vocab) if i not in reserved])
    once = np.random.default_rng(seed).choice(ordinary, length).tolist()
    ids, capture = [config.bos or 0, *once, *once], Capture()
    logits = model.forward(ids, capture=capture)
    rows = np.arange(length + 1, 2 * length)  # queries whose token was seen before and has a successor
    score = [capture.weights(layer)[:, rows, rows - length + 1].mean(-1) for layer in capture.layers]
    nll = losses(logits[:-1], ids[1:])
    copied = float((logits[rows].argmax(1) == np.array(ids)[rows + 1]).mean())
    return Induction(np.stack(score), copied, float(nll[:length].mean()), float(nll[length + 1 :].mean()), tuple(ids))


def most_moved(one: Capture, other: Capture, last: int = 64) -> tuple[int, int]:
    """The (layer, head) whose weights differ most between two texts of as many tokens, by their `last` queries."""
    moved = [np.abs(one.weights(layer, last) - other.weights(layer, last)).sum((1, 2)) for layer in one.layers]
    return best_place(np.stack(moved))


def mean_loss(model: Llama, ids: Sequence[int]) -> float:
    """Mean −ln p of every token behind the first, in nats; NaN for a text of one token."""
    return float(losses(model.forward(ids)[:-1], list(ids[1:])).mean()) if len(ids) > 1 else math.nan


def losses(logits: np.ndarray, targets: list[int]) -> np.ndarray:
    """−ln p(target) of each row, in nats, float64 (n,)."""
    x = logits.astype(np.float64)
    x -= x.max(1, keepdims=True)
    return np.log(np.exp(x).sum(1)) - x[np.arange(len(targets)), targets]
