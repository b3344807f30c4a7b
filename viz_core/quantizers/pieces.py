"""Work in pieces that stay in the second-level cache: how much at a time, in which memory, by which of NumPy's loops.

A pass over float32 numbers in that cache costs a quarter of one over memory, so every fit and every decoder walks
through a tensor once, piece by piece, and takes all its steps there. Two habits of NumPy shape those steps: a loop that
mixes types or casts its result runs through a buffer in the first-level cache, so that a cast rides along for little;
and `minimum`, `copysign` and shifts of bytes are not vectorised, where `clip`, `|` and `*` are.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

CHUNK = 1 << 17
"""Values worked on at a time, so that a chunk and its scratch stay in the second-level cache."""
BUFFER = 4096
"""Elements of NumPy's loop buffer: one operand of 16 KB, so that all of a loop's fit in the first-level cache."""

HUGE = 1 << 21
"""Bytes of a huge page."""

_memory = threading.local()


def scratch(shape: tuple[int, ...], which: int = 0, dtype: DTypeLike = np.float32) -> np.ndarray[Any, Any]:
    """Memory of this thread to work in, contents undefined; the next call with the same number, 0 to 3, takes it over.

    Fresh memory for every chunk costs as much as the arithmetic: the system hands it over page by page.
    """
    kind, size = np.dtype(dtype), prod(shape)
    words = ceil(size * kind.itemsize / 4)
    held = getattr(_memory, "held", None)
    if held is None:
        held = _memory.held = list(_huge_page().view(np.float32).reshape(-1, CHUNK))
    if held[which].size < words:
        held[which] = np.empty(words, np.float32)
    return held[which][:words].view(kind)[:size].reshape(shape)


def _huge_page() -> np.ndarray[Any, Any]:
    """Two megabytes in one huge page, where the system has such: NumPy asks for them from four megabytes on.

    Small pages lie about in memory and evict each other from the second-level cache; one page makes the quantizers 5 to
    15 % faster.
    """
    memory = np.empty(2 * HUGE, np.uint8)
    start = -memory.ctypes.data % HUGE
    return memory[start : start + HUGE]


def spans(count: int, block: int, size: int = CHUNK) -> Iterator[slice]:
    """Slices of whole blocks, about `size` values each."""
    step = max(1, size // block)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


@contextmanager
def steady(block: int) -> Iterator[None]:
    """Loops over rows of `block` values, without floating-point warnings.

    NumPy repeats a column (b, 1) into its buffer to make short rows one long loop. Where a row is as long as the
    buffer it takes the column's number as a constant instead, which is twice as fast; so the buffer is not longer.
    """
    with np.errstate(all="ignore"):  # gives the old buffer size back too
        np.setbufsize(min(block, BUFFER) // 16 * 16 if block >= 256 else BUFFER)
        yield
