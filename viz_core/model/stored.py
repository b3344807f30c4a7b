"""What each tensor of a model's file is stored as."""

from __future__ import annotations

from pathlib import Path

from viz_core.model.gguf import open_gguf
from viz_core.model.gguf_model import gguf_name
from viz_core.model.shards import Shards, open_weights


def stored_types(path: Path) -> dict[str, str]:
    """Types by the file's own names of tensors: of a GGUF file, or of the weights in a Hugging Face folder.

    Types are spelled as the file spells them: Q4_1, F8_E4M3.
    """
    if path.is_file() and path.suffix != ".safetensors":
        return {name: info.dtype for name, info in open_gguf(path).tensors.items()}
    weights = open_weights(path if path.is_dir() else path.parent)
    files = weights.files.values() if isinstance(weights, Shards) else [weights]
    return {name: info.dtype for file in files for name, info in file.tensors.items()}


def type_of(types: dict[str, str], name: str) -> str:
    """The type of the tensor with that Hugging Face name; "" where the file has no such tensor of its own."""
    return types.get(name) or types.get(gguf_name(name), "")
