"""Decoding ggml tensors: bit-exactness to the C functions' output, chunk borders, bad input."""

import numpy as np
import pytest

from viz_core.i18n import Problem
from viz_core.quantizers import ggml_decode
from viz_core.quantizers.ggml_blocks import BLOCKS, block_of
from viz_core.quantizers.ggml_decode import DECODERS, decode

PUBLISHED_BITS = {
    "F32": 32,
    "F16": 16,
    "BF16": 16,
    "Q4_0": 4.5,
    "Q4_1": 5.0,
    "Q5_0": 5.5,
    "Q5_1": 6.0,
    "Q8_0": 8.5,
    "Q2_K": 2.625,
    "Q3_K": 3.4375,
    "Q4_K": 4.5,
    "Q5_K": 5.5,
    "Q6_K": 6.5625,
    "IQ4_NL": 4.5,
    "IQ4_XS": 4.25,
    "TQ1_0": 1.6875,
    "TQ2_0": 2.0625,
    "Q1_0": 1.125,
    "MXFP4": 4.25,
    "NVFP4": 4.5,
}


@pytest.mark.parametrize("name", BLOCKS)
def test_stored_bits_are_the_published_ones(name: str) -> None:
    assert BLOCKS[name].bits_per_weight == PUBLISHED_BITS[name]


@pytest.mark.parametrize("name", DECODERS)
def test_chunks_do_not_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    block = block_of(name)
    raw = np.random.default_rng(7).integers(0, 256, 300 * block.bytes, dtype=np.uint8)
    whole = decode(name, raw, (300 * block.values,))
    monkeypatch.setattr(ggml_decode, "CHUNK", 7 * block.values)
    parts = decode(name, raw, (300, block.values)).reshape(-1)
    assert np.array_equal(whole, parts, equal_nan=True)


def test_one_block_by_hand() -> None:
    raw = np.concatenate([np.array([0.5, -1.0], "<f2").view(np.uint8), np.arange(16, dtype=np.uint8) * 16 + 3])
    values = decode("Q4_1", raw, (32,))
    assert np.array_equal(values[:16], np.full(16, 0.5 * 3 - 1, np.float32))
    assert np.array_equal(values[16:], np.arange(16, dtype=np.float32) * 0.5 - 1)


def test_bfloat16_is_the_upper_half_of_float32() -> None:
    x = np.array([1.0, -2.5, np.inf, 0.0], np.float32)
    upper = (x.view(np.uint32) >> 16).astype("<u2")
    assert np.array_equal(decode("BF16", upper.view(np.uint8), (2, 2)).reshape(-1), x)


@pytest.mark.parametrize(("name", "size", "shape", "key"), [
    ("Q9_X", 18, (32,), "quantizers_type"),
    ("Q4_0", 17, (32,), "quantizers_torn_block"),
    ("Q4_0", 18, (33,), "quantizers_shape"),
    ("F32", 8, (3,), "quantizers_shape"),
])  # fmt: skip
def test_bad_bytes_are_named(name: str, size: int, shape: tuple[int, ...], key: str) -> None:
    with pytest.raises(Problem) as problem:
        decode(name, np.zeros(size, np.uint8), shape)
    assert problem.value.key == key
    assert problem.value.text("zh") != problem.value.text("en")
