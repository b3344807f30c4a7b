"""How a tensor falls into blocks: along rows, across rows, one block a row, one for the whole tensor.

A short last block is padded with its own last value, which changes neither its extreme values nor its codes; padding is
never counted, stored or shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import Literal

import numpy as np

BlockSize = int | Literal["row", "tensor"]


@dataclass(frozen=True, slots=True)
class Layout:
    """A tensor of `shape` cut into blocks of `block` values along its last axis; `flat` lets blocks cross rows."""

    shape: tuple[int, ...]
    block: int
    flat: bool

    @staticmethod
    def of(shape: tuple[int, ...], block: BlockSize, flat: bool = False) -> Layout:
        """The layout of a tensor of `shape`; "row" is one block a row and "tensor" one block in all."""
        width = shape[-1] if shape else 1
        if block == "tensor":
            return Layout(shape, max(1, prod(shape)), True)
        return Layout(shape, max(1, width) if block == "row" else block, flat)

    @property
    def rows(self) -> int:
        """Stretches that start a new block: the rows, or one where blocks cross rows."""
        return 1 if self.flat else prod(self.shape[:-1])

    @property
    def width(self) -> int:
        """Values in one stretch."""
        return prod(self.shape) if self.flat else (self.shape[-1] if self.shape else 1)

    @property
    def per_row(self) -> int:
        """Blocks in one stretch, a short last one included."""
        return ceil(self.width / self.block)

    @property
    def count(self) -> int:
        """Blocks in all."""
        return self.rows * self.per_row

    @property
    def grid(self) -> tuple[int, int]:
        """Shape of one number a block, (stretches, blocks a stretch): the tensor that the scales form."""
        return self.rows, self.per_row

    def split(self, x: np.ndarray) -> np.ndarray:
        """`x` as (count, block); a view where no block is short."""
        rows = np.ascontiguousarray(x).reshape(self.rows, self.width)
        missing = self.per_row * self.block - self.width
        if missing:
            rows = np.pad(rows, ((0, 0), (0, missing)), mode="edge")
        return rows.reshape(self.count, self.block)

    def join(self, blocks: np.ndarray) -> np.ndarray:
        """The inverse of `split`: (count, block) back to `shape`, padding dropped."""
        rows = blocks.reshape(self.rows, -1)
        return rows[:, : self.width].reshape(self.shape)

    def place(self, at: int) -> tuple[int, int]:
        """The block of the tensor's value number `at`, and the value's place in it."""
        row, column = divmod(at, self.width)
        return row * self.per_row + column // self.block, column % self.block

    def lengths(self) -> np.ndarray:
        """Real values in each block, (count,): `block`, or fewer in a short last block."""
        lengths = np.full(self.grid, self.block)
        if self.count:
            lengths[:, -1] = self.width - (self.per_row - 1) * self.block
        return lengths.reshape(-1)
