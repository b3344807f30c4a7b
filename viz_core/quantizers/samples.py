"""Tensors to quantize: real float32 weights that were never quantized before, and generated ones.

SmolLM2's file is no such tensor: it is already Q4_1, so that format would have no error at all on it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from viz_core.i18n import Problem

PATH = Path(__file__).parent / "data" / "minilm.npz"
REAL = ("ffn_in", "ffn_out", "query")
"""Slices of all-MiniLM-L6-v2, see data/README.md."""
MADE = ("normal", "heavy", "outliers", "one_sided")
"""Generated: normal; Student t (3 degrees of freedom); normal with one value in a thousand × 30; |normal|."""
SAMPLES = (*REAL, *MADE)
SHAPE = (256, 512)


@cache
def sample(name: str) -> np.ndarray:
    """The tensor of that name, float32 (rows, columns), read-only; Problem for an unknown name."""
    if name in REAL:
        with np.load(PATH, allow_pickle=False) as file:
            values = file[name]
    elif name in MADE:
        values = _made(name)
    else:
        raise Problem("quantizers_sample", name=name, known=", ".join(SAMPLES))
    values.flags.writeable = False
    return values


def _made(name: str) -> np.ndarray:
    rng = np.random.default_rng(MADE.index(name))
    normal = rng.standard_normal(SHAPE)
    if name == "heavy":
        normal = rng.standard_t(3, SHAPE)
    elif name == "outliers":
        normal[rng.random(SHAPE) < 1e-3] *= 30
    elif name == "one_sided":
        normal = np.abs(normal)
    return (0.02 * normal).astype(np.float32)


def excess_kurtosis(x: np.ndarray) -> float:
    """Fourth standardised moment minus 3: 0 for a normal distribution, large where a few values stand far out."""
    centred = x.reshape(-1).astype(np.float64) - x.mean(dtype=np.float64)
    squares = centred * centred  # a power of 4 is thirty times as slow as two products
    variance = float(squares.mean())
    return float(squares @ squares) / squares.size / variance**2 - 3 if variance > 0 else 0.0
