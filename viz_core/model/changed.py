"""A model with its linear layers changed, and how far its next-token distributions move by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from viz_core.model.library import checkpoint
from viz_core.model.llama import Llama
from viz_core.model.weights import Tensors, build

Change = Callable[[str, np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class Changed:
    """A checkpoint whose layers' matrices (out, in) pass through `change(name, matrix)` as they are read.

    Norms, biases, the embedding and the head stay as they are, as in the usual weight-only schemes.
    """

    tensors: Tensors
    change: Change

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def read(self, name: str) -> np.ndarray:
        """One tensor, changed if it is a layer's matrix."""
        values = self.tensors.read(name)
        return self.change(name, values) if name.startswith("model.layers.") and values.ndim == 2 else values


def changed(name: str, change: Change) -> Llama:
    """The model `name` (see `library.names`), built from changed matrices."""
    config, tensors = checkpoint(name)
    return build(config, Changed(tensors, change))


@dataclass(frozen=True, slots=True)
class Shift:
    """How far next-token distributions moved, over n positions.

    kl: mean KL(before ‖ after) in nats. flips: share of positions whose likeliest token changed. largest: the largest
    change of one token's probability.
    """

    kl: float
    flips: float
    largest: float


def shift(before: np.ndarray, after: np.ndarray) -> Shift:
    """Compare logits (n, V) of the same text."""
    a, b = log_softmax(before), log_softmax(after)
    p = np.exp(a)
    kl = float((p * (a - b)).sum(1).mean())
    flips = float((before.argmax(1) != after.argmax(1)).mean())
    return Shift(max(kl, 0.0), flips, float(np.abs(p - np.exp(b)).max()))


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Natural logarithms of the probabilities, float64 (n, V)."""
    x = logits.astype(np.float64)
    x -= x.max(1, keepdims=True)
    return x - np.log(np.exp(x).sum(1, keepdims=True))
