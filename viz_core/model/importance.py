"""What a head moves, beside where it looks: weights scaled by the size of what each key contributes.

Kobayashi et al. 2020, "Attention is Not Only a Weight" (arXiv 2004.10102): query i receives Σ_j w_ij · v_j W_O, so the
share of key j is ‖w_ij v_j W_O‖, not w_ij; a key with a large weight and a small value adds next to nothing. Left out:
the residual stream and what later layers do with it.
"""

from __future__ import annotations

import numpy as np

from viz_core.model.capture import Capture
from viz_core.model.counts import Tally
from viz_core.model.llama import Llama


def contribution_norms(model: Llama, capture: Capture, layer: int, head: int) -> np.ndarray:
    """‖v_j W_O‖ of every key of one head, float32 (m,): how much it would add at weight 1."""
    block, d = model.blocks[layer], model.config.d_head
    values = capture.v[layer][capture.kv_head(layer, head)]
    rows = np.zeros((len(values) + 1, model.config.heads * d), np.float32)  # a last row of zeros gives the bias alone
    rows[:-1, head * d : (head + 1) * d] = values
    moved = block.o(rows, Tally())
    return np.linalg.norm(moved[:-1] - moved[-1], axis=1)


def value_weighted(model: Llama, capture: Capture, layer: int, head: int) -> np.ndarray:
    """‖w_ij v_j W_O‖ of one head as shares of its row, float32 (n, m): rows sum to 1 like weights, where not all 0."""
    moved = capture.head(layer, head).weights * contribution_norms(model, capture, layer, head)
    total = moved.sum(-1, keepdims=True)
    return moved / np.where(total == 0, 1, total)
