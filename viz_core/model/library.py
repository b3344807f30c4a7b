"""Models by name: what is here, and how it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from viz_core.i18n import Problem
from viz_core.model.config import from_hf
from viz_core.model.llama import Llama
from viz_core.model.notes import Note, shown
from viz_core.model.shards import open_weights
from viz_core.model.strict_json import parse
from viz_core.model.tensorfile import length_of
from viz_core.model.tokenizer import Tokenizer
from viz_core.model.weights import build

BUNDLED = Path(__file__).parent / "bundled"
MAX_CONFIG = 2**20


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded model: its name, its network, its tokenizer, and remarks from the loading."""

    name: str
    llama: Llama
    tokenizer: Tokenizer
    notes: tuple[Note, ...] = ()

    def encode(self, text: str) -> list[int]:
        """Ids of a prompt; a Problem where it is empty or longer than the model's context."""
        ids = self.tokenizer.encode(text)
        self.llama.check(ids)
        return ids


def names() -> list[str]:
    """Names that `load` takes and that need no download now."""
    return ["bundled"] if (BUNDLED / "model.safetensors").is_file() else []


def load(name: str) -> Model:
    """A model by its name; a Problem where there is none."""
    if name not in names():
        raise Problem("model_unknown", name=shown(name), known=", ".join(names()) or "–")
    return load_folder(BUNDLED, name)


def load_folder(folder: Path, name: str) -> Model:
    """A Hugging Face folder: config.json, safetensors (one file or shards with their index), tokenizer.json."""
    notes: list[Note] = []
    path = folder / "config.json"
    if length_of(path) > MAX_CONFIG:
        raise Problem("model_config_not_object")
    config = from_hf(parse(path.read_bytes(), "config.json", note=notes.append))
    weights = open_weights(folder)
    tokenizer = Tokenizer.from_file(folder / "tokenizer.json")
    if tokenizer.vocab > config.vocab:
        raise Problem("model_tokenizer_vocab", tokenizer=tokenizer.vocab, model=config.vocab)
    return Model(name, build(config, weights), tokenizer, (*notes, *weights.notes))
