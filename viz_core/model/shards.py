"""Weights of a Hugging Face folder: one safetensors file, or several behind `model.safetensors.index.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.notes import Note, shown
from viz_core.model.safetensors import SafeTensors, open_safetensors
from viz_core.model.strict_json import parse
from viz_core.model.tensorfile import length_of

INDEX = "model.safetensors.index.json"
MAX_INDEX = 50_000_000


@dataclass(frozen=True, slots=True)
class Shards:
    """Several opened files and the file of each tensor."""

    files: dict[str, SafeTensors]
    home: dict[str, str]

    def __contains__(self, name: str) -> bool:
        return name in self.home

    def shape(self, name: str) -> tuple[int, ...]:
        """A tensor's shape."""
        return self.files[self.home[name]].shape(name)

    def read(self, name: str) -> np.ndarray:
        """One tensor in its own shape."""
        return self.files[self.home[name]].read(name)

    def strips(self, name: str) -> Iterator[np.ndarray]:
        """`read`, in strips of whole rows."""
        return self.files[self.home[name]].strips(name)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The remarks on all files."""
        return tuple(note for file in self.files.values() for note in file.notes)


def open_weights(folder: Path) -> SafeTensors | Shards:
    """The weights of a folder; a Problem where files are missing, damaged or do not belong together."""
    if not (folder / INDEX).is_file():
        return open_safetensors(folder / "model.safetensors")
    home = read_index(folder / INDEX)
    files = {name: open_safetensors(folder / name) for name in sorted(set(home.values()))}
    for tensor, name in home.items():
        if tensor not in files[name]:
            raise Problem("model_index_tensor", file=INDEX, name=shown(tensor), shard=shown(name))
    return Shards(files, home)


def read_index(path: Path) -> dict[str, str]:
    """Tensor name → file name, all of them plain names of files beside the index."""
    file = shown(path.name)
    if length_of(path) > MAX_INDEX:
        raise Problem("model_index_form", file=file)
    table = parse(path.read_bytes(), file)
    home = table.get("weight_map") if isinstance(table, Mapping) else None
    if not isinstance(home, dict) or not home or not all(isinstance(name, str) for name in home.values()):
        raise Problem("model_index_form", file=file)
    for name in sorted(set(home.values())):
        if name != Path(name).name or name in ("", ".", "..") or "\\" in name or "\0" in name:
            raise Problem("model_index_leaves", file=file, name=shown(name))
        if not (path.parent / name).is_file():
            raise Problem("model_index_shard", file=file, name=shown(name))
    return home
