"""What holds for every format: whole tensors, nearest points, codes that come back, short blocks, counted bits."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.i18n import Problem
from viz_core.quantizers import ggml
from viz_core.quantizers.bitsandbytes import NF4, quantiles
from viz_core.quantizers.errors import decibels, errors, fates, outer_bounds
from viz_core.quantizers.fallback import storable
from viz_core.quantizers.format import Format
from viz_core.quantizers.grid import Integers, Ties
from viz_core.quantizers.layout import Layout
from viz_core.quantizers.minifloat import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, Minifloat
from viz_core.quantizers.mixes import bits_per_weight
from viz_core.quantizers.nibbles import pack_nibbles, unpack_nibbles
from viz_core.quantizers.pieces import CHUNK
from viz_core.quantizers.registry import FORMATS, asymmetric, format_named, mx, symmetric

FAST = settings(max_examples=25, deadline=None)
EXACT_BITS = {
    "Q4_0": 4.5, "Q4_K": 4.5, "Q5_K": 5.5, "Q6_K": 6.5625, "Q2_K": 2.625, "Q3_K": 3.4375, "Q8_0": 8.5, "IQ4_XS": 4.25,
    "IQ4_NL": 4.5, "TQ1_0": 1.6875, "TQ2_0": 2.0625, "Q1_0": 1.125, "NF4": 4.5, "FP4": 4.5, "MXFP4": 4.25,
    "MXFP6 E2M3": 6.25, "MXFP8 E4M3": 8.25, "MXINT8": 8.25, "NVFP4": 4.5, "BitNet": log2(3), "KIVI2 g32": 3.0,
    "int4 g64": 4.25, "int4 g32": 4.5, "int4 g128": 4.125, "uint4 g128": 4.15625, "uint4 g64": 4.3125,
}  # fmt: skip
LLAMA = {"F16": 16.0005, "Q8_0": 8.5008, "Q6_K": 6.5633, "Q5_K_M": 5.7036, "Q5_K_S": 5.5704, "Q4_K_M": 4.8944,
         "Q4_K_S": 4.6672}  # fmt: skip
FORGETFUL = {"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "HQQ4 g64", "NF4 double", "BitNet"}
FORGETFUL |= {name for name in FORMATS if name.startswith(("int", "NVFP4"))} - {"int8 row"}
"""Fits that search, or whose scale their own values do not ask for: 2^(b−1) − ½ steps on a range that ends at −1."""


def tensor(seed: int, kind: str, shape: tuple[int, int] = (2, 256)) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = {
        "normal": lambda: rng.standard_normal(shape) * 0.02,
        "heavy": lambda: rng.standard_t(2, shape),
        "outlier": lambda: np.where(rng.random(shape) < 0.01, 50, 1) * rng.standard_normal(shape),
        "integers": lambda: rng.integers(-9, 9, shape),
        "sparse": lambda: rng.standard_normal(shape) * (rng.random(shape) < 0.1),
    }[kind]()
    return x.astype(np.float32)


KINDS = st.sampled_from(["normal", "heavy", "outlier", "integers", "sparse"])


@pytest.mark.parametrize("name", FORMATS)
@given(seed=st.integers(0, 10_000), kind=KINDS)
@settings(max_examples=6, deadline=None)
def test_values_are_points_and_near(name: str, seed: int, kind: str) -> None:
    x, form = tensor(seed, kind), FORMATS[name]
    q = form.quantize(x)
    blocks, given_blocks = q.layout.split(q.values), q.layout.split(x)
    for i in (0, len(blocks) - 1):
        points = q.points(i)
        assert np.isin(blocks[i], points).all()
        nearest = np.abs(points[None] - given_blocks[i][:, None]).min(axis=1)
        gap = np.abs(np.diff(points)).max(initial=0)
        other = name in ("Q1_0", "NF4 double")  # signs only; scales that round by more than codes can tell
        assert other or (np.abs(blocks[i] - given_blocks[i]) <= nearest + 0.13 * gap + 1e-7).all()


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"Q1_0", "NF4 double"}))
@given(seed=st.integers(0, 10_000), kind=KINDS)
@settings(max_examples=4, deadline=None)
def test_half_a_step_unless_clipped(name: str, seed: int, kind: str) -> None:
    """Where codes are found with the exact scale, the FP16 rounding of the scale comes on top: 2⁻¹¹ of the value."""
    x = tensor(seed, kind)
    q = FORMATS[name].quantize(x)
    levels = q.format.grid.levels
    half = np.abs(np.diff(levels)).max(initial=0) / 2 + np.abs(levels).max() * 2**-11
    allowed = q.layout.join(np.repeat(np.abs(q.steps)[:, None] * half, q.layout.block, axis=1))
    moves = q.layout.join(np.broadcast_to(q.steps[:, None] != 0, q.codes.shape))  # with a step of 0 all are one point
    inside = ~fates(x, q).clipped & moves
    assert (np.abs(q.values - x)[inside] <= 1.01 * allowed[inside] + 1e-7).all()


@pytest.mark.parametrize("name", sorted(set(FORMATS) - FORGETFUL))
@given(seed=st.integers(0, 10_000), kind=KINDS)
@settings(max_examples=4, deadline=None)
def test_a_formats_own_values_stay(name: str, seed: int, kind: str) -> None:
    """Only where the fit finds its scale again: values that reach the block's largest level."""
    form = FORMATS[name]
    once = form.quantize(tensor(seed, kind))
    levels = np.abs(form.grid.levels)
    reached = np.abs(once.layout.split(once.values)).max(axis=1) >= np.abs(once.steps) * levels.max()
    twice = form.round(once.values)
    kept = np.isclose(twice, once.values, rtol=2e-3, atol=1e-30).reshape(-1)
    whole = np.repeat(reached, once.layout.block)[: kept.size]
    assert kept[whole].all()


@pytest.mark.parametrize(("name", "bits"), EXACT_BITS.items())
def test_bits_follow_from_the_nesting(name: str, bits: float) -> None:
    assert FORMATS[name].bits_per_weight == bits


def test_double_quantization_saves_what_qlora_says() -> None:
    double = FORMATS["NF4 double"].bits_per_weight
    assert double == 4 + (8 + 32 / 256) / 64
    assert round(FORMATS["NF4"].bits_per_weight - double, 3) == 0.373


@pytest.mark.parametrize(("mix", "bits"), LLAMA.items())
def test_llama_mixes_match_llama_cpp(mix: str, bits: float) -> None:
    assert round(bits_per_weight(mix), 4) == bits


@pytest.mark.parametrize("name", ggml.GGML)
def test_nesting_equals_the_bytes_on_disk(name: str) -> None:
    q = ggml.GGML[name].quantize(tensor(1, "normal", (3, 512)))
    assert 8 * ggml.pack(q).nbytes == q.bits == ggml.GGML[name].bits((3, 512))


@pytest.mark.parametrize("name", ggml.GGML)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=5, deadline=None)
def test_bytes_come_back(name: str, seed: int) -> None:
    q = ggml.GGML[name].quantize(tensor(seed, "heavy"))
    packed = ggml.pack(q)
    again = ggml.read(name, packed, (2, 256))
    assert np.array_equal(again.values, q.values, equal_nan=True)
    assert np.array_equal(ggml.pack(again), packed)


@given(width=st.integers(1, 90), rows=st.integers(1, 3), block=st.sampled_from([1, 7, 32, "row", "tensor"]))
@FAST
def test_short_last_blocks(width: int, rows: int, block: int | str) -> None:
    x = tensor(3, "normal", (rows, width))
    q = symmetric(4, block).quantize(x)  # type: ignore[arg-type]
    assert q.values.shape == x.shape
    assert q.layout.lengths().sum() == x.size
    assert q.bits == 4 * x.size + 32 * q.layout.count
    apart = [symmetric(4, "row").round(part) for row in x for part in _parts(row, block)]
    if block != "tensor":
        assert np.array_equal(np.concatenate(apart), q.values.reshape(-1))


def _parts(row: np.ndarray, block: int | str) -> list[np.ndarray]:
    size = len(row) if isinstance(block, str) else block
    return [row[i : i + size] for i in range(0, len(row), size)]


@given(count=st.integers(1, 40), block=st.integers(1, 9), flat=st.booleans())
@FAST
def test_split_and_join_are_inverse(count: int, block: int, flat: bool) -> None:
    x = np.arange(3 * count, dtype=np.float32).reshape(3, count)
    layout = Layout.of(x.shape, block, flat)
    assert np.array_equal(layout.join(layout.split(x)), x)


def test_zero_is_exactly_zero() -> None:
    for name, form in FORMATS.items():
        values = form.round(np.zeros((1, 256), np.float32))
        assert not values.any(), name


def test_normal_float_levels_are_normal_quantiles() -> None:
    assert np.abs(np.array(quantiles()) - NF4.by_code).max() < 1.1e-7
    assert len(set(NF4.by_code.tolist())) == 16


@pytest.mark.parametrize(("grid", "top"), [(E4M3, 448), (E5M2, 57344), (E2M1, 6), (E2M3, 7.5), (E3M2, 28)])
def test_largest_numbers(grid: Minifloat, top: float) -> None:
    assert grid.top == grid.levels[-1] == top


@pytest.mark.parametrize("ties", ["even", "away", "zero"])
def test_tie_rules(ties: str) -> None:
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 3.49], np.float32)
    expected = {"even": [0, 2, 2, 0, -2, 3], "away": [1, 2, 3, -1, -2, 3], "zero": [0, 1, 2, 0, -1, 3]}[ties]
    codes = Format(name="i", grid=Integers(-8, 7, ties)).quantize(halves).codes.reshape(-1)  # type: ignore[arg-type]
    assert codes.tolist() == expected
    eighth = np.array([1 + 1 / 16, 1 + 3 / 16], np.float32)  # half-way between E4M3 numbers
    grid = replace(E4M3, ties=ties)  # type: ignore[arg-type]
    found = Format(name="f", grid=grid).round(eighth).tolist()
    assert found == {"even": [1.0, 1.25], "away": [1.125, 1.25], "zero": [1.0, 1.125]}[ties]


@pytest.mark.parametrize("grid", [E4M3, E5M2, E2M3, E3M2, E2M1, BF16])
def test_the_last_bit_of_a_number_decides_beside_a_midpoint(grid: Minifloat) -> None:
    levels = grid.levels[grid.levels >= 0].astype(np.float64)
    lower, upper, even = levels[:-1], levels[1:], np.arange(len(levels) - 1) % 2 == 0
    middle = ((lower + upper) / 2).astype(np.float32)
    for beside, expected in ((-np.inf, lower), (None, np.where(even, lower, upper)), (np.inf, upper)):
        y = middle if beside is None else np.nextafter(middle, np.float32(beside))
        for sign in (1, -1):
            found = Format(name="m", grid=grid).round(sign * y)
            assert (found == sign * expected).all()


def test_overflow_rules() -> None:
    large = np.array([500.0, -1e9, np.inf], np.float32)
    assert Format(name="s", grid=E4M3).round(large).tolist() == [448, -448, 448]
    assert np.isnan(Format(name="n", grid=replace(E4M3, overflow="nan")).round(large)).all()
    assert Format(name="i", grid=E5M2).round(large * 1000).tolist() == [np.inf, -np.inf, np.inf]


def test_bfloat_keeps_the_exponent() -> None:
    x = np.array([1e38, 1e-38, -3.0], np.float32)
    assert np.allclose(Format(name="b", grid=BF16).round(x), x, rtol=2**-8)


@pytest.mark.parametrize("rule", ["floor", "ceil", "even", "rceil"])
def test_scale_rules_trade_clipping_for_resolution(rule: str) -> None:
    x = np.full((1, 32), 7.0, np.float32)  # beyond 6 at the floor's scale
    value = mx("MXFP4", E2M1, rule).round(x)[0, 0]  # type: ignore[arg-type]
    assert value == (6.0 if rule == "floor" else 8.0)


def test_exact_and_stored_scale_give_different_codes() -> None:
    x = tensor(5, "normal", (64, 256))
    exact = symmetric(4, 32, scale=ggml.HALF)
    stored = replace(exact, fit=replace(exact.fit, seen="stored"))  # type: ignore[type-var]
    a, b = exact.quantize(x), stored.quantize(x)
    assert (a.codes != b.codes).any()
    assert errors(x, b.values).rmse <= errors(x, a.values).rmse * 1.001


def test_nibble_orders() -> None:
    codes = np.arange(8, dtype=np.uint8)
    assert pack_nibbles(codes, high_first=True).tolist() == [0x01, 0x23, 0x45, 0x67]
    assert pack_nibbles(codes, high_first=False).tolist() == [0x10, 0x32, 0x54, 0x76]
    for order in (True, False):
        assert np.array_equal(unpack_nibbles(pack_nibbles(codes, order), order), codes)


def test_errors_by_hand() -> None:
    found = errors(np.array([3.0, -4.0]), np.array([3.0, -3.0]))
    assert found.rmse == pytest.approx(0.5**0.5)
    assert found.maximum == 1
    assert found.sqnr == pytest.approx(10 * np.log10(25))
    assert errors(np.ones(3), np.ones(3)).sqnr == np.inf
    assert errors(np.full(2, np.nan), np.ones(2)).rmse == 0
    assert decibels(0, 1) == -np.inf


def test_clipped_and_zeroed() -> None:
    form = FORMATS["Q4_0"]
    x = np.zeros((1, 32), np.float32)
    x[0, :4] = [-8, 7.9, 0.2, 7.2]  # the step is 1 and 7 the highest level
    seen = fates(x, form.quantize(x))
    assert seen.clipped[0, :4].tolist() == [False, True, False, False]
    assert seen.zeroed[0, :4].tolist() == [False, False, True, False]
    low, high = outer_bounds(form.quantize(x))
    assert (low[0], high[0]) == (-8.5, 7.5)


def test_fallback_as_llama_cpp() -> None:
    names = {
        (name, width): storable(FORMATS[name], width).name
        for name in ("Q4_K", "Q6_K", "Q2_K")
        for width in (512, 96, 50)
    }
    assert names[("Q4_K", 512)] == "Q4_K"
    assert [names[("Q4_K", 96)], names[("Q6_K", 96)], names[("Q2_K", 96)]] == ["Q5_0", "Q8_0", "IQ4_NL"]
    assert {names[(name, 50)] for name in ("Q4_K", "Q6_K", "Q2_K")} == {"FP16"}


def test_asymmetric_beats_symmetric_on_one_sided_data() -> None:
    x = np.abs(tensor(2, "normal", (16, 256)))
    assert errors(x, asymmetric(4, 32).round(x)).sqnr > errors(x, symmetric(4, 32).round(x)).sqnr + 5


@pytest.mark.parametrize(("array", "key"), [
    (np.zeros((0, 32), np.float32), "quantizers_empty"),
    (np.zeros((1, 32), np.complex64), "quantizers_dtype"),
    (np.zeros((1, 32), object), "quantizers_dtype"),
    (np.zeros((1, 33), np.float32), "quantizers_row"),
])  # fmt: skip
def test_bad_input_is_named(array: np.ndarray, key: str) -> None:
    with pytest.raises(Problem) as problem:
        FORMATS["Q4_0"].quantize(array)
    assert problem.value.key == key
    assert problem.value.text("zh") != problem.value.text("en")


def test_unknown_format() -> None:
    with pytest.raises(Problem, match="no format called"):
        format_named("Q7_0")


@pytest.mark.parametrize("block", [0, -3, 1 << 20])
def test_impossible_block_sizes(block: int) -> None:
    with pytest.raises(Problem, match="is not possible"):
        FORMATS["int4 g64"].with_block(block)


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_values_do_not_stop_it(name: str) -> None:
    x = tensor(1, "normal")
    x[0, :3] = [np.nan, np.inf, -np.inf]
    for case in (x, np.full((1, 256), 3.4e38, np.float32), np.full((1, 256), 1e-45), np.arange(256)[None]):
        assert FORMATS[name].quantize(case).values.shape == case.shape


@pytest.mark.parametrize("ties", ["even", "away", "up", "zero"])
@pytest.mark.parametrize("zero", [None, np.array([[0], [3], [7]])])
def test_knowing_how_far_numbers_reach_changes_no_code(ties: Ties, zero: np.ndarray | None) -> None:
    halves = np.arange(-8, 8.5, 0.5, dtype=np.float32)  # every tie and every level, and their neighbours
    y = np.concatenate([halves, np.nextafter(halves, np.float32(-9)), np.nextafter(halves, np.float32(9))])
    y = np.broadcast_to(y, (3, y.size))
    grid, near, far = Integers(-8, 7, ties), np.empty(y.shape, np.int8), np.empty(y.shape, np.int8)
    grid.encode(y.copy(), near, 8, zero)
    grid.encode(y.copy(), far, zero=zero)
    assert np.array_equal(near, far)
    assert len(np.unique(near)) > 8


def test_quantizing_leaves_numpy_as_it_was() -> None:
    before = np.getbufsize(), np.geterr()
    asymmetric(4, 1024).quantize(tensor(0, "normal", (2, 2048))).values  # noqa: B018
    assert (np.getbufsize(), np.geterr()) == before


@pytest.mark.parametrize("high_first", [True, False])
def test_nibbles_beyond_one_piece(high_first: bool) -> None:
    codes = np.random.default_rng(0).integers(0, 16, (3, 2 * CHUNK), dtype=np.uint8)
    packed = pack_nibbles(codes, high_first)
    first, second = codes[:, ::2], codes[:, 1::2]
    assert np.array_equal(packed, first << 4 | second if high_first else second << 4 | first)
    assert np.array_equal(unpack_nibbles(packed, high_first), codes)
