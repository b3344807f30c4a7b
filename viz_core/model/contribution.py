"""What a head takes from each token: the value it reads, as long as it is when the head has written it.

Norm-based analysis (Kobayashi et al. 2020, arXiv 2004.10102, section 3): the output of a head is Σ_j a_ij · f(x_j) with
f(x_j) = v_j W_O, so a large weight on a short f(x_j) adds little. Left out: the residual stream and the layer norm
around it (their 2021 follow-up), and whether what is written changes the prediction: a length is no importance either.
"""

from __future__ import annotations

import numpy as np

from viz_core.model.capture import Capture
from viz_core.model.counts import Tally
from viz_core.model.llama import Llama


def written_by(model: Llama, layer: int, head: int, values: np.ndarray) -> np.ndarray:
    """`values` (m, d) of query head `head` through its rows of W_O: what they add to the stream, (m, D)."""
    o, d = model.blocks[layer].o, values.shape[1]
    slots = np.zeros((len(values) + 1, model.config.heads * d), np.float32)
    slots[:-1, head * d : (head + 1) * d] = values
    out = o(slots, Tally())
    return out[:-1] - out[-1]  # the row of zeros is the layer's bias, where it has one


def lengths_written(model: Llama, capture: Capture, layer: int, head: int, first: int | None = None) -> np.ndarray:
    """‖v_j W_O‖ of the captured tokens (the first `first` of them), (m,)."""
    values = capture.v[layer][capture.kv_head(layer, head)][:first]
    return np.linalg.norm(written_by(model, layer, head, values), axis=1)


def shares(weights: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Weights (n, m) × lengths (m,) as shares of each row, (n, m): every row that has any length sums to 1."""
    long = weights * lengths
    total = long.sum(-1, keepdims=True)
    return long / np.where(total == 0, 1, total)
