"""Any array as something that can be quantized and drawn: float32, finite, with what was not finite counted."""

from __future__ import annotations

import io
from dataclasses import dataclass
from math import prod

import numpy as np

from viz_core.i18n import Problem

LARGEST = 1 << 24
"""Most values of an uploaded tensor that are looked at."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Finite float32 values in the tensor's shape, and how many were NaN or ±∞ (zero stands in for them)."""

    values: np.ndarray
    nan: int
    infinite: int


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
    if not finite.any():
        raise Problem("quantizers_nothing_finite", count=values.size)
    counts = finite_counts(values)
    values[~finite] = 0
    return Prepared(values, *counts)


def finite_counts(array: np.ndarray) -> tuple[int, int]:
    """How many values of an array of real numbers are NaN, and how many are ±∞ as float32."""
    if array.dtype.kind != "f":
        return 0, 0
    with np.errstate(over="ignore"):
        values = array.astype(np.float32, copy=False)
    nan = int(np.isnan(values).sum())
    return nan, int(values.size - np.isfinite(values).sum()) - nan


def read_npy(data: bytes) -> np.ndarray:
    """The array of a .npy file, read without unpickling and only where the file holds what its header claims.

    Raises:
        Problem: not a .npy file, objects, or a header that claims more (or other) bytes than there are.
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
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(body):
        raise Problem("quantizers_npy_size", claimed=count * dtype.itemsize, found=len(body))
    if count > LARGEST:
        raise Problem("quantizers_npy_large", values=count, most=LARGEST)
    return np.frombuffer(body, dtype).reshape(shape, order="F" if fortran else "C")
