"""How a tile is folded into a running State: the papers differ here, and only here.

FA1: Dao et al. 2022 (arXiv 2205.14135), algorithm 1, normalises the output at every visit and undoes it at the next.
FA2: Dao 2023 (arXiv 2307.08691) divides once, at the end. FA4: flash-attn 2.8, flash_attn/cute/softmax.py, keeps a
stale reference until a row grows by 2^τ, and computes exp2 by a cubic. Left out: FA4 sends only a tenth to a sixth of
the elements through the cubic; here all go, the worst case. FA3's fp8 belongs to the quantizers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.attention.bias import Floats
from viz_core.attention.state import Exp, State, finite, lift

LOG2E = float(np.log2(np.e))
CUBIC = (1.0, 0.6951461434, 0.2275643945, 0.0771190897)


def exp2_cubic(x: Floats, out: Floats | None = None) -> Floats:
    """2^x by a cubic on the fraction, the whole part in the exponent; 0 below 2^−127, as the kernel flushes it."""
    whole = np.floor(np.maximum(x, -127))
    f = np.maximum(x, -127) - whole
    y = np.full_like(f, CUBIC[3])
    for c in CUBIC[2::-1]:
        y = y * f + x.dtype.type(c)
    return np.multiply(np.ldexp(y, whole.astype(np.int32)), x >= -127, out=out)


def exp_cubic(x: Floats, out: Floats | None = None) -> Floats:
    """e^x through `exp2_cubic`."""
    return exp2_cubic(x * x.dtype.type(LOG2E), out)


@dataclass(frozen=True, slots=True)
class Rule:
    """tau: a reference stays while its row grows by less than 2^tau (0: always the running maximum).

    exp: e^x. normalise: divide the output at every visit. p_as: the type of the weights in the second product.
    """

    name: str
    tau: float = 0.0
    exp: Exp = np.exp
    normalise: bool = False
    p_as: type[np.floating] | None = None

    def reference(self, m: Floats, top: Floats) -> Floats:
        """The reference after a tile whose row maxima are `top`, given the old one, both (r,)."""
        new = np.maximum(m, top)
        if self.tau == 0:
            return new
        with np.errstate(over="ignore"):  # a row's first score lies further above −∞ than any τ
            return np.where(new - finite(m) <= self.tau / LOG2E, m, new)

    def fold(self, old: State, s: Floats, v: Floats) -> State:
        """The state after one more tile: scores s (r, c), overwritten; v (c, dv)."""
        m = self.reference(old.m, np.maximum.reduce(s, 1))
        kept, new = old.at(m, self.exp), lift(s, v, m, self.exp, self.p_as)
        total, o = kept.l + new.l, kept.o + new.o
        if self.normalise:
            safe = np.where(total == 0, 1, total)[:, None]
            o = o / safe * safe  # what HBM holds is o / l; the next visit multiplies by l again (line 12)
        return State(m, total, o)


FA1 = Rule("FA1", normalise=True)
FA2 = Rule("FA2")
FA4 = Rule("FA4", tau=8.0)
FA4_CUBIC = Rule("FA4 + cubic exp2", tau=8.0, exp=exp_cubic)
RULES = {rule.name: rule for rule in (FA1, FA2, FA4, FA4_CUBIC)}
