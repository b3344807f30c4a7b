"""Two 4-bit codes a byte: bitsandbytes puts the first in the high nibble, torchao in the low one."""

from __future__ import annotations

import numpy as np


def pack_nibbles(codes: np.ndarray, high_first: bool) -> np.ndarray:
    """uint8 codes 0..15, an even number on the last axis, two to a byte."""
    pairs = np.ascontiguousarray(codes).view(np.uint16)  # little-endian: the first code is the low byte
    if high_first:
        return ((pairs << 4) | (pairs >> 8)).astype(np.uint8)
    return (pairs | (pairs >> 4)).astype(np.uint8)


def unpack_nibbles(packed: np.ndarray, high_first: bool) -> np.ndarray:
    """The inverse of `pack_nibbles`."""
    pairs = packed.astype(np.uint16)
    first, second = (pairs >> 4, pairs & 15) if high_first else (pairs & 15, pairs >> 4)
    return (first | (second << 8)).view(np.uint8)
