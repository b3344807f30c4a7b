"""E8M0, the scale of MX blocks: an exponent and nothing else (OCP MX v1.0 §5.4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from viz_core.quantizers.grid import Grid


@dataclass(frozen=True)
class PowersOfTwo(Grid):
    """E8M0, the scale of MX blocks: 2^(code − 127), code 255 is NaN; no sign, no zero (OCP MX v1.0 §5.4.1).

    A number goes to the nearer power, a tie up, as torch casts it; zero becomes 2^−127 and the sign is dropped.
    """

    name: str = "E8M0"
    bits: float = 8
    dtype = np.dtype(np.uint8)

    @property
    def levels(self) -> np.ndarray:
        """Every finite number, ascending float32."""
        return self._by_code[:255]

    @cached_property
    def _by_code(self) -> np.ndarray:
        return np.append(np.ldexp(1.0, np.arange(255) - 127), np.nan).astype(np.float32)

    def encode(self, y: np.ndarray, out: np.ndarray, reach: float = inf) -> None:
        """Codes of the nearest levels of `y` into `out`."""
        word = np.ascontiguousarray(y).view(np.uint32) & np.uint32(0x7FFFFFFF)
        field, fraction = word >> 23, word & np.uint32(0x7FFFFF)
        up = (fraction > 1 << 22) | ((fraction == 1 << 22) & (field > 0))
        out[...] = np.minimum(field + up, 255)

    def decode(self, codes: np.ndarray, out: np.ndarray) -> None:
        """Numbers of `codes` into `out`."""
        np.take(self._by_code, codes, mode="clip", out=out)


E8M0 = PowersOfTwo()
