"""A GGUF tensor's bytes → float32: the fast decoder where there is one, else the formats, a strip at a time."""

from __future__ import annotations

import numpy as np

from viz_core.model.gguf_types import block_size
from viz_core.quantizers.ggml_decode import DECODERS, decode

STRIP = 1 << 20  # values decoded at a time by a format, which keeps every level of scales


def decoded(type_name: str, data: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """uint8 blocks, row after row, as float32 of `shape`; a Problem for a type that is not decoded here."""
    if type_name in DECODERS or not shape:
        return decode(type_name, data, shape)
    from viz_core.quantizers.ggml import read  # late: few files need it, and it brings every search with it

    values, size = block_size(type_name)
    rows = np.empty(shape, np.float32).reshape(-1, shape[-1])
    width, step = shape[-1] // values * size, max(1, STRIP // max(1, shape[-1]))
    for i in range(0, len(rows), step):
        strip = rows[i : i + step]
        strip[:] = read(type_name, data[i * width : i * width + len(strip) * width], strip.shape).values
    return rows.reshape(shape)
