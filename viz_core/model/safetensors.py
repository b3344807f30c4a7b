"""A bounded reader of safetensors files, after the format notes of huggingface/safetensors 0.8 (README, tensor.rs).

Nothing in the header is believed before it is checked: length, UTF-8, depth, digits, duplicate keys, dtypes, shapes,
offsets, overlaps, holes and trailing bytes. Tensors are read one by one from a memory map. Left out: writing, and the
values of sub-byte, scale-only and complex dtypes: such a tensor is named when it is read, the others stay readable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from viz_core.i18n import Problem
from viz_core.model import dtypes
from viz_core.model.notes import Note, shown
from viz_core.model.strict_json import parse
from viz_core.model.tensorfile import TensorInfo, check_overlaps, length_of, raw, refuse_other_kinds, strips

MAX_HEADER = 100_000_000  # the library's own limit
MAX_DIM = 2**48


@dataclass(frozen=True, slots=True)
class SafeTensors:
    """An opened file: its tensors by name, the free-form metadata, and remarks on what was odd but harmless."""

    path: Path
    tensors: dict[str, TensorInfo]
    metadata: dict[str, str]
    notes: tuple[Note, ...]

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def shape(self, name: str) -> tuple[int, ...]:
        """A tensor's shape, slowest axis first."""
        return self.tensors[name].shape

    def reads(self, name: str) -> bool:
        """Whether a tensor's type is one that is decoded here."""
        return self.tensors[name].dtype not in dtypes.UNREAD

    def _readable(self, name: str) -> TensorInfo:
        info = self.tensors[name]
        if not self.reads(name):
            raise Problem("model_st_dtype", file=shown(self.path.name), name=shown(name), dtype=info.dtype)
        return info

    def read(self, name: str) -> np.ndarray:
        """One tensor in its own shape; float types as float32 (F64 as float64), integers as they are."""
        info = self._readable(name)
        return dtypes.decode(info.dtype, raw(self.path, info)).reshape(info.shape)

    def strips(self, name: str) -> Iterator[np.ndarray]:
        """`read`, in strips of whole rows, so that a large matrix never stands in memory twice."""
        info = self._readable(name)
        return (dtypes.decode(info.dtype, data).reshape(shape) for data, shape in strips(self.path, info))


def open_safetensors(path: Path) -> SafeTensors:
    """Open and check a file; only its header is read."""
    file, length = shown(path.name), length_of(path)
    with path.open("rb") as stream:
        prefix = stream.read(8)
        refuse_other_kinds(prefix + stream.read(24), file)
        if len(prefix) < 8:
            raise Problem("model_file_cut", file=file)
        size = int.from_bytes(prefix, "little")
        if size > MAX_HEADER:
            raise Problem("model_st_header_size", file=file, size=size)
        if size > length - 8:
            raise Problem("model_st_header_cut", file=file, size=size, present=length - 8)
        stream.seek(8)
        header = stream.read(size)
    notes: list[Note] = []
    tensors, metadata = _tensors(header, file, 8 + size, notes)
    _check_cover(tensors, file, 8 + size, length)
    if not tensors:
        notes.append(Note("model_no_tensors", {"file": file}))
    return SafeTensors(path, {t.name: t for t in tensors}, metadata, tuple(notes))


def _tensors(header: bytes, file: str, base: int, notes: list[Note]) -> tuple[list[TensorInfo], dict[str, str]]:
    table = parse(header, file, constants=False)
    if not isinstance(table, dict):
        raise Problem("model_st_not_object", file=file)
    if not header.startswith(b"{"):
        notes.append(Note("model_st_leading", {"file": file}))
    metadata = table.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise Problem("model_st_metadata", file=file)
    return [_tensor(name, entry, file, base, notes) for name, entry in table.items()], metadata


def _tensor(name: str, entry: Any, file: str, base: int, notes: list[Note]) -> TensorInfo:
    """One header entry → a TensorInfo whose shape, dtype and byte range agree."""
    says: dict[str, object] = {"file": file, "name": shown(name)}
    if not isinstance(entry, dict):
        raise Problem("model_st_entry", **says)
    dtype, shape, offsets = (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str) or dtype not in dtypes.BITS:
        raise Problem("model_st_dtype", **says, dtype=shown(dtype))
    if not _naturals(shape):
        raise Problem("model_st_shape", **says, shape=shown(shape))
    if not _naturals(offsets) or len(offsets) != 2:
        raise Problem("model_st_offsets", **says, offsets=shown(offsets))
    begin, end = offsets
    if end < begin:
        raise Problem("model_st_inverted", **says)
    bits = math.prod(shape) * dtypes.BITS[dtype]
    if bits != 8 * (end - begin):
        raise Problem("model_st_size", **says, expected=shown(-(-bits // 8)), present=end - begin)
    if max(shape, default=0) > MAX_DIM:  # only possible beside a zero: NumPy cannot hold such a shape
        notes.append(Note("model_st_huge_empty", says | {"shape": shown(shape)}))
        shape = [0]
    return TensorInfo(name, dtype, tuple(shape), base + begin, end - begin)


def _naturals(value: Any) -> TypeGuard[list[int]]:
    """Whether a JSON value is a list of integers ≥ 0 (True is no integer here)."""
    return isinstance(value, list) and all(type(x) is int and x >= 0 for x in value)


def _check_cover(tensors: list[TensorInfo], file: str, base: int, length: int) -> None:
    """Every data byte belongs to exactly one tensor: no overlap, no hole, nothing beyond the file, nothing behind."""
    check_overlaps(tensors, file)
    at = base
    for tensor in sorted(tensors, key=lambda t: (t.start, t.nbytes)):
        if tensor.start + tensor.nbytes > length:
            raise Problem(
                "model_tensor_outside",
                file=file,
                name=shown(tensor.name),
                end=tensor.start + tensor.nbytes,
                present=length,
            )
        if tensor.start != at:
            raise Problem("model_st_hole", file=file, name=shown(tensor.name))
        at += tensor.nbytes
    if at != length:
        raise Problem("model_st_trailing", file=file, extra=length - at)
