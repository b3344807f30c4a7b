"""Two 4-bit codes a byte: bitsandbytes puts the first in the high nibble, torchao in the low one."""

from __future__ import annotations

import numpy as np

from viz_core.quantizers.pieces import scratch, spans


def pack_nibbles(codes: np.ndarray, high_first: bool) -> np.ndarray:
    """uint8 codes 0..15, an even number on the last axis, two to a byte."""
    pairs = np.ascontiguousarray(codes).view(np.uint16)  # little-endian: the first code is the low byte
    packed = np.empty(pairs.shape, np.uint8)
    flat, out = pairs.reshape(-1), packed.reshape(-1)
    for part in spans(flat.size, 1):
        pair = flat[part]
        word = np.right_shift(pair, 8 if high_first else 4, out=scratch(pair.shape, 0, np.uint16))
        word |= np.left_shift(pair, 4, out=scratch(pair.shape, 1, np.uint16)) if high_first else pair
        out[part] = word
    return packed


def unpack_nibbles(packed: np.ndarray, high_first: bool) -> np.ndarray:
    """The inverse of `pack_nibbles`."""
    pairs = packed.astype(np.uint16)
    first, second = (pairs >> 4, pairs & 15) if high_first else (pairs & 15, pairs >> 4)
    return (first | (second << 8)).view(np.uint8)
