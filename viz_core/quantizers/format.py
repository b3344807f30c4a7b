"""The one idea: a format is a grid, a block and a fit; its scale is a format again.

`Format(scale=Format(scale=Format(...)))` is QLoRA's double quantization, NVFP4's two levels, MX's E8M0 and the
super-blocks of K-quants; bits per weight follow from the nesting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Protocol

import numpy as np

from viz_core.i18n import Problem
from viz_core.quantizers.grid import Grid, Single
from viz_core.quantizers.layout import BlockSize, Layout
from viz_core.quantizers.pieces import CHUNK, spans, steady
from viz_core.quantizers.quantized import Quantized


class Fit(Protocol):
    """How codes and scales of a tensor are found."""

    def __call__(self, form: Format, x: np.ndarray, layout: Layout) -> Quantized:
        """`x` (float32, `layout.shape`) in the format `form`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How numbers are stored.

    Attributes:
        name: as its users write it.
        grid: codes ↔ numbers.
        fit: finds codes and scales; None where the grid needs none (a plain cast).
        block: values that share a scale; "row" and "tensor" for one scale each.
        scale: the format of the scales; None for no scale.
        offset: the format of what is added after scaling.
        zero: the format of the integer zero points.
        centre: the format of the one number a tensor that is taken away first.
        flat: blocks run on from row to row.
        storage_bits: bits a code takes in memory where they differ from the grid's.
        multiple: row lengths must be divisible by it (ggml's blocks are never short).
    """

    name: str
    grid: Grid
    fit: Fit | None = None
    block: BlockSize = 1
    scale: Format | None = None
    offset: Format | None = None
    zero: Format | None = None
    centre: Format | None = None
    flat: bool = False
    storage_bits: float | None = None
    multiple: int = 1

    @property
    def code_bits(self) -> float:
        """Bits one code takes in memory."""
        return self.grid.bits if self.storage_bits is None else self.storage_bits

    @property
    def parts(self) -> tuple[Format, ...]:
        """The formats of what each block carries beside its codes."""
        return tuple(part for part in (self.scale, self.offset, self.zero) if part is not None)

    @property
    def bits_per_weight(self) -> float:
        """Bits for one number of an endless tensor: a scale for a row or a tensor adds nothing."""
        share = 0 if isinstance(self.block, str) else 1 / self.block
        return self.code_bits + sum(part.bits_per_weight for part in self.parts) * share

    def bits(self, shape: tuple[int, ...]) -> float:
        """Bits that a tensor of `shape` takes, every scale counted."""
        total = prod(shape) * self.code_bits
        grid = Layout.of(shape, self.block, self.flat).grid
        total += sum(part.bits(grid) for part in self.parts)
        return total + (0 if self.centre is None else self.centre.code_bits)

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether rows of `shape` are whole blocks where this format needs them whole."""
        return bool(shape) and shape[-1] % self.multiple == 0

    def quantize(self, x: np.ndarray) -> Quantized:
        """`x` in this format.

        Args:
            x: real numbers of any shape, at least one; NaN and ±∞ become what the format's reference makes of them
                (`tensor.prepare` counts and replaces them first).

        Raises:
            Problem: rows that this format cannot hold, or input that is not an array of real numbers.
        """
        x = _float32(x)
        if not self.fits(x.shape):
            raise Problem("quantizers_row", format=self.name, width=x.shape[-1] if x.ndim else 1, block=self.multiple)
        layout = Layout.of(x.shape, self.block, self.flat)
        with steady(layout.block):  # references divide by zero and overflow too; the results are part of them
            return cast(self, x, layout) if self.fit is None else self.fit(self, x, layout)

    def round(self, x: np.ndarray) -> np.ndarray:
        """The values nearest to `x` that this format can store, float32 in the same shape."""
        return self.quantize(x).values

    def with_block(self, block: BlockSize) -> Format:
        """The same format with another block size, 1 to 65,536 values; Problem for another number."""
        if isinstance(block, int) and not 1 <= block <= CHUNK:
            raise Problem("quantizers_block_size", block=block, most=CHUNK)
        name = self.name.split(" ")[0]
        return replace(self, block=block, name=f"{name} g{block}" if isinstance(block, int) else f"{name} {block}")


def cast(form: Format, x: np.ndarray, layout: Layout) -> Quantized:
    """`x` to the nearest codes of the grid, with no scale."""
    blocks = layout.split(x)
    codes = np.empty(blocks.shape, form.grid.dtype)
    for part in spans(*blocks.shape):
        form.grid.encode(blocks[part].copy(), codes[part])
    return Quantized(form, layout, codes)


def _float32(x: np.ndarray) -> np.ndarray:
    array = np.asarray(x)
    if array.dtype.kind not in "fiub":
        raise Problem("quantizers_dtype", dtype=str(array.dtype))
    if not array.size:
        raise Problem("quantizers_empty")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32).reshape(array.shape or (1,))


FP32 = Format(name="FP32", grid=Single())
