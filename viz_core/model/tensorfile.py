"""What safetensors and GGUF files share: named tensors in a checked byte range, and what their values say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.notes import Note, shown

STRIP = 1 << 19
"""Values of a strip."""

MAGIC = (
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\x80\x02", "pickle"),
    (b"\x80\x03", "pickle"),
    (b"\x80\x04", "pickle"),
    (b"\x80\x05", "pickle"),
    (b"version https://git-lfs", "lfs"),
    (b"\x93NUMPY", "npy"),
)


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Where one tensor lies: bytes start … start + nbytes of the file, of `dtype` (the file's own name for it)."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    nbytes: int

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)


def length_of(path: Path) -> int:
    """Bytes of a file; a Problem where it cannot be read, is a folder or is empty."""
    if not path.is_file():
        raise Problem("model_file_missing", file=shown(path.name))
    try:
        size = path.stat().st_size
    except OSError as error:
        raise Problem("model_file_missing", file=shown(path.name)) from error
    if size == 0:
        raise Problem("model_file_empty", file=shown(path.name))
    return size


def refuse_other_kinds(head: bytes, file: str) -> None:
    """A Problem that names what a file really is, where its first bytes tell: pickle, zip, gzip, Git LFS pointer."""
    for magic, kind in MAGIC:
        if head.startswith(magic):
            raise Problem(f"model_file_{kind}", file=file)


def raw(path: Path, info: TensorInfo) -> np.ndarray:
    """The tensor's bytes, uint8 (nbytes,), read only and straight from the file (memory-mapped, nothing is copied)."""
    if info.nbytes == 0:
        return np.empty(0, np.uint8)
    return np.memmap(path, np.uint8, "r", offset=info.start, shape=(info.nbytes,))


def strips(path: Path, info: TensorInfo) -> Iterator[tuple[np.ndarray, tuple[int, ...]]]:
    """The tensor's bytes and shapes in strips of whole rows, some STRIP values each: memory for one is used again."""
    data = raw(path, info)
    if len(info.shape) != 2 or info.size <= STRIP:
        yield data, info.shape
        return
    rows, width = info.shape
    step, row_bytes = max(1, STRIP // width), info.nbytes // rows
    for i in range(0, rows, step):
        count = min(step, rows - i)
        yield data[i * row_bytes : (i + count) * row_bytes], (count, width)


def check_overlaps(tensors: list[TensorInfo], file: str) -> None:
    """A Problem naming the first two tensors that share bytes; empty tensors share none."""
    ranges = sorted((t for t in tensors if t.nbytes), key=lambda t: t.start)
    for a, b in pairwise(ranges):
        if b.start < a.start + a.nbytes:
            raise Problem("model_tensors_overlap", file=file, a=shown(a.name), b=shown(b.name))


def value_notes(name: str, values: np.ndarray) -> list[Note]:
    """What is odd about a tensor's values: that none of them is finite."""
    if values.size and values.dtype.kind == "f" and not np.isfinite(values).any():
        return [Note("model_no_finite_values", {"name": shown(name)})]
    return []
