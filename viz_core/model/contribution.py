"""What a head takes from each token: the value it reads, as long as it is when the head has written it.

Norm-based analysis (Kobayashi et al. 2020, arXiv 2004.10102, section 3): the output of a head is Σ_j a_ij · f(x_j) with
f(x_j) = v_j W_O, so a large weight on a short f(x_j) adds little. Left out: the residual stream and the layer norm
around it (their 2021 follow-up). A length is no importance either; `silenced` takes a head away, to see what changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from viz_core.model.capture import Capture
from viz_core.model.counts import Tally
from viz_core.model.linear import Linear
from viz_core.model.llama import Llama


def written_by(model: Llama, layer: int, head: int, values: np.ndarray) -> np.ndarray:
    """`values` (m, d) of query head `head` through its rows of W_O: what they add to the stream, (m, D)."""
    o, d = model.blocks[layer].o, values.shape[1]
    slots = np.zeros((len(values) + 1, model.config.heads * d), np.float32)
    slots[:-1, head * d : (head + 1) * d] = values
    out = o(slots, Tally())
    return out[:-1] - out[-1]  # the row of zeros is the layer's bias, where it has one


def lengths(model: Llama, capture: Capture, layer: int, head: int, first: int | None = None) -> np.ndarray:
    """‖v_j W_O‖ of the captured tokens (of the first `first` of them), (m,)."""
    values = capture.v[layer][capture.kv_head(layer, head)][:first]
    return np.linalg.norm(written_by(model, layer, head, values), axis=1)


def taken(model: Llama, capture: Capture, layer: int, head: int, first: int | None = None) -> np.ndarray:
    """a_ij · ‖v_j W_O‖ of the captured tokens (of the first `first` of them), (n, m)."""
    weights = capture.head(layer, head).weights[:first, :first]
    return weights * lengths(model, capture, layer, head, first)


def overstated(model: Llama, capture: Capture, first: int | None = None) -> np.ndarray:
    """By how much the share of weight on token 0 exceeds its share of what is taken, (layers, heads)."""
    out = np.zeros((len(capture.layers), model.config.heads))
    for layer, head in np.ndindex(*out.shape):
        weights = capture.head(layer, head).weights[:first, :first]
        out[layer, head] = on_first(weights) - on_first(taken(model, capture, layer, head, first))
    return out


def on_first(map_: np.ndarray) -> float:
    """The share of a map's sum that stands on key 0, without query 0, which sees nothing else."""
    rows = map_[1:] if len(map_) > 1 else map_
    return float(rows[:, 0].sum() / max(rows.sum(), np.finfo(np.float32).tiny))


@dataclass(frozen=True, slots=True)
class Muted:
    """A linear layer that sees zeros in a slice of its inputs."""

    inner: Linear
    dead: slice

    @property
    def nbytes(self) -> int:
        """Bytes of the layer's weights."""
        return self.inner.nbytes

    def __call__(self, x: np.ndarray, tally: Tally) -> np.ndarray:
        """x (n, in) → (n, out), x[:, dead] taken as 0."""
        x = x.copy()
        x[:, self.dead] = 0
        return self.inner(x, tally)

    def columns(self, index: np.ndarray) -> np.ndarray:
        """The layer's own columns."""
        return self.inner.columns(index)


def silenced(model: Llama, layer: int, head: int) -> Llama:
    """The same model, in which one query head writes nothing."""
    d = model.blocks[layer].layer.d_head
    block = replace(model.blocks[layer], o=Muted(model.blocks[layer].o, slice(head * d, (head + 1) * d)))
    return replace(model, blocks=(*model.blocks[:layer], block, *model.blocks[layer + 1 :]))
