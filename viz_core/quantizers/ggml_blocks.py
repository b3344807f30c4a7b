"""The bytes of a ggml block, one structured type per tensor type (ggml-common.h, ggml 0.13.1, little-endian).

Every row of a tensor is a whole number of blocks; a block holds its scales beside its codes. Names of fields are those
of the C structs. Left out: the IQ1, IQ2 and IQ3 types, whose codebooks InferSight does not carry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.i18n import Problem


@dataclass(frozen=True, slots=True)
class Block:
    """How one tensor type is stored: `values` numbers in one record of `layout`."""

    values: int
    layout: np.dtype[np.void]

    @property
    def bytes(self) -> int:
        """Bytes of one block."""
        return self.layout.itemsize

    @property
    def bits_per_weight(self) -> float:
        """Stored bits for one number, scales included."""
        return 8 * self.bytes / self.values


def _block(values: int, *fields: tuple[str, str, int]) -> Block:
    return Block(values, np.dtype([(name, kind, (count,)) for name, kind, count in fields]))


HALF = "<f2"
BLOCKS: dict[str, Block] = {
    "F32": _block(1, ("x", "<f4", 1)),
    "F16": _block(1, ("x", "<f2", 1)),
    "BF16": _block(1, ("x", "<u2", 1)),
    "Q1_0": _block(128, ("d", HALF, 1), ("qs", "u1", 16)),
    "Q4_0": _block(32, ("d", HALF, 1), ("qs", "u1", 16)),
    "Q4_1": _block(32, ("d", HALF, 1), ("m", HALF, 1), ("qs", "u1", 16)),
    "Q5_0": _block(32, ("d", HALF, 1), ("qh", "u1", 4), ("qs", "u1", 16)),
    "Q5_1": _block(32, ("d", HALF, 1), ("m", HALF, 1), ("qh", "u1", 4), ("qs", "u1", 16)),
    "Q8_0": _block(32, ("d", HALF, 1), ("qs", "i1", 32)),
    "Q2_K": _block(256, ("scales", "u1", 16), ("qs", "u1", 64), ("d", HALF, 1), ("dmin", HALF, 1)),
    "Q3_K": _block(256, ("hmask", "u1", 32), ("qs", "u1", 64), ("scales", "u1", 12), ("d", HALF, 1)),
    "Q4_K": _block(256, ("d", HALF, 1), ("dmin", HALF, 1), ("scales", "u1", 12), ("qs", "u1", 128)),
    "Q5_K": _block(256, ("d", HALF, 1), ("dmin", HALF, 1), ("scales", "u1", 12), ("qh", "u1", 32), ("qs", "u1", 128)),
    "Q6_K": _block(256, ("ql", "u1", 128), ("qh", "u1", 64), ("scales", "i1", 16), ("d", HALF, 1)),
    "IQ4_NL": _block(32, ("d", HALF, 1), ("qs", "u1", 16)),
    "IQ4_XS": _block(256, ("d", HALF, 1), ("scales_h", "<u2", 1), ("scales_l", "u1", 4), ("qs", "u1", 128)),
    "TQ1_0": _block(256, ("qs", "u1", 48), ("qh", "u1", 4), ("d", HALF, 1)),
    "TQ2_0": _block(256, ("qs", "u1", 64), ("d", HALF, 1)),
    "MXFP4": _block(32, ("e", "u1", 1), ("qs", "u1", 16)),
    "NVFP4": _block(64, ("d", "u1", 4), ("qs", "u1", 32)),
}


def block_of(type_name: str) -> Block:
    """The block of a ggml type name such as `Q4_1`; Problem for a type that is not carried."""
    if type_name not in BLOCKS:
        raise Problem("quantizers_type", type=type_name, known=", ".join(BLOCKS))
    return BLOCKS[type_name]


def records(type_name: str, raw: np.ndarray) -> np.ndarray:
    """Raw uint8 bytes as the block records of `type_name`, without a copy; Problem for a torn last block."""
    block = block_of(type_name)
    flat = np.ascontiguousarray(raw).reshape(-1).view(np.uint8)
    if flat.size % block.bytes:
        raise Problem("quantizers_torn_block", type=type_name, bytes=flat.size, block=block.bytes)
    return flat.view(block.layout)
