"""Decoding of the number types in weight files, exactly, with NumPy alone.

BF16 is the upper half of a float32. FP8 as in "FP8 Formats for Deep Learning" (Micikevicius et al. 2022, arXiv
2209.05433): E4M3 has no infinity and one NaN a sign (S.1111.111), E5M2 is IEEE-like.
"""

from __future__ import annotations

from functools import cache

import numpy as np

_PLAIN = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F32": "<f4",
    "F64": "<f8",
}
BYTES = {name: np.dtype(code).itemsize for name, code in _PLAIN.items()} | {
    "F16": 2,
    "BF16": 2,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
}
UNREAD = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E8M0": 8, "C64": 64}
"""Bits of the format's other types: their place in a file is checked, their values are not decoded."""
BITS = {name: 8 * size for name, size in BYTES.items()} | UNREAD


def decode(dtype: str, data: np.ndarray) -> np.ndarray:
    """uint8 (n · BYTES[dtype],) → values (n,): 16- and 8-bit floats as float32, the rest in their own type.

    Types that need no decoding stay views of `data`. KeyError for a dtype that BYTES lacks.
    """
    if dtype == "F16":
        return data.view("<f2").astype(np.float32)
    if dtype == "BF16":
        return (data.view("<u2").astype(np.uint32) << 16).view(np.float32)
    if dtype.startswith("F8_"):
        return fp8_table(4 if dtype == "F8_E4M3" else 5)[data]
    return data.view(_PLAIN[dtype])


@cache
def fp8_table(exponent_bits: int) -> np.ndarray:
    """The 256 values of an 8-bit float with 4 (E4M3, finite, NaN at 0x7F) or 5 (E5M2) exponent bits, float32."""
    code = np.arange(256)
    fraction_bits = 7 - exponent_bits
    sign = np.where(code & 128, -1.0, 1.0)
    exponent = (code & 127) >> fraction_bits
    fraction = (code & ((1 << fraction_bits) - 1)) / (1 << fraction_bits)
    bias = (1 << (exponent_bits - 1)) - 1
    value = sign * np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias))
    if exponent_bits == 4:
        value[(code & 127) == 127] = np.nan
    else:
        top = exponent == 31
        value[top] = np.where(fraction[top] == 0, sign[top] * np.inf, np.nan)
    table = value.astype(np.float32)
    table.flags.writeable = False
    return table
