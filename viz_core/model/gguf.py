"""A bounded reader of GGUF files, versions 2 and 3 (ggml's docs/gguf.md), one tensor at a time.

Counts, lengths, types, alignment, shapes and offsets are checked against the file before anything is believed.
Big-endian files are described but their tensors are not read. Left out: writing, split files, version 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.gguf_decode import decoded
from viz_core.model.gguf_types import block_size, type_name
from viz_core.model.gguf_values import Cursor, value
from viz_core.model.notes import Note, shown
from viz_core.model.tensorfile import TensorInfo, check_overlaps, length_of, raw, refuse_other_kinds, strips

OLD_MAGIC = (b"lmgg", b"tjgg", b"fmgg", b"algg", b"GGML", b"GGJT")
LEAST_ENTRY, LEAST_TENSOR = 13, 28  # bytes of the shortest metadata entry and tensor description
MAX_VALUES = 2**40


@dataclass(frozen=True, slots=True)
class Gguf:
    """An opened file: metadata (numbers, strings, lists), tensors by name, remarks on what was odd but harmless."""

    path: Path
    metadata: dict[str, Any]
    tensors: dict[str, TensorInfo]
    notes: tuple[Note, ...]
    swapped: bool = False

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def shape(self, name: str) -> tuple[int, ...]:
        """A tensor's shape, slowest axis first."""
        return self.tensors[name].shape

    def read(self, name: str) -> np.ndarray:
        """One tensor as float32, slowest axis first: a matrix is (out, in). A Problem for a type not decoded."""
        info = self._readable(name)
        return decoded(info.dtype, raw(self.path, info), info.shape)

    def strips(self, name: str) -> Iterator[np.ndarray]:
        """`read`, in strips of whole rows, so that a large matrix never stands in memory twice."""
        info = self._readable(name)
        return (decoded(info.dtype, data, shape) for data, shape in strips(self.path, info))

    def _readable(self, name: str) -> TensorInfo:
        if self.swapped:
            raise Problem("model_gguf_endian", file=shown(self.path.name))
        return self.tensors[name]


def open_gguf(path: Path) -> Gguf:
    """Open and check a file; only its description is read, not its tensors."""
    file, length = shown(path.name), length_of(path)
    with path.open("rb") as stream, mmap(stream.fileno(), length, access=ACCESS_READ) as data:
        _check_magic(data[:32], file)
        cursor, notes = Cursor(data, file), list[Note]()
        cursor.skip(4)
        version = cursor.number("I")
        swapped = version in (2 << 24, 3 << 24)
        if swapped:
            cursor.order, version = ">", version >> 24
            notes.append(Note("model_gguf_endian", {"file": file}))
        if version not in (2, 3):
            raise Problem("model_gguf_version", file=file, version=version)
        n_tensors, n_entries = cursor.number("Q"), cursor.number("Q")
        if n_tensors > cursor.left // LEAST_TENSOR or n_entries > cursor.left // LEAST_ENTRY:
            raise Problem("model_gguf_counts", file=file, tensors=n_tensors, entries=n_entries)
        metadata = _metadata(cursor, n_entries, notes)
        tensors = _tensors(cursor, n_tensors, _alignment(metadata, file), length)
    if tensors and not isinstance(metadata.get("general.architecture"), str):
        raise Problem("model_config_missing", name="general.architecture")
    if not tensors:
        notes.append(Note("model_no_tensors", {"file": file}))
    return Gguf(path, metadata, tensors, tuple(notes), swapped)


def _check_magic(head: bytes, file: str) -> None:
    refuse_other_kinds(head, file)
    if head[:4] in OLD_MAGIC:
        raise Problem("model_gguf_old", file=file)
    if head[:4] != b"GGUF":
        raise Problem("model_gguf_magic", file=file)


def _metadata(cursor: Cursor, count: int, notes: list[Note]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for _ in range(count):
        key = cursor.key()
        if key in out:
            raise Problem("model_json_duplicate", file=cursor.file, name=shown(key))
        out[key] = value(cursor, key, notes.append)
    return out


def _alignment(metadata: dict[str, Any], file: str) -> int:
    alignment = metadata.get("general.alignment", 32)
    if type(alignment) is not int or alignment not in {2**i for i in range(3, 17)}:
        raise Problem("model_gguf_alignment", file=file, alignment=shown(alignment))
    return alignment


def _tensors(cursor: Cursor, count: int, alignment: int, length: int) -> dict[str, TensorInfo]:
    """The descriptions, with offsets turned into places in the file."""
    entries = [_entry(cursor, alignment) for _ in range(count)]
    base = -(-cursor.at // alignment) * alignment
    out: dict[str, TensorInfo] = {}
    for name, dtype, shape, offset in entries:
        if name in out:
            raise Problem("model_json_duplicate", file=cursor.file, name=shown(name))
        values, size = block_size(dtype)
        info = TensorInfo(name, dtype, shape, base + offset, math.prod(shape) // values * size)
        if info.start + info.nbytes > length:
            end = info.start + info.nbytes
            raise Problem("model_tensor_outside", file=cursor.file, name=shown(name), end=end, present=length)
        out[name] = info
    check_overlaps(list(out.values()), cursor.file)
    return out


def _entry(cursor: Cursor, alignment: int) -> tuple[str, str, tuple[int, ...], int]:
    """(name, type, shape with the slowest axis first, offset) of one tensor."""
    name, dims = cursor.key(), cursor.number("I")
    if dims > 4:
        raise Problem("model_gguf_dims", file=cursor.file, name=shown(name), dims=dims)
    shape = tuple(cursor.number("Q") for _ in range(dims))
    if max(shape, default=0) > MAX_VALUES or math.prod(shape) > MAX_VALUES:
        raise Problem("model_st_shape", file=cursor.file, name=shown(name), shape=shown(list(shape)))
    dtype, offset = type_name(cursor.number("I"), cursor.file, shown(name)), cursor.number("Q")
    if (shape[0] if shape else 1) % block_size(dtype)[0]:
        raise Problem("model_gguf_row", file=cursor.file, name=shown(name), type=dtype, row=shape[0] if shape else 1)
    if offset % alignment:
        raise Problem("model_gguf_offset", file=cursor.file, name=shown(name), offset=offset, alignment=alignment)
    return name, dtype, shape[::-1], offset
