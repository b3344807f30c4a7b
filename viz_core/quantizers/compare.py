"""One tensor in many formats: bits and errors side by side, and the curve over block sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from viz_core.quantizers.errors import Errors, errors, fates
from viz_core.quantizers.format import Format
from viz_core.quantizers.overflow import Lost, lost
from viz_core.quantizers.quantized import Quantized
from viz_core.quantizers.underflow import Sunk, sunk


@dataclass(frozen=True, slots=True)
class Row:
    """A format on a tensor; `regrouped` where rows were strung together to make whole blocks.

    `lost` is what overflowed, `sunk` what was too small.
    """

    name: str
    bits: float
    errors: Errors
    clipped: int
    zeroed: int
    regrouped: bool
    lost: Lost | None = None
    sunk: Sunk | None = None

    @property
    def whole(self) -> bool:
        """Whether its error is that of rounding alone: nothing overflowed or was too small."""
        return self.lost is None and self.sunk is None


def regrouped(x: np.ndarray, form: Format) -> np.ndarray:
    """`x` where its rows are whole blocks of `form`, else its values strung together into rows that are.

    Values that do not fill a last row are left out. A model file would store another type there instead (fallback.py).
    """
    if form.fits(x.shape) or x.size < form.multiple:
        return x
    flat = x.reshape(-1)
    return flat[: flat.size // form.multiple * form.multiple].reshape(-1, form.multiple)


def quantize_any(x: np.ndarray, form: Format) -> tuple[np.ndarray, Quantized]:
    """`x`, regrouped if it must be, and its quantization."""
    shaped = regrouped(x, form)
    return shaped, form.quantize(shaped)


def compare(x: np.ndarray, forms: Iterable[Format]) -> list[Row]:
    """Every format's bits and errors on `x`."""
    return [row(x, *quantize_any(x, form)) for form in forms]


def row(x: np.ndarray, shaped: np.ndarray, q: Quantized) -> Row:
    """Bits and errors of `x`, which became `q` in the shape of `shaped`."""
    seen = fates(shaped, q)
    counts = int(seen.clipped.sum()), int(seen.zeroed.sum()), shaped.shape != x.shape
    return Row(q.format.name, q.bits_per_weight, errors(shaped, q.values), *counts, lost(shaped, q), sunk(shaped, q))
