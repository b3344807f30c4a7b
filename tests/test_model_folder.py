"""A whole Hugging Face folder by its path: config, tokenizer, sharded BF16 weights, and the ways it can be broken."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from tiny_model import BASE, VARIANTS, Arrays, tiny
from tokenizers import Tokenizer as Inner
from tokenizers import decoders, models, pre_tokenizers

from viz_core.i18n import Problem
from viz_core.model.library import load_path
from viz_core.model.pieces import byte_symbols
from viz_core.model.weights import build


def bf16(a: np.ndarray) -> np.ndarray:
    """The upper halves of float32 values, uint16: truncation is enough for a test."""
    return (a.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def save(path: Path, tensors: dict[str, np.ndarray]) -> None:
    header, data = {}, b""
    for name, array in tensors.items():
        raw = bf16(array).tobytes()
        header[name] = {"dtype": "BF16", "shape": array.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + data)


def folder(path: Path, variant: str = "llama", letters: int = 58) -> Path:
    """A folder of the tiny model in two shards, with a byte-level tokenizer of `letters` + 3 tokens."""
    _, tensors = tiny(variant)
    names = sorted(tensors)
    home = {name: f"model-0000{1 + (i % 2)}-of-00002.safetensors" for i, name in enumerate(names)}
    for file in set(home.values()):
        save(path / file, {name: tensors[name] for name in names if home[name] == file})
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": home}))
    (path / "config.json").write_text(json.dumps(BASE | VARIANTS[variant]))
    tokens = ["<s>", "</s>", *byte_symbols()[0x41 : 0x41 + letters], "Ġ"]
    inner = Inner(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens(["<s>", "</s>"])
    inner.save(str(path / "tokenizer.json"))
    return path


@pytest.mark.parametrize("variant", ["llama", "qwen2", "qwen3", "mistral", "untied"])
def test_a_folder_loads_by_its_path(tmp_path: Path, variant: str) -> None:
    model = load_path(folder(tmp_path, variant))
    network, tensors = tiny(variant)
    halved = {name: (bf16(a).astype(np.uint32) << 16).view(np.float32) for name, a in tensors.items()}
    ids = model.encode("Abc Zz")
    expected = build(network.config, Arrays(halved)).forward(ids)
    assert np.array_equal(model.llama.forward(ids), expected)
    assert model.tokenizer.decode(ids) == "Abc Zz"
    assert model.name == tmp_path.name
    assert load_path(tmp_path, "int8").llama.forward(ids).shape == expected.shape


def test_weights_load_with_what_lies_beside_them(tmp_path: Path) -> None:
    shard = next(folder(tmp_path).glob("*.safetensors"))
    assert load_path(shard).name == tmp_path.name
    (tmp_path / "config.json").unlink()
    with pytest.raises(Problem) as problem:
        load_path(shard)
    assert problem.value.key == "model_lone_weights"


@pytest.mark.parametrize("path", ["", "x" * 1000, "a\0b", "/nowhere/at all", "/dev/null", "~", "\ud800"])
def test_a_path_that_cannot_be_read_is_one_sentence(path: str) -> None:
    with pytest.raises(Problem):
        load_path(Path(path))


@pytest.mark.parametrize(
    ("break_it", "key"),
    [
        (lambda p: (p / "model-00002-of-00002.safetensors").unlink(), "model_index_shard"),
        (lambda p: (p / "tokenizer.json").unlink(), "model_file_missing"),
        (lambda p: (p / "config.json").write_text("{}"), "model_config_missing"),
        (lambda p: (p / "config.json").write_text(json.dumps(BASE | {"model_type": "gpt_neox"})), "model_architecture"),
        (lambda p: (p / "config.json").write_text(json.dumps(BASE | {"hidden_size": 48})), "model_tensor_shape"),
        (lambda p: (p / "config.json").write_text(json.dumps(BASE | {"num_hidden_layers": 4})), "model_tensor_missing"),
        (lambda p: folder(p, letters=90), "model_tokenizer_vocab"),
        (lambda p: (p / "config.json").unlink(), "model_path"),
    ],
)
def test_a_broken_folder_is_one_sentence(tmp_path: Path, break_it: object, key: str) -> None:
    folder(tmp_path)
    break_it(tmp_path)  # type: ignore[operator]
    with pytest.raises(Problem) as problem:
        load_path(tmp_path)
    assert problem.value.key == key
