"""A quantized tensor: codes, the scales beside them (quantized tensors themselves), and the values they stand for.

value = (level of the code − zero) · scale + offset, in that order and in float32, then + centre. Every part but the
codes may be absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from viz_core.quantizers.grid import Grid, Integers
from viz_core.quantizers.layout import Layout
from viz_core.quantizers.pieces import spans, steady

if TYPE_CHECKING:
    from viz_core.quantizers.format import Format


@dataclass(frozen=True)
class Quantized:
    """A tensor of `layout.shape` in `format`.

    Attributes:
        codes: (blocks, values a block), dtype of the format's grid; padding of a short last block included.
        scale: one number a block, itself quantized; None means 1.
        offset: one number a block added after the scale; None means 0.
        zero: (blocks,) integers subtracted from the level before the scale; None means 0.
        centre: the number added to every value (the mean that double quantization takes away first).
    """

    format: Format
    layout: Layout
    codes: np.ndarray
    scale: Quantized | None = None
    offset: Quantized | None = None
    zero: np.ndarray | None = None
    centre: np.float32 | None = None

    @cached_property
    def values(self) -> np.ndarray:
        """The tensor's values, float32, in its shape."""
        return self.layout.join(self.blocks)

    @property
    def blocks(self) -> np.ndarray:
        """The values of every block, (blocks, values a block), float32, padding included."""
        out = np.empty(self.codes.shape, np.float32)
        scale, offset = self._column(self.scale), self._column(self.offset)
        zero = None if self.zero is None else _zero_column(self.format.grid, self.zero)
        with steady(self.codes.shape[1]):
            for part in spans(*self.codes.shape):
                self.decode(
                    self.codes[part],
                    out[part],
                    None if zero is None else zero[part],
                    None if scale is None else scale[part],
                    None if offset is None else offset[part],
                )
        return out

    def decode(
        self,
        codes: np.ndarray,
        out: np.ndarray,
        zero: np.ndarray | None,
        scale: np.ndarray | None,
        offset: np.ndarray | None,
    ) -> None:
        """Values of `codes` into `out`, with per-block columns that broadcast."""
        if zero is not None and zero.dtype == np.int8:  # one pass, whose result is cast as it leaves
            np.subtract(codes.view(np.int8), zero, out=out, dtype=np.int8, casting="unsafe")
        else:
            self.format.grid.decode(codes, out)
            if zero is not None:
                np.subtract(out, zero, out=out)
        if scale is not None:
            np.multiply(out, scale, out=out)
        if offset is not None:
            np.add(out, offset, out=out)
        if self.centre is not None:
            np.add(out, self.centre, out=out)

    @staticmethod
    def _column(part: Quantized | None) -> np.ndarray | None:
        return None if part is None else part.values.reshape(-1, 1)

    @property
    def steps(self) -> np.ndarray:
        """The scale of every block, (blocks,), float32; ones where the format has none."""
        return np.ones(len(self.codes), np.float32) if self.scale is None else self.scale.values.reshape(-1)

    @property
    def levels(self) -> np.ndarray:
        """The levels of the codes alone, (all codes,), float32: what a scale of scales multiplies."""
        out = np.empty(self.codes.shape, np.float32)
        self.format.grid.decode(self.codes, out)
        return self.layout.join(out).reshape(-1)

    def points(self, block: int) -> np.ndarray:
        """The numbers that values of one block can take, ascending float32: its grid, moved by scale and offset."""
        levels = self.format.grid.levels
        zero = 0 if self.zero is None else self.zero[block]
        offset = 0 if self.offset is None else self.offset.values.reshape(-1)[block]
        with np.errstate(invalid="ignore", over="ignore"):
            moved = (levels - np.float32(zero)) * self.steps[block] + np.float32(offset)
        return np.unique(moved[np.isfinite(moved)] + (self.centre or np.float32(0)))

    @property
    def bits(self) -> float:
        """Bits that the whole tensor takes, scales included, short blocks at their real length."""
        return self.format.bits(self.layout.shape)

    @property
    def bits_per_weight(self) -> float:
        """`bits` over the number of values: the asymptotic figure plus what this shape adds."""
        return self.bits / max(1, self.values.size)


def _zero_column(grid: Grid, zero: np.ndarray) -> np.ndarray:
    """Zero points (b, 1): int8 where every code less any of them is one, which saves a pass (int4 g128: a tenth)."""
    if type(grid) is Integers and grid.dtype.itemsize == 1 and zero.dtype.kind == "i":
        small = grid.lo - int(zero.max()) >= -128 and grid.hi - int(zero.min()) <= 127
        return zero[:, None].astype(np.int8 if small else np.float32)
    return zero[:, None].astype(np.float32)
