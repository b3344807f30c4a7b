"""Methods around the formats: GPTQ, AWQ, SmoothQuant, rotation, LLM.int8(), HQQ, KIVI, and reading arrays."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.i18n import Problem
from viz_core.quantizers.along import along, per_channel, per_token
from viz_core.quantizers.bitmap import ROLES, bitmap
from viz_core.quantizers.errors import errors
from viz_core.quantizers.gptq import gptq, hessian, nearest
from viz_core.quantizers.llm_int8 import split
from viz_core.quantizers.registry import FORMATS, asymmetric, hqq, kivi, symmetric
from viz_core.quantizers.rescale import awq, hadamard, random_signs, rotate, rotate_back, smooth_factors
from viz_core.quantizers.tensor import Strays, prepare, read_npy


@pytest.fixture(scope="module")
def layer() -> tuple[np.ndarray, np.ndarray]:
    """Correlated inputs (tokens, 128) and a weight (128, 64)."""
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((256, 24)) @ rng.standard_normal((24, 128)) + 0.1 * rng.standard_normal((256, 128))
    return inputs.astype(np.float32), (rng.standard_normal((128, 64)) * 0.05).astype(np.float32)


@pytest.mark.parametrize("group", [None, 32])
def test_gptq_moves_weights_further_and_outputs_less(layer: tuple, group: int | None) -> None:
    inputs, weight = layer
    ours, plain = gptq(weight, inputs, 4, group), nearest(weight, 4, group)
    assert errors(weight, ours).rmse > 1.2 * errors(weight, plain).rmse
    assert errors(inputs @ weight, inputs @ ours).rmse < 0.6 * errors(inputs @ weight, inputs @ plain).rmse


def test_gptq_of_independent_inputs_is_rounding() -> None:
    """A diagonal Hessian couples nothing, so nothing is pushed on."""
    weight = np.random.default_rng(1).standard_normal((16, 8)).astype(np.float32)
    assert np.allclose(gptq(weight, np.eye(16, dtype=np.float32) * 4, 4), nearest(weight, 4))


def test_gptq_equals_the_slow_definition(layer: tuple) -> None:
    """Optimal brain surgery, one dimension at a time, each with a fresh inverse of the remaining Hessian."""
    inputs, weight = layer[0][:, :12], layer[1][:12]
    h, w, out = hessian(inputs), weight.T.astype(np.float64).copy(), []
    top = 15
    low, high = np.minimum(w.min(1), 0), np.maximum(w.max(1), 0)
    scale = (high - low) / top
    zero = np.rint(-low / scale)
    for i in range(12):
        inverse = np.linalg.inv(h[i:, i:])
        rounded = scale * (np.clip(np.rint(w[:, i] / scale) + zero, 0, top) - zero)
        w[:, i:] -= np.outer((w[:, i] - rounded) / inverse[0, 0], inverse[0])
        out.append(rounded)
    assert np.allclose(gptq(weight, inputs, 4), np.array(out), atol=1e-6)


def test_gptq_refuses_what_is_no_layer(layer: tuple) -> None:
    with pytest.raises(Problem, match="do not form a layer"):
        gptq(layer[1], layer[0].T)


def test_smoothing_keeps_the_product_and_tames_the_outlier(layer: tuple) -> None:
    inputs, weight = layer[0].copy(), layer[1]
    inputs[:, 7] *= 60
    s = smooth_factors(inputs, weight)
    assert np.allclose((inputs / s) @ (weight * s[:, None]), inputs @ weight, atol=1e-3)
    form = symmetric(8, "row")
    smoothed = form.round(inputs / s) @ (weight * s[:, None])
    assert errors(inputs @ weight, smoothed).rmse < errors(inputs @ weight, form.round(inputs) @ weight).rmse
    expected = np.abs(inputs[:, 7]).max() ** 0.5 / np.abs(weight[7]).max() ** 0.5
    assert s[7] == pytest.approx(expected, rel=1e-5)


def test_awq_beats_rounding_to_nearest(layer: tuple) -> None:
    inputs, weight = layer[0].copy(), layer[1]
    inputs[:, 5] *= 40
    form = asymmetric(4, 32)
    chosen = awq(weight, inputs, form)
    plain = form.round(weight.T).T
    assert chosen.loss < np.mean((inputs @ plain - inputs @ weight) ** 2)
    assert chosen.alpha > 0
    assert chosen.factors.argmax() == 5


@given(seed=st.integers(0, 1000), log=st.integers(0, 8))
@settings(max_examples=20, deadline=None)
def test_rotation_is_orthogonal(seed: int, log: int) -> None:
    x = np.random.default_rng(seed).standard_normal((3, 1 << log)).astype(np.float32)
    signs = random_signs(1 << log, seed)
    assert np.allclose(rotate_back(rotate(x, signs), signs), x, atol=1e-5)
    assert np.allclose(np.linalg.norm(rotate(x, signs), axis=1), np.linalg.norm(x, axis=1), rtol=1e-5)


def test_hadamard_of_a_spike_is_flat() -> None:
    x = np.zeros(16, np.float32)
    x[3] = 1
    assert np.array_equal(np.abs(hadamard(x)), np.full(16, 0.25, np.float32))
    with pytest.raises(Problem, match="power of two"):
        hadamard(np.zeros((1, 12)))


def test_outlier_columns_are_kept_apart() -> None:
    x = np.random.default_rng(0).standard_normal((8, 64)).astype(np.float32)
    x[2, 9] = 40
    whole, apart = split(x, 0), split(x, 6.0)
    assert apart.outliers.tolist() == [9]
    assert np.array_equal(apart.values[:, 9], x[:, 9].astype(np.float16))
    assert errors(x, apart.values).rmse < 0.5 * errors(x, whole.values).rmse


def test_hqq_lowers_the_error() -> None:
    w = np.random.default_rng(4).standard_t(4, (64, 256)).astype(np.float32) * 0.02
    plain, moved = asymmetric(4, 64).round(w), hqq(4, 64).round(w)
    assert np.abs(w - moved).mean() < np.abs(w - plain).mean()


def test_channel_outliers_make_k_per_channel() -> None:
    rng = np.random.default_rng(0)
    k = rng.standard_normal((2, 128, 64)) * np.where(np.arange(64) % 16 == 3, 10, 1)
    form = kivi(2)
    assert errors(k, per_channel(form, k)).rmse < 0.8 * errors(k, per_token(form, k)).rmse
    q, values = along(-2, form, k)
    assert q.layout.shape == (2, 64, 128)
    assert values.shape == k.shape


@pytest.mark.parametrize("name", FORMATS)
def test_every_bit_has_one_owner(name: str) -> None:
    form, found = FORMATS[name], bitmap(FORMATS[name])
    assert not (found.role == ROLES.index("unused")).any()
    codes = {int(i) for i in found.index[found.role == 1]}
    if form.storage_bits is None:
        own = np.stack([found.role, found.index, found.weight], axis=1)
        assert len(np.unique(own, axis=0)) == len(own)
    assert max(codes) + 1 == len(codes) or name == "TQ1_0"


def test_q4_k_spends_its_bits_as_published() -> None:
    found = bitmap(FORMATS["Q4_K"])
    assert {role: found.count(role) for role in ROLES if found.count(role)} == {
        "code": 1024, "sub_scale": 48, "sub_minimum": 48, "scale": 16, "minimum": 16}  # fmt: skip


def test_what_is_not_finite_is_counted() -> None:
    found = prepare(np.array([1.0, np.nan, np.inf, -np.inf, 2.0]))
    assert found.strays == Strays(nan=1, infinite=2)
    assert found.values.tolist() == [1, 0, 0, 0, 2]


def test_finite_values_beyond_float32_are_told_from_infinite_ones() -> None:
    found = prepare(np.array([1e299, -1e40, np.inf, np.nan, 3e38]))
    assert found.strays == Strays(nan=1, infinite=1, beyond=2) and found.values.tolist()[:4] == [0] * 4
    with pytest.raises(Problem) as caught:
        prepare(np.array([1e299, -1e299, np.nan]))
    assert caught.value.params == {"nan": 1, "infinite": 0, "beyond": 2}
    assert "beyond its range: 2" in str(caught.value)


@pytest.mark.parametrize(
    "array", [np.zeros(0), np.array(["a"]), np.full(4, np.nan), np.zeros(2, complex), np.array([{}])]
)
def test_what_cannot_be_prepared(array: np.ndarray) -> None:
    with pytest.raises(Problem):
        prepare(array)


def header(shape: str) -> bytes:
    """A .npy file of float32 whose header claims this shape."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode("latin1")
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(16)


@pytest.mark.parametrize("shape", ["(-1, -4)", "(-1, 4)", "(-2, 0)"])
def test_a_negative_size_is_named(shape: str) -> None:
    with pytest.raises(Problem) as caught:
        read_npy(header(shape))
    assert caught.value.key == "quantizers_npy_negative" and shape in str(caught.value)


def test_a_claim_that_cannot_be_written_out_is_one_sentence() -> None:
    with pytest.raises(Problem) as caught:
        read_npy(header(f"({10**3000}, {10**3000})"))
    assert str(caught.value)


def npy(array: np.ndarray, **kwargs: bool) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **kwargs)
    return stream.getvalue()


@pytest.mark.parametrize(
    "array", [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3, dtype=np.float16)), np.array(3)]
)
def test_npy_files_are_read(array: np.ndarray) -> None:
    assert np.array_equal(read_npy(npy(array)), array)


def test_npy_files_that_lie() -> None:
    good = npy(np.zeros(4, np.float32))
    with pytest.raises(Problem, match="claims"):
        read_npy(good.replace(b"(4,)", b"(9,)"))
    with pytest.raises(Problem, match="objects"):
        read_npy(npy(np.array([{}], object), allow_pickle=True))
    for broken in (b"", b"not numpy", good[:20], good.replace(b"'descr'", b"'des\\xff'")):
        with pytest.raises(Problem):
            read_npy(broken)
