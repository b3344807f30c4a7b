"""Which bit of a block means what.

For ggml's types the map is read off the unpacking itself: each bit is set alone, the record is taken apart, and the
field that lit up owns the bit. Other formats keep their scales apart; their block is shown as scale, then codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from viz_core.quantizers import ggml, ggml_pack
from viz_core.quantizers.format import Format
from viz_core.quantizers.ggml import GGML
from viz_core.quantizers.ggml_blocks import block_of
from viz_core.quantizers.grid import Integers
from viz_core.quantizers.quantized import Quantized

ROLES = ("unused", "code", "sub_scale", "sub_minimum", "scale", "minimum", "zero_point")
"""What a bit can be part of."""
_FIELDS = {"codes": 1, "scales": 2, "mins": 3, "d": 4, "m": 5, "dmin": 5}


@dataclass(frozen=True)
class BitMap:
    """One entry a bit, in memory order, the lowest bit of each byte first.

    Attributes:
        role: index into `ROLES`.
        index: which code, sub-scale … of the block, −1 where unused.
        weight: which bit of it, 0 the lowest.
        shared: how many codes the bit takes part in: 1, or up to 5 where a byte holds base-3 digits.
    """

    role: np.ndarray
    index: np.ndarray
    weight: np.ndarray
    shared: np.ndarray

    def count(self, role: str) -> int:
        """Bits of that role."""
        return int((self.role == ROLES.index(role)).sum())


@cache
def bitmap(form: Format) -> BitMap:
    """The map of one block of `form` (ggml: of one record, a super-block where the type has them)."""
    return _probed(form.name) if GGML.get(form.name) == form else _planar(form)


def _probed(type_name: str) -> BitMap:
    """Flip every bit of a few records; what changes owns it. Base-3 digits show some bits only beside others."""
    layout = block_of(type_name).layout
    size = 8 * layout.itemsize
    alone = np.packbits(np.eye(size, dtype=np.uint8), axis=1, bitorder="little")
    role, index, weight, shared = (np.full(size, start) for start in (0, -1, 0, 1))
    for base in (
        np.zeros(layout.itemsize, np.uint8),
        *np.random.default_rng(0).integers(0, 256, (15, layout.itemsize)),
    ):
        base = base.astype(np.uint8)
        before = ggml_pack.unpack(type_name, base.view(layout))
        for name, part in ggml_pack.unpack(type_name, (alone ^ base).view(layout).reshape(-1)).items():
            change = part.astype(np.int64) ^ before[name]
            own = (change != 0).any(axis=1) & (role == 0)
            first = (change != 0).argmax(axis=1)
            bit = np.log2(np.maximum(np.take_along_axis(change, first[:, None], axis=1)[:, 0], 1)).astype(int)
            role[own], index[own], weight[own] = _FIELDS[name], first[own], bit[own]
            shared[own] = (change != 0).sum(axis=1)[own]
    return BitMap(role, index, weight, shared)


def bits_of(q: Quantized, block: int) -> np.ndarray:
    """The bits of one block of `q` (ggml: of the record that holds it), uint8 0 or 1, in the order of its map."""
    if GGML.get(q.format.name) == q.format:
        per = block_of(q.format.name).values // q.layout.block
        record = block_of(q.format.name).bytes
        raw = ggml.pack(q).reshape(-1, record)[block // per]
        return np.unpackbits(raw, bitorder="little")
    parts = [part.codes.reshape(-1)[block : block + 1] for part in (q.scale, q.offset) if part is not None]
    bits = [np.unpackbits(np.ascontiguousarray(part).view(np.uint8), bitorder="little") for part in parts]
    if q.zero is not None and q.format.zero is not None:
        bits.append(_plain(q.zero[block : block + 1], round(q.format.zero.code_bits)))
    count = bitmap(q.format).index[bitmap(q.format).role == 1].max() + 1
    low = q.format.grid.lo if isinstance(q.format.grid, Integers) else 0
    return np.concatenate([*bits, _plain(q.codes[block, :count].astype(np.int64) - low, _width(q.format))])


def _plain(codes: np.ndarray, width: int) -> np.ndarray:
    return ((codes.astype(np.int64)[:, None] >> np.arange(width)) & 1).astype(np.uint8).reshape(-1)


def _width(form: Format) -> int:
    return int(np.ceil(form.code_bits))


def _planar(form: Format) -> BitMap:
    parts = [(4, form.scale), (5, form.offset), (6, form.zero)]
    runs = [(role, 1, round(part.code_bits)) for role, part in parts if part is not None]
    block = form.block if isinstance(form.block, int) else 8  # eight codes stand for a long row
    runs.append((1, block, _width(form)))
    role = np.concatenate([np.full(count * width, r) for r, count, width in runs])
    index = np.concatenate([np.repeat(np.arange(count), width) for _, count, width in runs])
    weight = np.concatenate([np.tile(np.arange(width), count) for _, count, width in runs])
    return BitMap(role, index, weight, np.ones_like(role))
