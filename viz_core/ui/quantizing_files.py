"""A reader's own file of weights: the tensors in a .npy or .safetensors file, and one of them to look at."""

from __future__ import annotations

import tempfile
from pathlib import Path

from viz_core.i18n import Problem
from viz_core.model.notes import shown
from viz_core.model.safetensors import SafeTensors, open_safetensors
from viz_core.quantizers.readable import LOOKED, Looked, looked
from viz_core.quantizers.tensor import LARGEST, read_npy

NPY = b"\x93NUMPY"


def _is_npy(name: str, data: bytes) -> bool:
    return data.startswith(NPY) or name.lower().endswith(".npy")


def _opened(name: str, data: bytes, folder: str) -> SafeTensors:
    """The bytes as a safetensors file; the reader wants a path."""
    path = Path(folder) / (shown(Path(name).name)[-40:] or "file")
    path.write_bytes(data)
    return open_safetensors(path)


def parts(name: str, data: bytes) -> tuple[str, ...]:
    """Names of the tensors in a file, those that can be read first; one empty name for a .npy file.

    A Problem where it is damaged, or holds none that can be read.
    """
    if _is_npy(name, data):
        read_npy(data)
        return ("",)
    with tempfile.TemporaryDirectory() as folder:
        file = _opened(name, data, folder)
        found = tuple(sorted(file, key=lambda one: not file.reads(one)))
        if not found:
            raise Problem("quantizers_no_tensors", file=shown(name))
        if not file.reads(found[0]):
            file.read(found[0])  # says which type
    return found


def part(name: str, data: bytes, which: str, whole: bool = False) -> Looked:
    """One tensor of a file as it is looked at, or with all its values."""
    most = LARGEST if whole else LOOKED
    if _is_npy(name, data):
        return looked(read_npy(data), most=most)
    with tempfile.TemporaryDirectory() as folder:
        file = _opened(name, data, folder)
        info = file.tensors[which]
        if info.size > LARGEST:
            raise Problem("quantizers_npy_large", values=info.size, most=LARGEST)
        return looked(file.read(which), info.dtype, most=most)


def check(name: str, data: bytes) -> None:
    """A Problem for a file none of whose tensors can be looked at."""
    found = parts(name, data)
    if len(found) == 1:
        part(name, data, found[0])
