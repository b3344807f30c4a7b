"""Claims about what the attention page shows, measured on the very arrays that it draws.

Tolerance: 1e-4 for float32 sums of hundreds of products relative to their largest value, 1e-6 for rows of weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viz_core.attention.fast import attend
from viz_core.model.capture import Capture
from viz_core.model.contribution import written_by
from viz_core.model.llama import Llama
from viz_core.model.streaming import window_with_sinks
from viz_core.proofs.proof import Proof, at_most

ROW_SUM = 1e-6
RELATIVE = 1e-4


def layer_rows_sum_to_one(capture: Capture, layer: int) -> Proof:
    """Every row of every head of one layer sums to 1, and what lies in the future weighs exactly 0."""
    weights, (n, m) = capture.weights(layer), capture.shape(layer)
    worst = np.abs(weights.sum(-1, dtype=np.float64) - 1).max()
    future = np.abs(weights[:, ~np.tri(n, m, m - n, dtype=bool)]).max(initial=0)
    return at_most("layer_rows_sum_to_one", float(worst), ROW_SUM, bool(future == 0))


def shown_equals_used(capture: Capture, layer: int) -> Proof:
    """The maps shown, computed dense, give the outputs of the tiled path that the model itself runs on."""
    q, k, v = capture.q[layer], capture.k[layer], capture.v[layer]
    used = attend(q, k, v, causal=True, window=capture.window[layer], bias=capture.bias)
    shown = np.stack([capture.head(layer, head).out for head in range(len(q))])
    return at_most("shown_equals_used", _relative(shown, used), RELATIVE)


def values_add_up(model: Llama, capture: Capture, layer: int, head: int) -> Proof:
    """The weighted values v_j W_O, whose lengths are shown, add up to what the head writes."""
    dense = capture.head(layer, head)
    added = dense.weights @ written_by(model, layer, head, capture.v[layer][capture.kv_head(layer, head)])
    return at_most("values_add_up", _relative(added, written_by(model, layer, head, dense.out)), RELATIVE)


def past_is_equal(one: np.ndarray, other: np.ndarray, first: int) -> Proof:
    """The rows of two maps before the first token that differs are the same: nothing looks ahead."""
    return at_most("past_is_equal", float(np.abs(one[:first] - other[:first]).max(initial=0)), ROW_SUM)


def window_of_everything(model: Llama, ids: Sequence[int]) -> Proof:
    """A window as long as the text masks nothing: the same logits as without one."""
    whole = model.forward(ids)
    masked = model.forward(ids, bias=window_with_sinks(len(ids), len(ids)))
    return at_most("window_of_everything", _relative(masked, whole), RELATIVE)


def _relative(a: np.ndarray, b: np.ndarray) -> float:
    """Largest absolute difference ÷ the largest magnitude."""
    return float(np.abs(a.astype(np.float64) - b).max() / max(np.abs(b).max(), np.finfo(np.float32).tiny))
