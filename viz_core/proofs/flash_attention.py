"""Claims about tiled attention, each measured by running both sides.

Tolerance of float32 against dense float64: 5e-6 + 1e-5 · max |out|, for logits up to 10. A logit itself is rounded in
proportion to its size, before any algorithm begins, so beyond that the tolerance grows with the largest logit.
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


def tolerance(want: Dense) -> float:
    """What rounding to float32 may cost on these inputs."""
    logits = want.scores[np.isfinite(want.scores)]
    top = float(np.abs(logits).max(initial=0))
    return (5e-6 + 1e-5 * float(np.abs(want.out).max())) * max(1.0, top / 10)


def tiled_equals_dense(got: State, want: Dense) -> Proof:
    """The output of a walk, in whatever order, is that of dense attention; rows that see nothing give 0."""
    blind = np.isneginf(want.lse)
    zero = not got.out[blind].any() and bool(np.isneginf(got.lse[blind]).all())
    return at_most("tiled_equals_dense", float(np.abs(got.out - want.out).max()), tolerance(want), zero)


def split_equals_dense(steps: Iterable[Step], want: Dense) -> Proof:
    """Keys walked in separate parts and joined give the output of dense attention."""
    worst = float(np.abs(assemble(steps).out - want.out).max())
    return at_most("split_equals_dense", worst, tolerance(want))


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
        allowed = max(allowed, tolerance(want))
    return at_most("stale_equals_dense", worst, allowed)
