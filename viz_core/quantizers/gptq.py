"""GPTQ (arXiv 2210.17323, algorithm 1; IST-DASLab/gptq `gptq.py`): rounding that makes up for its own errors.

Input dimensions are rounded one after the other, and what rounding did to one is pushed into those not yet rounded, by
the inverse Hessian of the layer's output error. The weights move further from where they were, the output less.
Left out: activation order and static groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.i18n import Problem

BLOCK = 128
"""Columns whose errors are pushed on together; a group's range is read when its block of columns starts."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Asymmetric integers 0..top for columns: scale and zero point of each output (outputs,)."""

    scale: np.ndarray
    zero: np.ndarray
    top: int

    @staticmethod
    def of(w: np.ndarray, bits: int) -> Columns:
        """The range of every row of `w` (outputs, columns), widened to hold 0."""
        top = (1 << bits) - 1
        low, high = np.minimum(w.min(axis=1), 0), np.maximum(w.max(axis=1), 0)
        blank = (low == 0) & (high == 0)
        low, high = np.where(blank, -1, low), np.where(blank, 1, high)
        scale = (high - low) / top
        return Columns(scale, np.rint(-low / scale), top)

    def round(self, column: np.ndarray) -> np.ndarray:
        """The nearest values that one column can take."""
        codes = np.clip(np.rint(column / self.scale) + self.zero, 0, self.top)
        return self.scale * (codes - self.zero)


def hessian(inputs: np.ndarray, damp: float = 0.01) -> np.ndarray:
    """2 X Xᵀ / tokens of `inputs` (tokens, in), damped by a share of its mean diagonal; float64 (in, in)."""
    x = inputs.astype(np.float64)
    h = 2 * x.T @ x / len(x)
    h[np.diag_indices_from(h)] += damp * max(float(np.mean(np.diag(h))), 1e-12)
    return h


def gptq(
    weight: np.ndarray, inputs: np.ndarray, bits: int = 4, group: int | None = None, damp: float = 0.01
) -> np.ndarray:
    """`weight` (in, out) rounded by GPTQ for the layer inputs that were seen.

    Args:
        weight: float (in, out), y = x @ weight.
        inputs: float (tokens, in).
        bits: bits of a code.
        group: input dimensions that share a scale; None for all of them.
        damp: added to the Hessian's diagonal, as a share of its mean.

    Returns:
        float32 (in, out), each value on its group's grid.
    """
    if weight.ndim != 2 or inputs.ndim != 2 or inputs.shape[1] != weight.shape[0]:
        raise Problem("quantizers_layer", weight=weight.shape, inputs=inputs.shape)
    h = hessian(inputs, damp)
    push = np.linalg.cholesky(np.linalg.inv(h)).T  # upper triangular: row i spreads the error of dimension i
    w = weight.T.astype(np.float64).copy()
    out = np.empty_like(w)
    grid = Columns.of(w, bits)
    for start in range(0, w.shape[1], BLOCK):
        stop = min(start + BLOCK, w.shape[1])
        seen = w.copy() if group else w  # the reference reads group ranges from before this block's own updates
        errors = np.zeros((len(w), stop - start))
        for i in range(start, stop):
            if group and i % group == 0:
                grid = Columns.of(seen[:, i : i + group], bits)
            out[:, i] = grid.round(w[:, i])
            errors[:, i - start] = (w[:, i] - out[:, i]) / push[i, i]
            w[:, i:stop] -= np.outer(errors[:, i - start], push[i, i:stop])
        w[:, stop:] -= errors @ push[start:stop, stop:]
    return out.T.astype(np.float32)


def nearest(weight: np.ndarray, bits: int = 4, group: int | None = None) -> np.ndarray:
    """`weight` (in, out) rounded to nearest on the same grids: what GPTQ is compared with."""
    rounded = [np.stack([Columns.of(p, bits).round(c) for c in p.T], axis=1) for p in _groups(weight, group)]
    return np.concatenate(rounded, axis=1).T.astype(np.float32)


def half_steps(weight: np.ndarray, bits: int = 4, group: int | None = None) -> np.ndarray:
    """Half the step of the grid that `nearest` rounds each weight on, float64 (in, out): its largest possible error."""
    steps = [np.repeat(Columns.of(p, bits).scale[:, None], p.shape[1], axis=1) for p in _groups(weight, group)]
    return np.concatenate(steps, axis=1).T / 2


def _groups(weight: np.ndarray, group: int | None) -> list[np.ndarray]:
    """The weight (in, out) as stretches (out, columns) that share a scale an output, float64."""
    w = weight.T.astype(np.float64)
    size = group or w.shape[1]
    return [w[:, i : i + size] for i in range(0, w.shape[1], size)]
