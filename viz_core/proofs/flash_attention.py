"""Claims about tiled attention, each measured by running both sides.

Tolerance of float32 against dense float64: 5e-6 + 1e-5 · max |out|, and four times what dense attention in float32 errs
on the same inputs. Large logits are rounded before any algorithm begins; no order of additions may be worse than that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from viz_core.attention.bias import Bias, Floats
from viz_core.attention.by_hand import by_hand
from viz_core.attention.dense import Dense, dense, softmax
from viz_core.attention.rescaling import TILE, drawn
from viz_core.attention.rules import CUBIC, Rule, exp2_cubic
from viz_core.attention.state import State
from viz_core.attention.tiled import Step, assemble, tiled
from viz_core.proofs.proof import Proof, at_most

CUBIC_ERROR = 9e-5


def exact(q: Floats, k: Floats, v: Floats, bias: Bias | None = None) -> Dense:
    """Dense attention in float64: what every order is compared with."""
    return dense(q.astype(np.float64), k.astype(np.float64), v.astype(np.float64), bias)


def tolerance(want: Dense, plain: Dense) -> float:
    """What rounding to float32 may cost on these inputs; plain: dense attention in their own precision."""
    own = float(np.abs(plain.out - want.out).max())
    return 5e-6 + 1e-5 * float(np.abs(want.out).max()) + 4 * own


def tiled_equals_dense(got: State, q: Floats, k: Floats, v: Floats, bias: Bias | None = None) -> Proof:
    """The output of a walk, in whatever order, is that of dense attention; rows that see nothing give 0."""
    want = exact(q, k, v, bias)
    blind = np.isneginf(want.lse)
    zero = not got.out[blind].any() and bool(np.isneginf(got.lse[blind]).all())
    worst = float(np.abs(got.out - want.out).max())
    return at_most("tiled_equals_dense", worst, tolerance(want, dense(q, k, v, bias)), zero)


def split_equals_dense(steps: Iterable[Step], q: Floats, k: Floats, v: Floats) -> Proof:
    """Keys walked in separate parts and joined give the output of dense attention."""
    want = exact(q, k, v)
    worst = float(np.abs(assemble(steps).out - want.out).max())
    return at_most("split_equals_dense", worst, tolerance(want, dense(q, k, v)))


def by_hand_equals_softmax(scores: Sequence[float], values: Sequence[float], size: int) -> Proof:
    """Both rules' last row is the softmax-weighted mean of the values, in float64."""
    want = float(softmax(np.array(scores, np.float64))[0] @ np.array(values, np.float64))
    outs = [by_hand(scores, values, size, normalise=way)[-1].out for way in (False, True)]
    worst = max(abs(out - want) for out in outs)
    return at_most("by_hand_equals_softmax", worst, 1e-12 * max(1.0, max(map(abs, values))))


def cubic_is_close() -> Proof:
    """The cubic exp2 errs by less than half a unit of float16's last place, 4.9e-4, relatively; 1 at 0 exactly."""
    x = np.linspace(-30, 0, 100_001)
    worst = float(np.abs(exp2_cubic(x) / np.exp2(x) - 1).max())
    return at_most("cubic_is_close", worst, CUBIC_ERROR, math.isclose(CUBIC[0], 1.0))


def stale_equals_dense(tau: float) -> Proof:
    """A reference that stays until a row grows by 2^τ gives the output of dense attention."""
    worst, allowed = 0.0, 0.0
    for spread in (1, 3, 10):
        q, k, v = drawn(spread)
        want = exact(q, k, v)
        got = assemble(tiled(q, k, v, TILE, rule=Rule("stale", tau=tau)))
        worst = max(worst, float(np.abs(got.out - want.out).max()))
        allowed = max(allowed, tolerance(want, dense(q, k, v)))
    return at_most("stale_equals_dense", worst, allowed)
