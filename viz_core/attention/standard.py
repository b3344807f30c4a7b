"""Standard attention as the same Steps: scores and weights of the whole matrix go out to HBM and come back.

Dao et al. 2022 (arXiv 2205.14135), algorithm 0. Each tensor is loaded whole, once a use.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.check import fit
from viz_core.attention.dense import dense
from viz_core.attention.state import State
from viz_core.attention.tiled import Step


def standard(
    q: Floats, k: Floats, v: Floats, *, bias: Bias | None = None, scale: float | None = None, e: int = 2
) -> Iterator[Step]:
    """S = qkᵀ to HBM, P = softmax(S) to HBM, O = PV: (2nd + 2md + 4nm) e bytes, a bias not counted."""
    scale = fit(q, k, v, scale)
    got = dense(q, k, v, bias, scale)
    (n, d), (m, dv) = q.shape, v.shape
    yield Step("load", "Q", 0, None, n * d * e)
    yield Step("load", "K", None, 0, m * d * e)
    yield Step("fold", "S", 0, 0, 0, 2 * n * m * d)
    for op, tensor in (("store", "S"), ("load", "S")):
        yield Step(op, tensor, 0, 0, n * m * e)  # type: ignore[arg-type]
    yield Step("fold", "P", 0, 0)
    for op, tensor in (("store", "P"), ("load", "P")):
        yield Step(op, tensor, 0, 0, n * m * e)  # type: ignore[arg-type]
    yield Step("load", "V", None, 0, m * dv * e)
    seen = ~np.isneginf(got.lse)
    state = State(got.lse, seen.astype(got.out.dtype), got.out)
    yield Step("fold", "O", 0, 0, 0, 2 * n * m * dv, state)
    yield Step("store", "O", 0, None, n * dv * e, 0, state)
