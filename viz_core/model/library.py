"""Models by name: what is here, and how it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from viz_core.i18n import Lang, Problem
from viz_core.model import get
from viz_core.model.config import LlamaConfig, from_hf
from viz_core.model.gguf import open_gguf
from viz_core.model.gguf_model import HfNames, config_of, shape_of
from viz_core.model.gguf_tokenizer import tokenizer_of
from viz_core.model.int8 import Int8
from viz_core.model.linear import Dense
from viz_core.model.llama import Llama
from viz_core.model.notes import Note, shown
from viz_core.model.shards import open_weights
from viz_core.model.sources import SOURCES
from viz_core.model.strict_json import parse
from viz_core.model.tensorfile import length_of
from viz_core.model.tokenizer import Tokenizer
from viz_core.model.weights import MakeLinear, build

BUNDLED = Path(__file__).parent / "bundled"
MAX_CONFIG = 2**20
Precision = Literal["float32", "int8"]
LINEAR: dict[Precision, MakeLinear] = {"float32": Dense.of, "int8": Int8.of}


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


def held_out(lang: Lang) -> str:
    """A document that the bundled model was not trained on, from what was held out beside its training data."""
    return (BUNDLED / f"held_out.{lang}.txt").read_text(encoding="utf-8").strip()


def names() -> list[str]:
    """Names that `load` takes and that need no download now."""
    bundled = ["bundled"] if (BUNDLED / "model.safetensors").is_file() else []
    return bundled + [name for name in SOURCES if get.held(name)]


def load(name: str, precision: Precision = "float32") -> Model:
    """A model by its name (see `names`); `precision` is that of its linear layers in memory."""
    if name == "bundled" and name in names():
        return load_folder(BUNDLED, name, precision)
    if name in SOURCES:
        path = get.held(name)
        if path is None:
            raise Problem("model_not_fetched", name=name)
        return load_gguf(path, name, precision)
    raise Problem("model_unknown", name=shown(name), known=", ".join(names()) or "–")


def load_path(path: Path, precision: Precision = "float32") -> Model:
    """A model by its path: a Hugging Face folder, the weights in one, or a GGUF file.

    A Problem where there is none, or where the system does not let us read it.
    """
    try:
        if (path / "config.json").is_file():
            return load_folder(path, path.name, precision)
        if path.suffix == ".safetensors" and path.is_file():
            return _beside(path, precision)
        if path.is_file():
            return load_gguf(path, path.stem, precision)
    except OSError as error:  # no permission, a name too long, a disk that fails
        raise Problem("model_path", path=shown(path)) from error
    raise Problem("model_path", path=shown(path))


def _beside(weights: Path, precision: Precision) -> Model:
    """The folder that a safetensors file lies in: alone it says neither what network it belongs to nor its tokens."""
    if not (weights.parent / "config.json").is_file():
        raise Problem("model_lone_weights", file=shown(weights.name))
    return load_folder(weights.parent, weights.parent.name, precision)


def load_folder(folder: Path, name: str, precision: Precision = "float32") -> Model:
    """A Hugging Face folder: config.json, safetensors (one file or shards with their index), tokenizer.json."""
    notes: list[Note] = []
    config = _config(folder, notes)
    tokenizer = _fitting(Tokenizer.from_file(folder / "tokenizer.json"), config)
    weights = open_weights(folder)
    return Model(name, build(config, weights, LINEAR[precision]), tokenizer, (*notes, *weights.notes))


def _config(folder: Path, notes: list[Note]) -> LlamaConfig:
    path = folder / "config.json"
    if length_of(path) > MAX_CONFIG:
        raise Problem("model_config_not_object")
    return from_hf(parse(path.read_bytes(), "config.json", note=notes.append))


def load_gguf(path: Path, name: str, precision: Precision = "float32") -> Model:
    """A GGUF file of the family; its tokenizer comes out of its metadata."""
    file = open_gguf(path)
    config = config_of(file)
    tokenizer = _fitting(tokenizer_of(file.metadata), config)
    return Model(name, build(config, HfNames(file, shape_of(file.metadata)), LINEAR[precision]), tokenizer, file.notes)


def _fitting(tokenizer: Tokenizer, config: LlamaConfig) -> Tokenizer:
    """The tokenizer, unless it can give ids that the model does not know."""
    if tokenizer.vocab > config.vocab:
        raise Problem("model_tokenizer_vocab", tokenizer=tokenizer.vocab, model=config.vocab)
    return tokenizer
