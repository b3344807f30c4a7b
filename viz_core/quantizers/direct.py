"""The walk of fits that need one look at a block: measure, store the scale, normalise, round.

A reference is one choice in each of four places: how the scale follows from the block (fit.py), whether values are
divided by it or multiplied by its reciprocal, whether codes are found with the scale as computed or as stored, and how
the grid rounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from viz_core.quantizers.grid import Integers
from viz_core.quantizers.layout import Layout
from viz_core.quantizers.pieces import CHUNK, scratch, spans
from viz_core.quantizers.quantized import Quantized

if TYPE_CHECKING:
    from viz_core.quantizers.format import Format

TINY = np.float32(2.0**-126)
"""The smallest normal float32, below which references clamp a scale."""
ONE = np.float32(1)


class Measured(NamedTuple):
    """What a block asks for, (blocks,) float32 each; `zero` is an integer."""

    scale: np.ndarray
    offset: np.ndarray | None = None
    zero: np.ndarray | None = None

    def part(self, blocks: slice) -> Measured:
        """The same for some blocks."""
        scale, *rest = (None if column is None else column[blocks] for column in self)
        assert scale is not None
        return Measured(scale, *rest)


@dataclass(frozen=True)
class Direct(ABC):
    """Measure, store the scale, normalise, round.

    Attributes:
        seen: which scale the codes are found with, as computed ("exact") or as it will be read back ("stored").
        inverse: values times 1/scale, or divided by it; the last bit differs.
        floor: the smallest scale used for finding codes.
    """

    seen: Literal["exact", "stored"] = "exact"
    inverse: Literal["reciprocal", "division"] = "reciprocal"
    floor: float = 0

    @property
    def reach(self) -> float:
        """A bound of |value / scale| where codes are found with the exact scale; ∞ where none is known."""
        return inf

    @abstractmethod
    def measure(self, x: np.ndarray) -> Measured:
        """Scale, offset and zero point of blocks (b, n)."""

    def __call__(self, form: Format, x: np.ndarray, layout: Layout) -> Quantized:
        """`x` in `form`."""
        blocks = layout.split(x)
        codes = np.empty(blocks.shape, form.grid.dtype)
        if self.seen == "stored" and not _alone(form):
            measured = self._measure_all(blocks)
            scale, offset = _store(form, measured, layout)
            assert scale is not None
            seen = measured._replace(scale=scale.values.reshape(-1))
            for part in spans(*blocks.shape):
                self._encode(form, blocks[part], seen.part(part), codes[part])
            return Quantized(form, layout, codes, scale, offset, measured.zero)
        found = []
        for part in spans(*blocks.shape):
            found.append(self.measure(blocks[part]))
            self._encode(form, blocks[part], self._as_seen(form, found[-1]), codes[part])
        measured = _joined(found)
        scale, offset = _store(form, measured, layout)
        return Quantized(form, layout, codes, scale, offset, measured.zero)

    def _measure_all(self, blocks: np.ndarray) -> Measured:
        return _joined([self.measure(blocks[part]) for part in spans(*blocks.shape)])

    def _as_seen(self, form: Format, measured: Measured) -> Measured:
        if self.seen == "exact" or form.scale is None:
            return measured
        offset = measured.offset
        if offset is not None and form.offset is not None:
            offset = form.offset.round(offset)
        return Measured(form.scale.round(measured.scale), offset, measured.zero)

    def _encode(self, form: Format, x: np.ndarray, measured: Measured, out: np.ndarray) -> None:
        scale = self.divisor(measured.scale)
        factor = scale if self.inverse == "division" else ONE / scale
        if not scale.all():  # `where` on every block would cost as much as a pass over the values
            factor = np.where(scale != 0, factor, np.float32(0))
        finite = bool(np.isfinite(measured.scale * factor).all())  # either beyond range leaves ∞ or NaN
        width = max(1, CHUNK // len(x))
        for start in range(0, x.shape[1], width):
            cut = slice(start, start + width)
            self._encode_part(form, x[:, cut], factor[:, None], measured, out[:, cut], finite)

    def _encode_part(
        self, form: Format, x: np.ndarray, factor: np.ndarray, m: Measured, out: np.ndarray, finite: bool
    ) -> None:
        y = self.normalise(x, factor, m)
        reach = self.reach if finite and self.seen == "exact" else inf
        stray = None if finite or form.grid.stray is None else ~np.isfinite(y)
        if stray is not None:
            y[stray] = 0
        if m.zero is None:
            form.grid.encode(y, out, reach)
        else:
            assert isinstance(form.grid, Integers)
            form.grid.encode(y, out, reach, m.zero[:, None])
        if stray is not None:
            out[stray] = form.grid.stray

    def found_with(self, blocks: np.ndarray, q: Quantized) -> tuple[np.ndarray, np.ndarray | None]:
        """The scales and offsets, (blocks,) each, with which the codes of `q` were found for these blocks."""
        if self.seen == "stored":
            return self.divisor(q.steps), None if q.offset is None else q.offset.values.reshape(-1)
        measured = self._measure_all(blocks)
        return self.divisor(measured.scale), measured.offset

    def divisor(self, scale: np.ndarray) -> np.ndarray:
        """The scale that values are divided by."""
        return np.maximum(scale, np.float32(self.floor)) if self.floor else scale

    def normalise(self, x: np.ndarray, factor: np.ndarray, m: Measured) -> np.ndarray:
        """Values in units of the scale, in scratch memory; `factor` is 1/scale or, for division, the scale."""
        y = scratch(x.shape)
        if m.offset is not None:
            x = np.subtract(x, m.offset[:, None], out=y)
        if self.inverse == "reciprocal":
            return np.multiply(x, factor, out=y)
        return np.where(factor != 0, np.divide(x, factor, out=y), np.float32(0))


def _alone(form: Format) -> bool:
    """Whether a block's stored scale depends on that block alone."""
    return form.scale is None or form.scale.scale is None


def _joined(found: list[Measured]) -> Measured:
    scale, *rest = (None if column[0] is None else np.concatenate(column) for column in zip(*found, strict=True))
    assert scale is not None
    return Measured(scale, *rest)


def _store(form: Format, m: Measured, layout: Layout) -> tuple[Quantized | None, Quantized | None]:
    scale = None if form.scale is None else form.scale.quantize(m.scale.reshape(layout.grid))
    offset = None if form.offset is None or m.offset is None else form.offset.quantize(m.offset.reshape(layout.grid))
    return scale, offset
