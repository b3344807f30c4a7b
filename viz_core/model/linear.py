"""Linear layers y = x @ W + b with W (in, out): that order lets BLAS read a weight once, in a row.

One row against (in, out) ran at 23 GB/s where (out, in) ran at 12 (NumPy 2, OpenBLAS, one thread). Only where W is much
taller than wide is it the other way round (1536 × 576: 14 against 17), because what counts is the length of a row in
memory: such a W keeps the checkpoint's order and is the transposed view of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from viz_core.model.arena import empty
from viz_core.model.counts import Tally

TALL = 2  # inputs per output from which the checkpoint's own order is the faster one


class Linear(Protocol):
    """What the model needs of a linear layer, whatever its weights are kept in."""

    @property
    def nbytes(self) -> int:
        """Bytes its weights take in memory."""
        ...

    def __call__(self, x: np.ndarray, tally: Tally) -> np.ndarray:
        """x (n, in) → float32 (n, out); the work is added to the tally."""
        ...

    def columns(self, index: np.ndarray) -> np.ndarray:
        """Columns of W as rows, float32 (len(index), in): an embedding look-up where the head is tied to it."""
        ...


@dataclass(frozen=True, slots=True)
class Dense:
    """W float32 (in, out), in the memory order that suits its shape; bias (out,) or none."""

    w: np.ndarray
    bias: np.ndarray | None = None

    @classmethod
    def of(cls, strips: Iterable[np.ndarray], shape: tuple[int, int], bias: np.ndarray | None = None) -> Dense:
        """From strips (·, in) of a checkpoint's matrix, or of several stacked along their outputs: (out, in) in all."""
        outputs, inputs = shape
        tall = inputs >= TALL * outputs
        w, at = empty(shape if tall else (inputs, outputs)), 0
        for strip in strips:
            span = slice(at, at + len(strip))
            if tall:
                w[span] = strip
            else:
                transpose_into(w[:, span], strip)
            at += len(strip)
        return cls(w.T if tall else w, bias)

    @property
    def nbytes(self) -> int:
        """Bytes of W."""
        return self.w.nbytes

    def __call__(self, x: np.ndarray, tally: Tally) -> np.ndarray:
        """x (n, in) → (n, out)."""
        tally.product(len(x), self.w.size, self.w.nbytes)
        y = x @ self.w
        if self.bias is not None:
            y += self.bias
        return y

    def columns(self, index: np.ndarray) -> np.ndarray:
        """W[:, index] as rows, (len(index), in)."""
        return np.ascontiguousarray(self.w[:, index].T)


def transpose_into(out: np.ndarray, part: np.ndarray) -> None:
    """out (in, n) = part (n, in) transposed, in strips of rows that stay in the cache: up to 4 times as fast."""
    strip = 16 if len(part) < 8192 else 256  # a vocabulary's columns lie whole pages apart: fewer, longer visits
    for i in range(0, len(part), strip):
        out[:, i : i + strip] = part[i : i + strip].T
