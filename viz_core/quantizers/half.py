"""FP16, the scale of ggml's blocks."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from viz_core.quantizers.minifloat import Minifloat, Overflow


@dataclass(frozen=True)
class Half(Minifloat):
    """FP16, which NumPy casts to; only the code of NaN is settled here."""

    name: str = "FP16"
    exponent: int = 5
    fraction: int = 10
    overflow: Overflow = "nan"

    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf) -> None:
        """Codes of the nearest levels of `y` into `out`."""
        out.view(np.float16)[...] = y
        unknown = np.isnan(y)
        if unknown.any():
            out[unknown] = out[unknown] & 0x8000 | self._nan_code


FP16 = Half()
