"""GGUF files written by the test as llama.cpp's converter writes them: the same model must come out."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import tiny

from viz_core.i18n import Problem
from viz_core.model import gguf_decode
from viz_core.model.gguf import open_gguf
from viz_core.model.gguf_model import NAMES, HfNames, config_of, gguf_name, shape_of, unpermute
from viz_core.model.gguf_tokenizer import tokenizer_of
from viz_core.model.library import load_path
from viz_core.model.llama import Llama
from viz_core.model.pieces import byte_symbols
from viz_core.model.weights import build

IDS = [0, 5, 17, 17, 2, 40]


def packed(value: Any) -> bytes:
    """A metadata value with its type number."""
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    kind = 8 if isinstance(value[0], str) else 5
    body = b"".join(text(x) if kind == 8 else struct.pack("<i", x) for x in value)
    return struct.pack("<IIQ", 9, kind, len(value)) + body


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def write(path: Path, metadata: dict[str, Any], tensors: dict[str, np.ndarray]) -> Path:
    """A GGUF v3 file of F32 tensors."""
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))
    head += b"".join(text(key) + packed(value) for key, value in metadata.items())
    data = b""
    for name, array in tensors.items():
        dims = struct.pack(f"<I{array.ndim}Q", array.ndim, *array.shape[::-1])
        head += text(name) + dims + struct.pack("<IQ", 0, len(data))
        data += array.astype("<f4").tobytes()
        data += bytes(-len(data) % 32)
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    return path


def as_gguf(path: Path, model: Llama, tensors: dict[str, np.ndarray], **more: Any) -> Path:
    """The tiny model as the converter writes it: `llama` rows of q and k permuted to neighbouring pairs."""
    c = model.config
    arch = c.architecture if c.architecture.startswith("qwen") else "llama"
    out = {}
    for name, array in tensors.items():
        if arch == "llama" and ("q_proj" in name or "k_proj" in name):
            heads = c.heads if "q_proj" in name else c.kv_heads
            halves = array.reshape(heads, 2, len(array) // heads // 2, *array.shape[1:])
            array = np.stack([halves[:, 0], halves[:, 1]], axis=2).reshape(array.shape)
        out[gguf_name(name)] = array
    sizes = {
        "block_count": len(c.layers),
        "embedding_length": c.d_model,
        "feed_forward_length": c.d_ff,
        "attention.head_count": c.heads,
        "attention.head_count_kv": c.kv_heads,
        "attention.key_length": c.d_head,
        "attention.value_length": c.d_head,
        "attention.layer_norm_rms_epsilon": c.eps,
        "rope.freq_base": c.rope.theta,
        "context_length": c.context,
        "vocab_size": c.vocab,
    }
    return write(path, {"general.architecture": arch} | {f"{arch}.{k}": v for k, v in sizes.items()} | more, out)


@pytest.mark.parametrize("variant", ["llama", "untied", "qwen2", "qwen3", "one_kv_head"])
def test_the_same_logits_come_out_of_a_gguf(tmp_path: Path, variant: str) -> None:
    model, tensors = tiny(variant)
    file = open_gguf(as_gguf(tmp_path / "x.gguf", model, tensors))
    config = config_of(file)
    again = build(config, HfNames(file, shape_of(file.metadata)))
    assert config.layers == model.config.layers
    assert config.tied == model.config.tied
    assert np.array_equal(again.forward(IDS), model.forward(IDS))


def test_llama3_factors_are_read_from_their_tensor(tmp_path: Path) -> None:
    model, tensors = tiny("llama3")
    rope = model.config.rope
    plain = rope.theta ** (-np.arange(0, rope.d_head, 2) / rope.d_head)
    path = as_gguf(tmp_path / "x.gguf", model, tensors | {"rope_freqs.weight": plain / rope.frequencies()})
    file = open_gguf(path)
    again = build(config_of(file), HfNames(file, shape_of(file.metadata)))
    assert np.abs(again.forward(IDS) - model.forward(IDS)).max() < 1e-5


@pytest.mark.parametrize(("number", "name"), [(3, "Q4_1"), (8, "Q8_0"), (12, "Q4_K"), (14, "Q6_K"), (34, "TQ1_0")])
def test_quantized_tensors_are_decoded_as_ggml_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, name: str
) -> None:
    monkeypatch.setattr(gguf_decode, "STRIP", 1500)  # several strips
    with np.load(Path(__file__).parent / "data" / "quantizers" / "ggml.npz") as arrays:
        blocks, expected = arrays[f"{name}__bytes"], arrays[f"{name}__deq"]
    rows, width = expected.shape
    head = struct.pack("<4sIQQ", b"GGUF", 3, 1, 1) + text("general.architecture") + packed("llama")
    head += text("w") + struct.pack("<IQQIQ", 2, width, rows, number, 0)
    (tmp_path / "x.gguf").write_bytes(head + bytes(-len(head) % 32) + blocks.tobytes())
    file = open_gguf(tmp_path / "x.gguf")
    assert file.tensors["w"].dtype == name
    assert np.array_equal(file.read("w"), expected, equal_nan=True)


def test_a_type_without_a_decoder_is_a_problem(tmp_path: Path) -> None:
    head = struct.pack("<4sIQQ", b"GGUF", 3, 1, 1) + text("general.architecture") + packed("llama")
    head += text("w") + struct.pack("<IQIQ", 1, 256, 16, 0)
    (tmp_path / "x.gguf").write_bytes(head + bytes(-len(head) % 32) + bytes(66))
    with pytest.raises(Problem, match="IQ2_XXS"):
        open_gguf(tmp_path / "x.gguf").read("w")


def test_unpermute_is_the_inverse_of_pairing() -> None:
    rows = np.arange(12)[:, None]
    paired = np.concatenate([rows[:6].reshape(2, 3, 1).swapaxes(0, 1).reshape(6, 1), rows[6:]])
    assert unpermute(paired, 2, "q")[:6].ravel().tolist() == [0, 1, 2, 3, 4, 5]


def test_names() -> None:
    assert gguf_name("model.layers.12.self_attn.q_proj.bias") == "blk.12.attn_q.bias"
    assert gguf_name("model.embed_tokens.weight") == "token_embd.weight"
    assert len(set(NAMES.values())) == len(NAMES)


def vocabulary() -> dict[str, Any]:
    """Metadata of a byte-level vocabulary of 61 tokens with one merge."""
    letters = [*byte_symbols()[0x30:0x3A], *byte_symbols()[0x61:0x7B], *byte_symbols()[0xE0:0xF0], "Ġ", "!", "?"]
    tokens = ["<s>", "</s>", *letters, "th", "he", "the", "Ġthe"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": [*tokens[:61]],
        "tokenizer.ggml.merges": ["t h", "th e", "Ġ the"],
        "tokenizer.ggml.token_type": [3, 3, *[1] * 59],
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.eos_token_id": 1,
    }


def test_a_gguf_loads_by_path_with_its_tokenizer(tmp_path: Path) -> None:
    network, tensors = tiny()
    model = load_path(as_gguf(tmp_path / "tiny.gguf", network, tensors, **vocabulary()))
    ids = model.encode("the the 12</s>")
    assert ids[0] == 0
    assert model.tokenizer.pieces(ids)[1:5] == ["the", "Ġthe", "Ġ", "1"]
    assert 1 not in ids
    assert model.llama.config.eos == (1,)
    assert np.array_equal(model.llama.forward(ids), network.forward(ids))


@pytest.mark.parametrize(
    "changes",
    [
        {"tokenizer.ggml.model": "t5"},
        {"tokenizer.ggml.pre": "unheard-of"},
        {"tokenizer.ggml.merges": ["t h x"]},
        {"tokenizer.ggml.merges": ["q q"]},
        {"tokenizer.ggml.tokens": ["a", "a"]},
    ],
)
def test_a_tokenizer_that_cannot_be_built_is_a_problem(changes: dict[str, Any]) -> None:
    with pytest.raises(Problem, match="No tokenizer"):
        tokenizer_of(vocabulary() | changes)


def test_sentencepiece_merges_by_score() -> None:
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256)), "▁", "a", "b", "ab", "▁a", "▁ab"]
    tokenizer = tokenizer_of(
        {
            "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.scores": np.array([0.0] * 259 + [-5, -6, -7, -1, -2, -3], np.float32),
            "tokenizer.ggml.token_type": np.array([2, 3, 3] + [6] * 256 + [1] * 6, np.int32),
            "tokenizer.ggml.bos_token_id": 1,
        }
    )
    assert tokenizer.scheme == "sentencepiece"
    ids = tokenizer.encode("ab 中")
    assert tokenizer.pieces(ids) == ["<s>", "▁ab", "▁", "<0xE4>", "<0xB8>", "<0xAD>"]
    assert tokenizer.decode(ids) == "ab 中"
    assert tokenizer.character_spans(ids) == [(0, 1), (1, 2), (2, 3), (3, 6)]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 255), st.integers(0, 400))
def test_a_damaged_gguf_is_a_problem_or_a_file(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int, cut: int
) -> None:
    path = tmp_path_factory.mktemp("bad") / "x.gguf"
    write(path, vocabulary() | {"general.architecture": "llama"}, {"w": np.ones((2, 3)), "x": np.ones(5)})
    data = bytearray(path.read_bytes())
    data[at % 400] = byte
    path.write_bytes(data[: len(data) - cut])
    try:
        file = open_gguf(path)
    except Problem:
        return
    for name in file:
        try:
            assert file.read(name).shape == file.tensors[name].shape
        except Problem:
            continue


def test_a_path_that_is_no_model_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no model at"):
        load_path(tmp_path)
    (tmp_path / "x.gguf").write_bytes(b"nothing at all, but long enough to be looked at")
    with pytest.raises(Problem, match="not a GGUF file"):
        load_path(tmp_path / "x.gguf")
