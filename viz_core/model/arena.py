"""Room for weights in large blocks, so that the system backs them with huge pages.

NumPy asks for huge pages from 4 MiB on; most matrices of a small model are smaller, and reading them then misses the
translation buffer: 20 against 32 GB/s. Blocks are freed when the last array in them is.
"""

from __future__ import annotations

import math
import threading

import numpy as np

BLOCK = 1 << 25
LINE = 64  # arrays start on a cache line

_lock = threading.Lock()
_block = np.empty(0, np.uint8)
_at = 0


def empty(shape: tuple[int, ...], dtype: type[np.generic] = np.float32) -> np.ndarray:
    """An uninitialised array, C order, in a block shared with others; a large one has memory of its own."""
    global _block, _at
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size >= BLOCK:
        return np.empty(shape, dtype)
    with _lock:
        start = -(-_at // LINE) * LINE
        if start + size > _block.size:
            raw = np.empty(BLOCK + LINE, np.uint8)
            first = -raw.ctypes.data % LINE
            _block, start = raw[first : first + BLOCK], 0
        _at = start + size
        return _block[start:_at].view(dtype).reshape(shape)
