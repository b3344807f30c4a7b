"""ggml's stored tensors back to float32: F32, F16, BF16 and the 32-value block types (`dequantize_row_*`, ggml 0.13.1).

Bit-exact to the C functions, in chunks that stay in the second-level cache, so that a model file opens in well under a
second. Types with super-blocks are decoded by their `Format` (ggml.py), which is slower and shows every level.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from viz_core.i18n import Problem
from viz_core.quantizers.ggml_blocks import block_of, records
from viz_core.quantizers.pieces import CHUNK, spans, steady


def _f32(blocks: np.ndarray, out: np.ndarray) -> None:
    out[:] = blocks["x"]


def _bf16(blocks: np.ndarray, out: np.ndarray) -> None:
    np.left_shift(blocks["x"], 16, out=out.view(np.uint32), dtype=np.uint32)


LOW = np.uint64(0x0F0F0F0F0F0F0F0F)
"""The low nibble of eight bytes."""


def nibbles(packed: np.ndarray) -> np.ndarray:
    """Codes (b, 2 n) of packed bytes (b, n), n a multiple of 8: every low nibble, then every high nibble."""
    words = np.ascontiguousarray(packed).view(np.uint64)  # eight bytes at a time, in long columns
    codes, half = np.empty((len(words), 2 * words.shape[1]), np.uint64), words.shape[1]
    for k in range(half):
        np.bitwise_and(words[:, k], LOW, out=codes[:, k])
        np.bitwise_and(words[:, k] >> np.uint64(4), LOW, out=codes[:, half + k])
    return codes.view(np.uint8)


def _five_bits(blocks: np.ndarray) -> np.ndarray:
    """Codes whose fifth bit lies in the little-endian word `qh`, bit j for code j."""
    high = np.unpackbits(blocks["qh"], axis=1, bitorder="little")
    high <<= 4
    high |= nibbles(blocks["qs"])
    return high


def _scaled(codes: np.ndarray, blocks: np.ndarray, out: np.ndarray, centre: int = 0) -> None:
    """(code − centre) · d, plus m where the type has a minimum: one float32 product and one sum, as in C."""
    signed = codes.view(np.int8)
    if centre:
        signed -= np.int8(centre)
    out[...] = signed
    np.multiply(out, blocks["d"].astype(np.float32), out=out)
    if "m" in (blocks.dtype.names or ()):
        np.add(out, blocks["m"].astype(np.float32), out=out)


DECODERS: dict[str, Callable[[np.ndarray, np.ndarray], None]] = {
    "F32": _f32,
    "F16": _f32,
    "BF16": _bf16,
    "Q4_0": lambda blocks, out: _scaled(nibbles(blocks["qs"]), blocks, out, 8),
    "Q4_1": lambda blocks, out: _scaled(nibbles(blocks["qs"]), blocks, out),
    "Q5_0": lambda blocks, out: _scaled(_five_bits(blocks), blocks, out, 16),
    "Q5_1": lambda blocks, out: _scaled(_five_bits(blocks), blocks, out),
    "Q8_0": lambda blocks, out: _scaled(blocks["qs"], blocks, out),
}


def decode(type_name: str, raw: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The tensor stored in `raw`.

    Args:
        type_name: ggml's name of the tensor type, a key of `DECODERS`.
        raw: uint8 bytes, whole blocks, row after row.
        shape: the tensor's shape, slowest axis first (GGUF lists it the other way round).

    Returns:
        float32 array of `shape`.

    Raises:
        Problem: an unknown type, a torn block, or bytes that do not fill `shape`.
    """
    if type_name not in DECODERS:
        raise Problem("quantizers_type", type=type_name, known=", ".join(DECODERS))
    blocks, width = records(type_name, raw), block_of(type_name).values
    if blocks.size * width != prod(shape):
        raise Problem("quantizers_shape", type=type_name, values=blocks.size * width, shape=" × ".join(map(str, shape)))
    out = np.empty((blocks.size, width), np.float32)
    with steady(width):  # non-finite scales in a file are values
        for part in spans(blocks.size, width, CHUNK):
            DECODERS[type_name](blocks[part], out[part])
    return out.reshape(shape)
