"""Bit for bit against what ggml, bitsandbytes, torchao, ml_dtypes and torch did with the same inputs.

A folder holds inputs.npz (x, names, starts) and any of ggml.npz, bitsandbytes.npz, torchao_affine.npz, torchao_mx.npz,
floats.npz (with its own x), float_decode_tables.npz and aten.npz; what it lacks is skipped.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from viz_core.quantizers import ggml
from viz_core.quantizers.bitsandbytes import DYNAMIC8_LUT, FP4, NF4, Peak8, dynamic_levels
from viz_core.quantizers.fit import Given
from viz_core.quantizers.format import FP32, Format
from viz_core.quantizers.ggml_decode import DECODERS, decode
from viz_core.quantizers.grid import Integers
from viz_core.quantizers.half import FP16
from viz_core.quantizers.llm_int8 import split
from viz_core.quantizers.minifloat import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, Minifloat
from viz_core.quantizers.nibbles import pack_nibbles
from viz_core.quantizers.powers import E8M0
from viz_core.quantizers.quantized import Quantized
from viz_core.quantizers.registry import NVFP4, NVFP4_ONE, asymmetric, bnb, mx, no_clipping, symmetric

Arrays = dict[str, np.ndarray]
Read = Callable[[str], Arrays]
Count = Callable[[int], None]


@pytest.fixture(scope="session")
def folder(cases: Path) -> Path:
    """The folder of quantizer vectors: `DIR/quantizers`, or DIR itself where the files lie in it."""
    return cases / "quantizers" if (cases / "quantizers").is_dir() else cases


@pytest.fixture(scope="session")
def reference(folder: Path) -> Read:
    """Read a reference file; skip the test where the folder lacks it."""

    def read(name: str) -> Arrays:
        if not (folder / name).exists():
            pytest.skip(f"no {name} in {folder}")
        with np.load(folder / name, allow_pickle=False) as file:
            return dict(file)

    return read


def differing(measured: np.ndarray, expected: np.ndarray) -> int:
    """How many elements differ in their bits; NaN equals NaN whatever its payload."""
    measured, expected = np.asarray(measured), np.asarray(expected)
    assert measured.shape == expected.shape
    if expected.dtype != np.float32:
        return int((measured != expected).sum())
    bits = measured.astype(np.float32).view(np.uint32) != expected.view(np.uint32)
    return int((bits & ~(np.isnan(measured) & np.isnan(expected))).sum())


def check(ours: Arrays, theirs: Arrays, prefix: str) -> int:
    """Compare every part that the reference has; how many there were."""
    parts = [name for name in ours if prefix + name in theirs]
    for name in parts:
        expected = theirs[prefix + name]
        assert differing(np.reshape(ours[name], expected.shape), expected) == 0, prefix + name
    return len(parts)


GGML = {**ggml.GGML, "IQ4_NL_ref": ggml.IQ4_NL_REF}


@pytest.mark.parametrize("name", GGML)
def test_ggml_writes_and_reads(name: str, reference: Read, compared: Count) -> None:
    theirs, x = reference("ggml.npz"), reference("inputs.npz")["x"]
    if f"{name}__bytes" not in theirs:
        pytest.skip(f"no vectors for {name}")
    quantized = GGML[name].quantize(x)
    defined = np.ones(len(x), bool)
    if name == "IQ4_NL_ref":  # where |x| < 1e-15 the reference copies uninitialised memory
        defined = (np.abs(x.reshape(len(x), -1, 32)).max(axis=-1) >= 1e-15).all(axis=-1)
    packed, values = theirs[f"{name}__bytes"], theirs[f"{name}__deq"]
    assert differing(ggml.pack(quantized)[defined], packed[defined]) == 0
    assert differing(quantized.values[defined], values[defined]) == 0
    assert differing(ggml.read(name.removesuffix("_ref"), packed, x.shape).values, values) == 0
    compared(3)


@pytest.mark.parametrize("name", [name for name in DECODERS if name.startswith("Q")])
def test_fast_decoding_of_ggml_blocks(name: str, reference: Read, compared: Count) -> None:
    theirs = reference("ggml.npz")
    if f"{name}__bytes" not in theirs:
        pytest.skip(f"no vectors for {name}")
    expected = theirs[f"{name}__deq"]
    assert differing(decode(name, theirs[f"{name}__bytes"], expected.shape), expected) == 0
    compared(1)


def affine(config: str) -> Format | None:
    """torchao's configuration by its name, such as int8_sym_narrow_tensor or uint4_asym_g32."""
    found = re.fullmatch(r"(u?)int(\d)_(sym|asym|symnoclip)(_narrow)?_(tensor|channel|token|g(\d+))", config)
    if not found:
        return None
    unsigned, bits, kind, narrow, block, group = found.groups()
    size = int(group) if group else ("tensor" if block == "tensor" else "row")
    if kind == "symnoclip":
        return no_clipping(int(bits), size)
    if kind == "asym":
        return asymmetric(int(bits), size, signed=not unsigned)
    return symmetric(int(bits), size, narrow=bool(narrow) or block == "channel")


def by_case(inputs: Arrays) -> Iterator[tuple[str, np.ndarray]]:
    for i, name in enumerate(inputs["names"]):
        yield str(name), inputs["x"][inputs["starts"][i] : inputs["starts"][i + 1]]


def test_torchao_affine(reference: Read, compared: Count) -> None:
    theirs, inputs = reference("torchao_affine.npz"), reference("inputs.npz")
    seen = set()
    for case, x in by_case(inputs):
        for key in theirs:
            config = key.removesuffix(f"_{case}__q")
            form = affine(config) if config != key else None
            if form is None:
                continue
            q = form.quantize(x)
            zero = np.zeros(len(q.codes), np.int32) if q.zero is None else q.zero
            ours = {"q": q.codes, "scale": q.steps, "zp": zero, "deq": q.values}
            compared(check(ours, theirs, f"{config}_{case}__"))
            seen.add(key)
    assert seen == {key for key in theirs if key.endswith("__q")}, "a configuration is not understood"


MX = {"mxfp8_e4m3": E4M3, "mxfp8_e5m2": E5M2, "mxfp6_e2m3": E2M3, "mxfp6_e3m2": E3M2, "mxfp4": E2M1}


@pytest.mark.parametrize("rule", ["floor", "rceil", "even", "ceil"])
@pytest.mark.parametrize("name", MX)
def test_torchao_mx(name: str, rule: str, reference: Read, compared: Count) -> None:
    theirs, x = reference("torchao_mx.npz"), reference("inputs.npz")["x"]
    prefix = f"{name}_{rule.upper()}__"
    if prefix + "q" not in theirs:
        pytest.skip(f"no vectors for {prefix}")
    q = mx(name, MX[name], rule).quantize(x)  # type: ignore[arg-type]
    codes = pack_nibbles(q.codes, high_first=False) if name == "mxfp4" else q.codes
    compared(check({"scale": q.scale.codes, "q": codes, "deq": q.values}, theirs, prefix))


@pytest.mark.parametrize(("prefix", "form"), [("nvfp4_", NVFP4), ("nvfp4_1lvl_", NVFP4_ONE)])
def test_torchao_nvfp4(prefix: str, form: Format, reference: Read, compared: Count) -> None:
    theirs = reference("torchao_mx.npz")
    for case, x in by_case(reference("inputs.npz")):
        q = form.quantize(x)
        ours = {"scale": q.scale.codes, "q": pack_nibbles(q.codes, high_first=False), "deq": q.values}
        if q.scale.scale is not None:
            ours["pts"] = q.scale.scale.values
        compared(check(ours, theirs, f"{prefix}{case}__"))


def test_bitsandbytes_tables(reference: Read, compared: Count) -> None:
    theirs = reference("bitsandbytes.npz")
    tables = {"nf4_code": NF4.by_code, "fp4_code": FP4.by_code}
    tables["dynamic8_code"] = np.array(dynamic_levels(), np.float32)
    tables["dynamic8_unsigned_code"] = np.array(dynamic_levels(signed=False), np.float32)
    compared(check(tables, theirs, ""))


def nibbles_of(q: Quantized) -> np.ndarray:
    return pack_nibbles(q.codes, high_first=True)


@pytest.mark.parametrize("grid", [NF4, FP4])
def test_bitsandbytes_four_bits(grid: Minifloat, reference: Read, compared: Count) -> None:
    theirs, x = reference("bitsandbytes.npz"), reference("inputs.npz")["x"]
    for key in theirs:
        found = re.fullmatch(rf"{grid.name.lower()}_b(\d+)__packed", key)
        if found:
            q = bnb(grid, int(found[1])).quantize(x)
            ours = {"packed": nibbles_of(q), "absmax": q.steps, "deq": q.values}
            compared(check(ours, theirs, key.removesuffix("packed")))


def test_bitsandbytes_double_quantization(reference: Read, compared: Count) -> None:
    theirs = reference("bitsandbytes.npz")
    if "dq_w" not in theirs:
        pytest.skip("no vectors for double quantization")
    q = bnb(NF4, double=True).quantize(theirs["dq_w"])
    ours = {"packed": nibbles_of(q), "absmax_q": q.scale.codes, "offset": q.scale.centre, "absmax2": q.scale.steps}
    compared(check({**ours, "deq": q.values}, theirs, "dq_"))


def test_bitsandbytes_eight_bits(reference: Read, compared: Count) -> None:
    theirs, x = reference("bitsandbytes.npz"), reference("inputs.npz")["x"]
    for key in theirs:
        found = re.fullmatch(r"dyn8_b(\d+)__q", key)
        if found:
            form = Format(name="dynamic", grid=DYNAMIC8_LUT, fit=Peak8(), block=int(found[1]), flat=True, scale=FP32)
            q = form.quantize(x)
            codes = q.layout.join(q.codes)
            compared(check({"q": codes, "absmax": q.steps, "deq": q.values}, theirs, key.removesuffix("q")))


@pytest.mark.parametrize("threshold", [0, 6])
def test_llm_int8(threshold: int, reference: Read, compared: Count) -> None:
    theirs = reference("bitsandbytes.npz")
    if "llmint8_in" not in theirs:
        pytest.skip("no vectors for LLM.int8()")
    q = split(theirs["llmint8_in"], threshold)
    ours = {"q": q.codes, "scale": q.peaks, "outlier_cols": q.outliers}
    compared(check(ours, theirs, f"llmint8_t{threshold}_"))


def floats(overflow: str) -> dict[str, Minifloat]:
    def fp8(exponent: int, fraction: int, special: str) -> Minifloat:
        return Minifloat("", exponent, fraction, special, overflow=overflow)  # type: ignore[arg-type]

    eight = {"float8_e4m3fn": fp8(4, 3, "fn"), "float8_e3m4": fp8(3, 4, "ieee"), "float8_e4m3": fp8(4, 3, "ieee")}
    eight |= {"float8_e4m3fnuz": fp8(4, 3, "fnuz"), "float8_e5m2fnuz": fp8(5, 2, "fnuz"), "float8_e5m2": E5M2}
    small = {"float4_e2m1fn": E2M1, "float6_e2m3fn": E2M3, "float6_e3m2fn": E3M2}
    return {**eight, **small, "bfloat16": BF16, "float16": FP16}


@pytest.mark.parametrize(("prefix", "overflow"), [("", "nan"), ("torch_", "saturate")])
def test_float_casts(prefix: str, overflow: str, reference: Read, compared: Count) -> None:
    theirs = reference("floats.npz")
    for name, grid in floats(overflow).items():
        q = Format(name=name, grid=grid).quantize(theirs["x"])
        codes, values = q.codes.reshape(-1), q.values
        code, value = f"{prefix}{name}__code", f"{prefix}{name}__val"
        if code in theirs:
            assert differing(values, theirs[value]) == 0, name
            expected, known = theirs[code].view(codes.dtype), ~np.isnan(values)  # NaN has many codes
            assert differing(codes[known], expected[known]) == 0, name
            compared(2)


@pytest.mark.parametrize("prefix", ["", "torch_"])
def test_power_of_two_casts(prefix: str, reference: Read, compared: Count) -> None:
    theirs = reference("floats.npz")
    if f"{prefix}float8_e8m0fnu__code" not in theirs:
        pytest.skip("no vectors for E8M0")
    positive = theirs["x"] > 0  # ml_dtypes answers NaN for zero and for negative numbers, torch drops the sign
    known = np.ones_like(positive) if prefix else positive
    q = Format(name="E8M0", grid=E8M0).quantize(theirs["x"][known])
    assert differing(q.codes.reshape(-1), theirs[f"{prefix}float8_e8m0fnu__code"][known]) == 0
    assert differing(q.values, theirs[f"{prefix}float8_e8m0fnu__val"][known]) == 0
    compared(2)


def test_float_tables(reference: Read, compared: Count) -> None:
    theirs = reference("float_decode_tables.npz")
    tables = {name: grid.by_code for name, grid in floats("nan").items()}
    compared(check(tables, theirs, ""))


def test_torch_int8(reference: Read, compared: Count) -> None:
    theirs = reference("aten.npz")
    for case, x in by_case(reference("inputs.npz")):
        if f"aten_qint8_{case}__scale" in theirs:
            fit = Given(scale=float(theirs[f"aten_qint8_{case}__scale"]))
            q = Format(name="qint8", grid=Integers(-128, 127), fit=fit, block="tensor", scale=FP32).quantize(x)
            compared(check({"q": q.codes}, theirs, f"aten_qint8_{case}__"))
            compared(check({"deq": q.values}, theirs, f"aten_fq_{case}__"))
