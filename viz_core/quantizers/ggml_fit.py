"""Fits of ggml's super-block types: sub-blocks are searched, then their scales are themselves quantized.

Each fit returns codes as the C functions leave them: found again with the scale as stored, or the search's own codes
where the stored scale is zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz_core.quantizers.direct import ONE
from viz_core.quantizers.ggml_search import (
    SMALLEST,
    ZERO,
    make_q3,
    make_qkx2,
    make_qx,
    nearest,
)
from viz_core.quantizers.layout import Layout
from viz_core.quantizers.peaks import extreme, running_sum
from viz_core.quantizers.pieces import spans
from viz_core.quantizers.quantized import Quantized

if TYPE_CHECKING:
    from viz_core.quantizers.format import Format

SUPER = 256
PIECE = 1 << 18
"""Values searched at a time: enough blocks a step to hide NumPy's overhead, few enough for the cache."""


@dataclass(slots=True)
class Found:
    """What a search settles for some super-blocks; (super-blocks, sub-blocks) unless said.

    Attributes:
        codes: (super-blocks, sub-blocks, values).
        scales: sub-scales in units of d.
        d: (super-blocks,) super-scales.
        mins: minima in units of dmin, where the type has them.
        dmin: (super-blocks,).
    """

    codes: np.ndarray
    scales: np.ndarray
    d: np.ndarray
    mins: np.ndarray | None = None
    dmin: np.ndarray | None = None


@dataclass(frozen=True)
class SuperBlocks(ABC):
    """The shared walk: pieces of whole super-blocks are searched, the results become nested quantized tensors."""

    @abstractmethod
    def search(self, x: np.ndarray) -> Found:
        """Codes, sub-scales and super-scales of `x` (super-blocks, sub-blocks, values)."""

    def __call__(self, form: Format, x: np.ndarray, layout: Layout) -> Quantized:
        """`x` in `form`."""
        blocks = layout.split(x).reshape(-1, SUPER // layout.block, layout.block)
        found = [self.search(blocks[part]) for part in spans(len(blocks), SUPER, PIECE)]
        codes = np.concatenate([f.codes for f in found]).reshape(layout.count, layout.block)
        scale = _nested(form.scale, layout, [f.scales for f in found], [f.d for f in found])
        offset = None
        if form.offset is not None:
            offset = _nested(form.offset, layout, [f.mins for f in found], [f.dmin for f in found])
        return Quantized(form, layout, codes.astype(form.grid.dtype), scale, offset)


def _nested(form: Format | None, layout: Layout, codes: list, outer: list) -> Quantized:
    assert form is not None and form.scale is not None
    inner = Layout.of(layout.grid, form.block)
    scale = form.scale.quantize(np.concatenate(outer).reshape(inner.grid))
    return Quantized(form, inner, np.concatenate(codes).astype(form.grid.dtype), scale)


def half(x: np.ndarray) -> np.ndarray:
    """`x` as FP16 stores it, float32."""
    return x.astype(np.float16).astype(np.float32)


def columns(x: np.ndarray) -> np.ndarray:
    """(super-blocks, sub-blocks, n) as (n, blocks), the searches' order."""
    return np.ascontiguousarray(x.reshape(-1, x.shape[-1]).T)


@dataclass(frozen=True)
class WithMinimum(SuperBlocks):
    """Q2_K, Q4_K, Q5_K: codes 0..top, a scale and a minimum a sub-block, both in `steps` steps of the largest."""

    top: int = 15
    sub_top: int = 63
    start: float = -1.0
    tries: int = 20
    absolute: bool = False

    def search(self, x: np.ndarray) -> Found:
        """Codes and scales of whole super-blocks."""
        shape = x.shape[:2]
        scales, mins, codes = self._blocks(columns(x), shape)
        d, sub = self._super(scales)
        dmin, sub_min = self._super(mins)
        step, low = (half(d)[:, None] * sub)[..., None], (half(dmin)[:, None] * sub_min)[..., None]
        again = np.clip(nearest((x + low) / step), 0, self.top)
        return Found(np.where(step != 0, again, codes), sub, d, sub_min, -dmin)

    def _blocks(self, x: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        weight = np.abs(x)
        if not self.absolute:
            weight += np.sqrt(running_sum(x * x) / np.float32(len(x)))
        scales, mins, codes = make_qkx2(x, weight, self.top, self.start, self.tries, self.absolute)
        return scales.reshape(shape), mins.reshape(shape), codes.T.reshape(*shape, -1)

    def _super(self, parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Largest part over `sub_top`, and every part in steps of it."""
        most = np.fmax.reduce(parts, axis=1, initial=0)[:, None]
        most = np.where(most > 0, most, ZERO)  # no −0
        inverse = np.where(most > 0, np.float32(self.sub_top) / most, ZERO)
        steps = nearest(inverse * parts).astype(np.uint8)
        return (most / np.float32(self.sub_top))[:, 0], np.minimum(steps, self.sub_top)


@dataclass(frozen=True)
class Signed(SuperBlocks):
    """Q3_K and Q6_K: codes around zero, signed sub-scales in units of the largest."""

    half_range: int = 32
    sub_lowest: int = -128

    def search(self, x: np.ndarray) -> Found:
        """Codes and scales of whole super-blocks."""
        shape = x.shape[:2]
        scales, codes = (make_qx if self.half_range == 32 else make_q3)(columns(x), self.half_range)
        scales, codes = scales.reshape(shape), codes.T.reshape(x.shape)
        most = extreme(scales)
        inverse = (np.float32(self.sub_lowest) / most)[:, None]
        sub = np.clip(nearest(inverse * scales), self.sub_lowest, -self.sub_lowest - 1).astype(np.float32)
        d = ONE / inverse[:, 0]
        step = (half(d)[:, None] * sub)[..., None]
        again = np.clip(nearest(x / step), -self.half_range, self.half_range - 1)
        codes = np.where(step != 0, again, codes - self.half_range)
        return self._blank(Found(codes, sub, d), most)

    def _blank(self, found: Found, most: np.ndarray) -> Found:
        """Super-blocks without a scale: Q6_K stores zero bytes; Q3_K keeps its codes and the lowest sub-scale."""
        if self.half_range == 32:
            blank = np.abs(most) < SMALLEST
            found.codes[blank], found.scales[blank] = -self.half_range, 0
        else:
            blank = most == 0
            found.scales[blank] = self.sub_lowest
        found.d[blank] = 0
        return found
