"""Every format by name, one line each, and the builders for any bit width, block size and rule."""

from __future__ import annotations

from dataclasses import replace
from math import log2

from viz_core.i18n import Problem
from viz_core.quantizers.bitsandbytes import DYNAMIC8_LUT, FP4, NF4, Centred, Peak
from viz_core.quantizers.direct import TINY
from viz_core.quantizers.fit import Absmax, MeanMagnitude, MinMax, NoClipping, ZeroPoint
from viz_core.quantizers.format import FP32, Format
from viz_core.quantizers.ggml import GGML, HALF
from viz_core.quantizers.grid import FixedPoint, Grid, Integers
from viz_core.quantizers.hqq import HalfQuadratic
from viz_core.quantizers.layout import BlockSize
from viz_core.quantizers.microscaling import OneLevel, ScaleRule, TwoLevel, power_scale
from viz_core.quantizers.minifloat import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, Minifloat
from viz_core.quantizers.powers import E8M0
from viz_core.quantizers.table import Table

POWER = Format(name="E8M0", grid=E8M0)


def named(name: str, block: BlockSize) -> str:
    """`name` with its block: `int4 g64`, `int8 row`."""
    return f"{name} g{block}" if isinstance(block, int) else f"{name} {block}"


def symmetric(bits: int, block: BlockSize = "row", narrow: bool = False, scale: Format = FP32) -> Format:
    """Integers −2^(bits−1)..2^(bits−1)−1 (`narrow`: without the lowest), max |x| onto the range (torchao SYMMETRIC)."""
    hi = (1 << (bits - 1)) - 1
    lo = -hi if narrow else -hi - 1
    fit = Absmax(top=(hi - lo) / 2, least=float(TINY))
    grid = Integers(lo, hi, bits=bits)
    return Format(name=named(f"int{bits}", block), grid=grid, fit=fit, block=block, scale=scale)


def asymmetric(bits: int, block: BlockSize = "row", signed: bool = False, scale: Format = FP32) -> Format:
    """Integers with a zero point of `bits` bits: the block's range, widened to hold 0, onto all codes (ASYMMETRIC)."""
    lo = -(1 << (bits - 1)) if signed else 0
    grid = Integers(lo, lo + (1 << bits) - 1)
    zero = Format(name=f"zero point, {bits} bits", grid=grid)
    fit = ZeroPoint(lo=grid.lo, hi=grid.hi)
    return Format(name=named(f"uint{bits}", block), grid=grid, fit=fit, block=block, scale=scale, zero=zero)


def no_clipping(bits: int, block: BlockSize = "row", scale: Format = FP32) -> Format:
    """Symmetric integers whose scale lets neither end of the block clip (SYMMETRIC_NO_CLIPPING_ERR)."""
    hi = (1 << (bits - 1)) - 1
    fit = NoClipping(lo=-hi - 1, hi=hi)
    name = named(f"int{bits} no clip", block)
    return Format(name=name, grid=Integers(-hi - 1, hi), fit=fit, block=block, scale=scale)


def kivi(bits: int, group: int = 32) -> Format:
    """KIVI's groups (arXiv 2402.02750): minimum and step in FP16, values divided by the step and rounded to even."""
    grid = Integers(0, (1 << bits) - 1)
    fit = MinMax(steps=grid.hi, inverse="division", seen="stored")
    return Format(name=named(f"KIVI{bits}", group), grid=grid, fit=fit, block=group, scale=HALF, offset=HALF)


def hqq(bits: int = 4, group: int = 64) -> Format:
    """HQQ: an FP16 zero point, found by half-quadratic splitting."""
    fit = HalfQuadratic(top=(1 << bits) - 1)
    return Format(
        name=named(f"HQQ{bits}", group), grid=Integers(0, fit.top), fit=fit, block=group, scale=HALF, zero=HALF
    )


def mx(name: str, grid: Minifloat | FixedPoint, rule: ScaleRule = "floor") -> Format:
    """An MX format: 32 elements of `grid`, one E8M0 scale by `rule`; elements beyond the range saturate."""
    if isinstance(grid, Minifloat):
        grid = replace(grid, overflow="saturate")
    return Format(name=name, grid=grid, fit=power_scale(grid, rule), block=32, scale=POWER)


def scaled(grid: Minifloat, block: BlockSize = "tensor") -> Format:
    """A minifloat with a float32 scale that puts max |x| on its largest number."""
    return Format(name=named(grid.name, block), grid=grid, fit=Absmax(top=grid.top), block=block, scale=FP32)


def bnb(grid: Table, block: int = 64, double: bool = False) -> Format:
    """A bitsandbytes 4-bit type: blocks across rows, peaks in float32 or, `double`, in 8 bits."""
    name = f"{grid.name} double" if double else grid.name
    return Format(name=name, grid=grid, fit=Peak(), block=block, scale=DOUBLE if double else FP32, flat=True)


DOUBLE = Format(name="dynamic 8-bit", grid=DYNAMIC8_LUT, fit=Centred(), block=256, scale=FP32, centre=FP32, flat=True)
"""The scales of double quantization: 8 bits each, a float32 for 256 of them, and their mean."""
NVFP4 = Format(
    name="NVFP4", grid=E2M1, fit=TwoLevel(), block=16, scale=Format(name="E4M3", grid=E4M3, block="tensor", scale=FP32)
)
NVFP4_ONE = Format(name="NVFP4 one level", grid=E2M1, fit=OneLevel(), block=16, scale=Format(name="E4M3", grid=E4M3))
BITNET = Format(
    name="BitNet", grid=Integers(-1, 1, bits=log2(3)), fit=MeanMagnitude(floor=1e-5), block="tensor", scale=FP32
)


def _cast(name: str, grid: Grid) -> Format:
    return Format(name=name, grid=grid)


def _integers() -> list[Format]:
    whole = [symmetric(8, "tensor"), symmetric(8, "row", narrow=True), asymmetric(8, "row", signed=True)]
    groups = [build(bits, 64, scale=HALF) for bits in (8, 4, 3, 2) for build in (symmetric, asymmetric)]
    return [
        *whole,
        *groups,
        symmetric(4, 32, scale=HALF),
        symmetric(4, 128, scale=HALF),
        asymmetric(4, 128, scale=HALF),
    ]


def _microscaling() -> list[Format]:
    eights = [mx("MXFP8 E4M3", E4M3), mx("MXFP8 E5M2", E5M2), mx("MXINT8", FixedPoint(-127, 127, bits=8))]
    return [*eights, mx("MXFP6 E2M3", E2M3), mx("MXFP6 E3M2", E3M2), mx("MXFP4", E2M1), NVFP4, NVFP4_ONE]


FAMILIES: dict[str, list[Format]] = {
    "float": [replace(HALF, name="FP16"), _cast("BF16", BF16), _cast("E4M3", E4M3), _cast("E5M2", E5M2),
              _cast("E2M3", E2M3), _cast("E3M2", E3M2), _cast("E2M1", E2M1), scaled(E4M3), scaled(E5M2)],
    "integer": _integers(),
    "gguf": [form for name, form in GGML.items() if name not in ("MXFP4", "NVFP4")],
    "gguf_fp4": [GGML["MXFP4"], GGML["NVFP4"]],
    "bitsandbytes": [bnb(NF4), bnb(NF4, double=True), bnb(FP4)],
    "mx": _microscaling(),
    "method": [hqq(), kivi(4), kivi(2), BITNET],
}  # fmt: skip
"""Formats by family; names are unique but for the two FP4 types that ggml has too."""
FORMATS: dict[str, Format] = {
    (f"{form.name} (GGUF)" if family == "gguf_fp4" else form.name): form
    for family, forms in FAMILIES.items()
    for form in forms
}
"""Every format by the name that pages show and links carry."""


def format_named(name: str) -> Format:
    """The format of that name; Problem for an unknown one."""
    if name not in FORMATS:
        raise Problem("quantizers_format", format=name, known=", ".join(FORMATS))
    return FORMATS[name]
