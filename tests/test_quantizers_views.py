"""What pages show of a block: its arithmetic, histograms, samples and comparisons; and what it does to a model."""

import numpy as np
import pytest

from viz_core import units
from viz_core.i18n import LANGS, Problem
from viz_core.model.held_out import held_out
from viz_core.model.library import load
from viz_core.model.paged_quantized import Sizes, paged_values, write
from viz_core.model.quantized import Damage, damage, log_softmax, predict, quantize_model
from viz_core.model.quantized_cache import QuantizedCache, Side
from viz_core.proofs.quantizers import on_points, to_nearest
from viz_core.quantizers.compare import compare, quantize_any
from viz_core.quantizers.errors import fates
from viz_core.quantizers.registry import FORMATS
from viz_core.quantizers.samples import REAL, SAMPLES, excess_kurtosis, sample
from viz_core.quantizers.snap import snapped
from viz_core.trace_codec import encode
from viz_core.ui import quantizing_model
from viz_core.ui.quantizing import Pair
from viz_core.ui.quantizing_model import ModelRow
from viz_core.ui.scenes import quant_model, quant_steps

PUBLISHED = {
    "Q8_0": 45.0, "int8 row": 42.1, "Q6_K": 34.7, "E4M3 tensor": 31.5, "Q5_K": 28.6, "Q4_K": 22.6, "Q4_0": 20.95,
    "NF4": 20.57, "NVFP4": 20.48, "MXFP4": 18.6, "Q2_K": 10.3,
}  # fmt: skip
"""SQNR in dB on the whole matrix that ffn_in is a slice of."""


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_clean(name: str) -> None:
    x = sample(name)
    assert x.dtype == np.float32
    assert np.isfinite(x).all()
    assert len(np.unique(x[:8])) > 1000  # never quantized before


def test_samples_differ_in_their_tails() -> None:
    assert excess_kurtosis(sample("ffn_out")) > 20 > 3 > excess_kurtosis(sample("ffn_in"))
    assert abs(excess_kurtosis(sample("normal"))) < 0.1
    assert sum(sample(name).nbytes for name in REAL) < 1e6
    with pytest.raises(Problem):
        sample("unknown")


@pytest.mark.parametrize(("name", "decibels"), PUBLISHED.items())
def test_errors_of_the_real_matrix(name: str, decibels: float) -> None:
    (row,) = compare(sample("ffn_in"), [FORMATS[name]])
    assert row.errors.sqnr == pytest.approx(decibels, abs=0.12)


@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "uint4 g64", "NF4", "MXFP4", "Q4_K", "int8 row"])
def test_the_formula_is_the_value(name: str) -> None:
    x, q = quantize_any(sample("ffn_in"), FORMATS[name])
    block = snapped(x, q, 3)
    again = (block.levels - block.zero) * block.scale + block.offset
    assert np.allclose(again, block.after, rtol=1e-5, atol=1e-8)
    assert block.formula(0).endswith(f"{block.after[0]:.4g}".replace("-", "−"))
    assert np.isin(block.after, block.points).all()


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "NF4", "uint4 g64", "FP16"])
def test_every_step_of_the_snap_is_said(name: str, lang: str) -> None:
    x, q = quantize_any(sample("ffn_in"), FORMATS[name])
    film = quant_steps.trace(snapped(x, q, 5), quant_steps.way(q.format))
    assert film.steps == min(12, q.layout.block)
    assert len(encode(film, lang)) > 1000 or film.steps == 1  # type: ignore[arg-type]


WAYS = {"Q4_0": "step", "BitNet": "step", "Q4_1": "minimum", "KIVI4 g32": "minimum", "Q2_K": "minimum",
        "uint4 g64": "zero", "HQQ4 g64": "zero", "NF4": "peak", "FP4": "peak", "MXFP4": "point", "IQ4_NL": "point",
        "E4M3 tensor": "point", "MXINT8": "point", "E4M3": "cast", "FP16": "cast", "E2M1": "cast"}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_the_second_row_is_in_the_unit_that_is_named(name: str) -> None:
    """Back from that unit the value comes out; a peak is 1 there, a step apart are the points of integers only."""
    x, q = quantize_any(sample("ffn_in"), FORMATS[name])
    how = quant_steps.way(q.format)
    block = quant_steps.block_of(Pair(x, q, name), 3)
    y = quant_steps.scaled(block).astype(np.float64)
    assert np.allclose((y - block.zero) * block.scale + block.offset, block.before, rtol=1e-4, atol=1e-6)
    assert how == WAYS.get(name, how)
    if how == "peak" and name != "NF4 double":  # whose peaks are rounded
        assert np.abs(y).max() == pytest.approx(1)
    even = np.allclose(np.diff(q.format.grid.levels), 1)
    assert even == (how in ("step", "minimum", "zero"))
    assert (block.offset != 0) <= (how == "minimum") and (block.zero != 0) <= (how == "zero")
    assert len(block.before) > 1, "one value is no film"


def test_without_a_scale_the_grid_s_nearest_numbers_are_taken() -> None:
    x, q = quantize_any(sample("ffn_in"), FORMATS["E4M3"])
    block = quant_steps.block_of(Pair(x, q, "E4M3"), 2)
    assert np.array_equal(block.before, x.reshape(-1)[64:96])
    away = np.abs(block.before[:, None] - block.points[None])
    assert np.array_equal(np.abs(block.error), away.min(axis=1)) and not block.clipped.any()
    last = quant_steps.block_of(Pair(x[:1, :40], FORMATS["E4M3"].quantize(x[:1, :40]), "E4M3"), 3)
    assert np.array_equal(last.before, x[0, 32:40]), "the last of what there is, counted on from the first again"


@pytest.fixture(scope="module")
def model():  # noqa: ANN201
    return load("bundled")


@pytest.mark.parametrize("lang", LANGS)
def test_held_out_texts_fit(model, lang: str) -> None:  # noqa: ANN001
    assert all(10 < len(model.encode(text)) <= model.llama.config.context for text in held_out(lang))  # type: ignore[arg-type]


def test_what_a_format_does_to_a_model(model) -> None:  # noqa: ANN001
    texts = [model.encode(text) for text in held_out("en")[:2]]
    original = predict(model.llama, texts)
    same = damage(original, original)
    assert (same.added, same.kl, same.flips, same.noise) == (0, 0, 0, 0)
    found = {name: damage(original, predict(quantize_model(model.llama, FORMATS[name]).llama, texts))
             for name in ("Q8_0", "Q4_0", "uint2 g64")}  # fmt: skip
    assert found["Q8_0"].kl < found["Q4_0"].kl < found["uint2 g64"].kl
    assert abs(found["Q8_0"].added) < 0.01
    assert found["uint2 g64"].added > 0.3 and found["uint2 g64"].flips > 0.3


def test_bits_of_a_quantized_model(model) -> None:  # noqa: ANN001
    assert quantize_model(model.llama, FORMATS["Q4_0"]).bits_per_weight == 4.5
    mixed = quantize_model(model.llama, FORMATS["Q4_K"])
    assert 4.5 < mixed.bits_per_weight < 5.5 and 0 < mixed.stand_in < 1


def test_a_cache_in_many_bits_is_the_cache(model) -> None:  # noqa: ANN001
    ids, c = model.encode(held_out("en")[0])[:64], model.llama.config
    plain = model.llama.forward(ids, model.llama.new_cache(64))
    kept = [QuantizedCache(len(c.layers), c.kv_heads, 64, c.d_head, Side(b), Side(b)) for b in (16, 8, 2)]
    away = [np.abs(model.llama.forward(ids, cache) - plain).max() for cache in kept]
    assert away[0] == 0 < away[1] < 0.1 * away[2]
    assert kept[2].bytes_per_token == len(c.layers) * c.kv_heads * 2 * c.d_head * 3 // 8


def test_keys_with_outlier_channels_want_a_scale_a_channel() -> None:
    k = np.random.default_rng(0).standard_normal((2, 128, 32)).astype(np.float32)
    k[:, :, 5] *= 12
    away = {
        axis: np.abs(Side(2, axis).stored(k) - k)[:, :, np.arange(32) != 5].mean()
        for axis in ("channel", "token")
    }  # type: ignore[arg-type]
    assert away["channel"] < 0.5 * away["token"]
    assert np.array_equal(Side(2, "channel").stored(k[:, :40], 32)[:, 32:], k[:, 32:40])


def test_a_block_closes_when_its_last_token_arrives() -> None:
    tokens = write((20, 9), 8, 16, 9)
    assert len(tokens) == 45
    assert [t.block for t in tokens if t.closed] == [tokens[15].block, tokens[30].block]
    assert len({t.block for t in tokens}) == 4  # 28 and 17 tokens in blocks of 16
    sizes = Sizes.of(16, 2, 32, Side(2, "channel", 16), Side(2, "token", 32))
    assert (sizes.open, sizes.codes, sizes.scales) == (4096, 512, 4 * (64 + 32))
    odd = Sizes.of(16, 2, 48, Side(2, "channel", 16), Side(2, "token", 32))
    assert odd.scales == 4 * (96 + 32 * 2), "48 channels are a group of 32 and one of 16"


@pytest.mark.parametrize("n", [5, 16, 40])
def test_paged_keys_are_the_contiguous_ones(n: int) -> None:
    k = np.random.default_rng(n).standard_normal((2, n, 32)).astype(np.float32)
    side = Side(2, "channel", 16)
    table = [7, 2, 5][: -(-n // 16)]
    assert np.array_equal(paged_values(k, table, 16, side), side.stored(k, 16))


@pytest.mark.parametrize("place", [0, 40, 150])
def test_the_next_token_before_and_after(model, place: int) -> None:  # noqa: ANN001
    """One place recomputed from a single text, and its KL from whole distributions."""
    found = quantizing_model.next_token("bundled", "Q4_0", "en", place)
    text, at = next(place_of(model, "en", place))
    ids = model.encode(text)[: at + 1]
    first, second = (log_softmax(m.forward(ids)[-1])
                     for m in (model.llama, quantize_model(model.llama, FORMATS["Q4_0"]).llama))  # fmt: skip
    assert np.allclose(found.before, np.exp(first[list(found.ids)]), atol=1e-5)
    assert np.allclose(found.after, np.exp(second[list(found.ids)]), atol=1e-5)
    assert {int(first.argmax()), int(second.argmax())} <= set(found.ids)
    assert found.kl == pytest.approx(float(np.exp(first) @ (first - second)), abs=1e-5)
    assert found.flipped == (first.argmax() != second.argmax()) and text.startswith(found.so_far)


def place_of(model, lang, place):  # noqa: ANN001, ANN201
    for text in held_out(lang):
        n = len(model.encode(text)) - 1
        if place < n:
            yield text, place
            return
        place -= n


@pytest.mark.parametrize("name", ["Q4_0", "NF4", "uint4 g64", "int8 tensor", "E4M3 tensor", "Q4_K", "int8 row"])
def test_one_block_is_the_tensor_s(name: str) -> None:
    """What is read for one block alone equals what is read for all; points are looked up as by comparing with each."""
    x, q = quantize_any(sample("ffn_out")[:16], FORMATS[name])
    block = len(q.codes) // 2
    one, n = snapped(x, q, block), int(q.layout.lengths()[block])
    assert np.array_equal(one.clipped, q.layout.split(fates(x, q).clipped)[block, :n])
    assert np.array_equal(one.after, q.blocks[block, :n])
    assert on_points(q).holds
    points, values = q.points(block).astype(np.float64), x.reshape(-1)[:50]
    assert np.allclose(to_nearest(points, values), np.abs(points[None] - values[:, None]).min(axis=1))


@pytest.mark.parametrize("name", ["BF16", "E4M3", "Q4_0", "E4M3 tensor", "NVFP4"])
def test_a_value_beside_its_points_is_found(name: str) -> None:
    q = FORMATS[name].quantize(sample("query"))
    assert on_points(q).holds
    q.__dict__["values"] = q.values * np.float32(1.0001)
    assert not on_points(q).holds


def test_nothing_is_minus_zero() -> None:
    assert units.fixed(-1.2) == "−1.2", "a hyphen is no minus sign"
    assert [units.fixed(v) for v in (-0.04, 0.04, -0.06, -1.25, 50.4)] == ["0.0", "0.0", "−0.1", "−1.2", "50.4"]
    assert [units.decibels(v) for v in (np.inf, -np.inf, -0.01)] == ["∞ dB", "−∞ dB", "0.0 dB"]


def test_a_change_of_nothing_says_nothing() -> None:
    changes = {"none": (0.0, 0.0), "within": (-0.2, 0.1), "beyond": (0.21, 0.1)}
    rows = [ModelRow(name, 4, 0, Damage(1, added, noise, 0, 0)) for name, (added, noise) in changes.items()]
    assert quant_model.silent(rows) == ["none", "within"]
