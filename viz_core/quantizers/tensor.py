"""Any array as something that can be quantized and drawn: float32, finite, with what was not counted."""

from __future__ import annotations

import io
from dataclasses import dataclass
from math import prod

import numpy as np

from viz_core.i18n import Problem

LARGEST = 1 << 24
"""Most values of an uploaded tensor that are looked at."""
SHOWN = 60
"""Letters of a shape that a message shows."""
ADDRESSABLE = 1 << 63
"""Bytes that no array reaches; a header that claims more is broken."""


@dataclass(frozen=True, slots=True)
class Strays:
    """How many values of an array are no finite float32: NaN, ±∞, and finite ones beyond the range of float32."""

    nan: int = 0
    infinite: int = 0
    beyond: int = 0

    def __bool__(self) -> bool:
        return self.nan + self.infinite + self.beyond > 0


NONE = Strays()


@dataclass(frozen=True, slots=True)
class Prepared:
    """float32 values in the tensor's shape with zero for strays; `finite` marks the others (None: there are none)."""

    values: np.ndarray
    finite: np.ndarray | None
    strays: Strays


def prepare(array: np.ndarray) -> Prepared:
    """`array` ready to be quantized: real, at least one value, finite.

    Raises:
        Problem: complex, text, object or structured arrays; no values; nothing finite.
    """
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        raise Problem("quantizers_dtype", dtype=str(array.dtype))
    if not array.size:
        raise Problem("quantizers_empty")
    with np.errstate(over="ignore"):
        values = np.array(array, np.float32).reshape(array.shape or (1,))
    finite = np.isfinite(values)
    if finite.all():
        return Prepared(values, None, NONE)
    found = _strays(array.reshape(values.shape), finite)
    if not finite.any():
        raise Problem("quantizers_nothing_finite", nan=found.nan, infinite=found.infinite, beyond=found.beyond)
    values[~finite] = 0
    return Prepared(values, finite, found)


def _strays(array: np.ndarray, finite: np.ndarray) -> Strays:
    nan, infinite = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    return Strays(nan, infinite, int(array.size - finite.sum()) - nan - infinite)


def read_npy(data: bytes) -> np.ndarray:
    """The array of a .npy file, read without unpickling and only where the file holds what its header claims.

    Raises:
        Problem: not a .npy file, objects, a negative size, or a header that claims other bytes than there are.
    """
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(stream, max_header_size=10_000)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, OverflowError, EOFError) as error:
        raise Problem("quantizers_npy") from error
    if dtype.hasobject:
        raise Problem("quantizers_npy_objects")
    count, body = prod(shape), memoryview(data)[stream.tell() :]
    if abs(count) * dtype.itemsize >= ADDRESSABLE:
        raise Problem("quantizers_npy")
    if min(shape, default=0) < 0:
        raise Problem("quantizers_npy_negative", shape=str(shape)[:SHOWN])
    if count * dtype.itemsize != len(body):
        raise Problem("quantizers_npy_size", claimed=count * dtype.itemsize, found=len(body))
    if count > LARGEST:
        raise Problem("quantizers_npy_large", values=count, most=LARGEST)
    return np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")
