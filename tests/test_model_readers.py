"""Number formats, safetensors files written by the test, JSON bounds, and configs."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_model import BASE

from viz_core.i18n import Problem
from viz_core.model.config import from_hf
from viz_core.model.dtypes import decode, fp8_table
from viz_core.model.notes import shown
from viz_core.model.safetensors import open_safetensors
from viz_core.model.shards import open_weights
from viz_core.model.strict_json import parse


def write(path: Path, tensors: dict[str, tuple[str, list[int], bytes]]) -> Path:
    """A safetensors file of (dtype, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def test_every_bf16_code_is_the_upper_half_of_its_float32() -> None:
    codes = np.arange(65536, dtype=np.uint16)
    got = decode("BF16", codes.view(np.uint8)).view(np.uint32)
    assert np.array_equal(got, codes.astype(np.uint32) << 16)


def test_every_f16_code_is_exact() -> None:
    codes = np.arange(65536, dtype=np.uint16)
    got = decode("F16", codes.view(np.uint8))
    expected = np.array([struct.unpack("<e", struct.pack("<H", c))[0] for c in codes.tolist()], np.float32)
    assert got.dtype == np.float32
    assert np.array_equal(got, expected, equal_nan=True)


def test_fp8_values() -> None:
    e4m3, e5m2 = fp8_table(4), fp8_table(5)
    assert np.nanmax(e4m3) == 448
    assert np.isnan(e4m3[[0x7F, 0xFF]]).all()
    assert np.isfinite(np.delete(e4m3, [0x7F, 0xFF])).all()
    assert e4m3[1] == 2.0**-9
    assert e5m2[0x7B] == 57344
    assert np.isposinf(e5m2[0x7C])
    assert np.isneginf(e5m2[0xFC])
    assert np.isnan(e5m2[[0x7D, 0x7E, 0x7F]]).all()
    assert e5m2[1] == 2.0**-16
    halves = (np.arange(256, dtype=np.uint16) << 8).view(np.float16)  # E5M2 is the upper byte of a binary16
    assert np.array_equal(e5m2, halves.astype(np.float32), equal_nan=True)
    assert np.signbit(e4m3[0x80])
    for table in (e4m3, e5m2):
        assert np.array_equal(np.sort(table[:0x78]), table[:0x78])
        assert np.array_equal(table[128:], -table[:128], equal_nan=True)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), max_size=3), min_size=1, max_size=4), st.integers(0, 99))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, shapes: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = {f"t{i}": rng.standard_normal(shape).astype(np.float32) for i, shape in enumerate(shapes)}
    path = tmp_path_factory.mktemp("st") / "x.safetensors"
    file = open_safetensors(write(path, {k: ("F32", list(a.shape), a.tobytes()) for k, a in arrays.items()}))
    assert list(file) == list(arrays)
    for name, a in arrays.items():
        assert np.array_equal(file.read(name), a)
        assert file.read(name).shape == a.shape


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 95), st.integers(0, 255), st.integers(0, 96))
def test_a_damaged_file_is_a_problem_or_a_file(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int, cut: int
) -> None:
    path = tmp_path_factory.mktemp("bad") / "x.safetensors"
    data = bytearray(write(path, {"w": ("F32", [2, 3], bytes(24))}).read_bytes())
    data[at % len(data)] = byte
    path.write_bytes(data[: len(data) - cut])
    try:
        file = open_safetensors(path)
    except Problem:
        return
    assert all(file.read(name).size == info.size for name, info in file.tensors.items())


@pytest.mark.parametrize(("dtype", "size"), [("F4", 8), ("F6_E2M3", 12), ("F8_E8M0", 16), ("C64", 128)])
def test_one_tensor_of_another_type_leaves_the_others_readable(tmp_path: Path, dtype: str, size: int) -> None:
    """The place of its 16 values is checked by their bits; reading it names it."""
    values = np.arange(6, dtype=np.float32)
    odd = (dtype, [4, 4], bytes(size))
    file = open_safetensors(write(tmp_path / "x.safetensors", {"odd": odd, "w": ("F32", [2, 3], values.tobytes())}))
    assert np.array_equal(file.read("w"), values.reshape(2, 3)) and file.reads("w") and not file.reads("odd")
    for read in (file.read, file.strips):
        with pytest.raises(Problem, match=rf"odd has the data type {dtype}"):
            read("odd")
    with pytest.raises(Problem, match="bytes"):
        open_safetensors(write(tmp_path / "y.safetensors", {"odd": (dtype, [4, 4], bytes(size - 1))}))


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="not there"):
        open_safetensors(tmp_path / "none.safetensors")
    with pytest.raises(Problem):
        open_safetensors(tmp_path)


def test_shards(tmp_path: Path) -> None:
    for i in (1, 2):
        write(tmp_path / f"{i}.safetensors", {f"t{i}": ("F32", [1], struct.pack("<f", i))})
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"t1": "1.safetensors", "t2": "2.safetensors"}}))
    weights = open_weights(tmp_path)
    assert [weights.read("t1")[0], weights.read("t2")[0]] == [1, 2]
    for home, key in (
        ({"t1": "3.safetensors"}, "model_index_shard"),
        ({"t2": "1.safetensors"}, "model_index_tensor"),
        ({"t1": "../1.safetensors"}, "model_index_leaves"),
        ({"t1": 4}, "model_index_form"),
        ({}, "model_index_form"),
    ):
        index.write_text(json.dumps({"weight_map": home}))
        with pytest.raises(Problem) as problem:
            open_weights(tmp_path)
        assert problem.value.key == key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (b"", "model_json_empty"),
        (b"[" * 100 + b"]" * 100, "model_json_deep"),
        (b'{"a": 1, "a": 2}', "model_json_duplicate"),
        (b"{'a': 1}", "model_json_syntax"),
        (b'{"a": 1,}', "model_json_syntax"),
        (b'{"a": ' + b"9" * 5000 + b"}", "model_json_number"),
        (b"\xff\xfe\xfd", "model_json_encoding"),
        (b'{"a": "\xff"}', "model_json_encoding"),
    ],
)
def test_bad_json(text: bytes, key: str) -> None:
    with pytest.raises(Problem) as problem:
        parse(text, "x.json")
    assert problem.value.key == key


def test_odd_json_is_read_with_a_remark() -> None:
    notes: list[object] = []
    assert parse('{"a": 1}'.encode("utf-16"), "x", note=notes.append) == {"a": 1}
    assert parse(b'{"a": 1, "a": 2}', "x", note=notes.append) == {"a": 2}
    assert parse(b'\xef\xbb\xbf{"a": "]]["}', "x") == {"a": "]]["}
    assert len(notes) == 2


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"model_type": "mamba"}, "model_architecture"),
        ({"model_type": None}, "model_config_missing"),
        ({"hidden_act": "gelu"}, "model_activation"),
        ({"num_hidden_layers": 0}, "model_config_range"),
        ({"num_hidden_layers": 10**9}, "model_config_range"),
        ({"num_hidden_layers": True}, "model_config_number"),
        ({"num_hidden_layers": [3]}, "model_config_number"),
        ({"hidden_size": "24"}, "model_config_number"),
        ({"hidden_size": float("inf")}, "model_config_number"),
        ({"hidden_size": 25}, "model_config_head_dim"),
        ({"num_key_value_heads": 4}, "model_config_kv_heads"),
        ({"num_key_value_heads": 12}, "model_config_kv_heads"),
        ({"head_dim": 5}, "model_config_odd_head"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "model_rope_scaling"),
        ({"model_type": "mistral", "sliding_window": 0}, "model_config_range"),
        ({"model_type": "mistral", "sliding_window": 4, "layer_types": ["full_attention"]}, "model_config_layer_types"),
        ({"model_type": "mistral", "sliding_window": 4, "layer_types": ["hyper"] * 3}, "model_config_layer_type"),
        ({"rms_norm_eps": float("nan")}, "model_config_number"),
    ],
)
def test_bad_configs(changes: dict[str, object], key: str) -> None:
    with pytest.raises(Problem) as problem:
        from_hf(BASE | changes)
    assert problem.value.key == key


def test_configs() -> None:
    c = from_hf(BASE | {"num_hidden_layers": 3.0, "num_key_value_heads": None, "max_position_embeddings": 10**30})
    assert (len(c.layers), c.kv_heads, c.d_head) == (3, 6, 4)
    assert c.context == 2**20
    assert c.layers[0].kind == "full"
    qwen = BASE | {"model_type": "qwen2", "sliding_window": 4, "use_sliding_window": True, "max_window_layers": 1}
    assert [x.window for x in from_hf(qwen).layers] == [None, 4, 4]
    assert [x.window for x in from_hf(qwen | {"use_sliding_window": False}).layers] == [None] * 3
    types = {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
    assert [x.window for x in from_hf(qwen | types).layers] == [4, None, 4]
    assert from_hf(BASE | {"rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}}).rope.theta == 5e5


def test_hostile_names_become_one_safe_line() -> None:
    assert shown("a\nb\x1b[31m\u202e\ud800") == "a\\u000ab\\u001b[31m\\u202e\\ud800"
    assert len(shown("x" * 10**6)) == 80
