"""ggml's tensor types as formats, and their bytes (ggml 0.13.1, `ggml_quantize_chunk` without an importance matrix).

Bit-exact both ways: `pack` gives the bytes that ggml writes, `read` the tensor that ggml reads. Only `IQ4_NL_ref` where
|x| < 1e-15 differs: the reference copies uninitialised memory there.
"""

from __future__ import annotations

from math import log2, prod

import numpy as np

from viz_core.i18n import Problem
from viz_core.quantizers import ggml_pack
from viz_core.quantizers.fit import LastAbsmax, MinMax, SignedExtreme, Signs
from viz_core.quantizers.format import Fit, Format
from viz_core.quantizers.ggml_blocks import block_of, records
from viz_core.quantizers.ggml_fit import Signed, WithMinimum
from viz_core.quantizers.grid import Grid, Integers
from viz_core.quantizers.half import FP16
from viz_core.quantizers.iq4 import NONLINEAR, Nonlinear, NonlinearSuper
from viz_core.quantizers.layout import Layout
from viz_core.quantizers.microscaling import UE4M3, FirstMinimum
from viz_core.quantizers.minifloat import E2M1
from viz_core.quantizers.pieces import spans
from viz_core.quantizers.powers import E8M0
from viz_core.quantizers.quantized import Quantized
from viz_core.quantizers.table import Table

HALF = Format(name="FP16", grid=FP16)


def _simple(name: str, lo: int, hi: int, fit: Fit, minimum: bool = False) -> Format:
    ties, stray = ("away", 0) if name[0] != "Q" or name == "Q8_0" else ("up", lo)
    grid = Integers(lo, hi, ties, stray, bits=log2(3) if hi == 1 else 0)  # type: ignore[arg-type]
    block = block_of(name).values
    offset = HALF if minimum else None
    stored = {"TQ1_0": 1.625, "TQ2_0": 2.0}.get(name)
    return Format(name=name, grid=grid, fit=fit, block=block, scale=HALF, offset=offset, multiple=block,
                  storage_bits=stored)  # fmt: skip


def _super(name: str, grid: Grid, fit: Fit, block: int, sub: Integers, minimum: bool = False) -> Format:
    part = Format(name=f"{sub.bits}-bit", grid=sub, block=256 // block, scale=HALF)
    return Format(
        name=name, grid=grid, fit=fit, block=block, scale=part, offset=part if minimum else None, multiple=256
    )


def _table(name: str, grid: Grid, fit: Fit, scale: Format, block: int = 32) -> Format:
    return Format(name=name, grid=grid, fit=fit, block=block, scale=scale, multiple=block_of(name).values)


def _formats() -> list[Format]:
    sixteen, sixty_four = Integers(0, 15), Integers(0, 63)
    return [
        _table("Q1_0", Table("±1", (-1.0, 1.0)), Signs(), HALF, 128),
        _simple("TQ1_0", -1, 1, LastAbsmax(top=1)),
        _simple("TQ2_0", -1, 1, LastAbsmax(top=1)),
        _super("Q2_K", Integers(0, 3), WithMinimum(3, 15, -0.5, 15, absolute=True), 16, sixteen, minimum=True),
        _super("Q3_K", Integers(-4, 3), Signed(4, -32), 16, Integers(-32, 31)),
        _table("MXFP4", E2M1, FirstMinimum(), Format(name="E8M0", grid=E8M0)),
        _table("NVFP4", E2M1, FirstMinimum(power=False), Format(name="UE4M3", grid=UE4M3), 16),
        _super("IQ4_XS", NONLINEAR, NonlinearSuper(), 32, Integers(-32, 31)),
        _table("IQ4_NL", NONLINEAR, Nonlinear(), HALF),
        _simple("Q4_0", -8, 7, SignedExtreme(lowest=-8)),
        _simple("Q4_1", 0, 15, MinMax(steps=15), minimum=True),
        _super("Q4_K", sixteen, WithMinimum(), 32, sixty_four, minimum=True),
        _simple("Q5_0", -16, 15, SignedExtreme(lowest=-16)),
        _simple("Q5_1", 0, 31, MinMax(steps=31), minimum=True),
        _super("Q5_K", Integers(0, 31), WithMinimum(31, 63, -0.5, 15), 32, sixty_four, minimum=True),
        _super("Q6_K", Integers(-32, 31), Signed(), 16, Integers(-128, 127)),
        _simple("Q8_0", -128, 127, LastAbsmax(top=127)),
    ]


GGML: dict[str, Format] = {form.name: form for form in _formats()}
"""ggml's types by name, fewest bits first within a family."""
IQ4_NL_REF = _table("IQ4_NL", NONLINEAR, Nonlinear(tries=-1), HALF)
"""IQ4_NL by `quantize_row_iq4_nl_ref`, which skips the search."""


def _raw(grid: Grid, codes: np.ndarray) -> np.ndarray:
    """Codes as stored: unsigned, counted from the lowest; two's complement where a whole byte is signed."""
    codes = codes.view(np.uint8) if codes.dtype == np.int8 else codes
    if isinstance(grid, Integers) and grid.lo not in (0, -128):
        codes = codes - np.uint8(grid.lo & 255)  # bytes wrap around
    return codes


def pack(q: Quantized) -> np.ndarray:
    """The bytes ggml stores for `q`, uint8 (rows, bytes a row)."""
    block = block_of(q.format.name)
    codes, fields = q.codes.reshape(-1, block.values), {}
    for part, own, super_name in ((q.scale, "scales", "d"), (q.offset, "mins", "dmin")):
        if part is None:
            continue
        name = super_name if part.scale else {"scales": "d", "mins": "m"}[own]
        if part.scale is None:
            fields[name] = part.codes.reshape(len(codes), -1)
            continue
        fields[own] = _raw(part.format.grid, part.codes.reshape(-1, block.values // q.layout.block))
        fields[name] = part.scale.codes.reshape(-1, 1) ^ np.uint16(0x8000 if own == "mins" else 0)
    packed = np.empty(len(codes), block.layout)
    for piece in spans(*codes.shape):
        own_fields = {name: field[piece] for name, field in fields.items()}
        own_fields["codes"] = _raw(q.format.grid, codes[piece])
        ggml_pack.pack(q.format.name, own_fields, packed[piece])
    return packed.view(np.uint8).reshape(prod(q.layout.shape[:-1]), -1)


def _cooked(form: Format, raw: np.ndarray, layout: Layout) -> Quantized:
    grid = form.grid
    codes = raw.reshape(layout.count, layout.block)
    if isinstance(grid, Integers):
        codes = codes.view(np.int8) if grid.lo == -128 else (codes.astype(np.int16) + grid.lo).astype(grid.dtype)
    return Quantized(form, layout, codes)


def _part(form: Format | None, fields: ggml_pack.Fields, own: str, top: str, layout: Layout) -> Quantized | None:
    if form is None:
        return None
    if form.scale is None:
        return _cooked(form, fields[top if top != "dmin" else "m"], Layout.of(layout.grid, 1))
    inner = Layout.of(layout.grid, form.block)
    flip = np.uint16(0x8000 if own == "mins" else 0)
    scale = _cooked(form.scale, fields[top] ^ flip, Layout.of(inner.grid, 1))
    return Quantized(form, inner, _cooked(form, fields[own], inner).codes, scale)


def read(type_name: str, raw: np.ndarray, shape: tuple[int, ...]) -> Quantized:
    """The quantized tensor of `shape` that bytes `raw` hold, every level of scales apart.

    Raises:
        Problem: a type that is not in `GGML`, a torn block, or bytes that do not fill `shape`.
    """
    if type_name not in GGML:
        raise Problem("quantizers_type", type=type_name, known=", ".join(GGML))
    form, blocks = GGML[type_name], records(type_name, raw)
    width = block_of(type_name).values
    if blocks.size * width != prod(shape) or not form.fits(shape):
        raise Problem("quantizers_shape", type=type_name, values=blocks.size * width, shape=" × ".join(map(str, shape)))
    fields, layout = ggml_pack.unpack(type_name, blocks), Layout.of(shape, form.block)
    body = _cooked(form, fields["codes"], layout)
    scale = _part(form.scale, fields, "scales", "d", layout)
    offset = _part(form.offset, fields, "mins", "dmin", layout)
    return Quantized(form, layout, body.codes, scale, offset)
