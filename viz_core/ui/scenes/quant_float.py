"""Floating-point numbers of few bits are a grid too: sign, exponent, fraction, and points that thin out."""

from __future__ import annotations

import numpy as np

from viz_core.figures.bitgrid import bitgrid
from viz_core.figures.numbers import RAISED
from viz_core.figures.scales import Scale
from viz_core.figures.slides import Line, slides
from viz_core.quantizers.format import Format
from viz_core.quantizers.minifloat import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, FP16, Minifloat
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Number, Plate, Scene, View

GRIDS: dict[str, Minifloat] = {grid.name: grid for grid in (E2M1, E2M3, E3M2, E4M3, E5M2, BF16, FP16)}
KIND = Choice("float_format", tuple(GRIDS), "E4M3")
VALUE = Whole("hundredths", -800, 800, 230)
PARTS = ("sign", "exponent", "fraction")


def roles(grid: Minifloat) -> np.ndarray:
    """The part of each bit, lowest bit first."""
    return np.array([2] * grid.fraction + [1] * grid.exponent + [0])


def reading(grid: Minifloat, code: int) -> str:
    """How a code decodes: ± 2^exponent × significand."""
    size = grid.exponent + grid.fraction
    sign, field = "−" if code >> size else "+", (code >> grid.fraction) & ((1 << grid.exponent) - 1)
    fraction = code & ((1 << grid.fraction) - 1)
    whole, exponent = (0, 1 - grid.bias) if field == 0 else (1, field - grid.bias)
    return f"{sign}2{str(exponent).translate(RAISED)} × ({whole} + {fraction}/{1 << grid.fraction})"


def build(context: Context) -> View:
    """The dragged value in the chosen format."""
    grid, value = GRIDS[context.values["float_format"]], context.values["hundredths"] / 100
    q = Format(name=grid.name, grid=grid).quantize(np.array([value], np.float32))
    code, after = int(q.codes[0, 0]), float(q.values[0])
    bits = ((code >> np.arange(int(grid.bits))) & 1).astype(np.uint8)[::-1]
    part, names = roles(grid)[::-1], [context.t(f"quant.part_{name}") for name in PARTS]
    hovers = [context.t("quant.bit", part=names[p], bit=int(grid.bits) - 1 - i) for i, p in enumerate(part)]
    line = Line(grid.name, grid.levels, [after], reading(grid, code), (reading(grid, code),))
    near = np.sort(np.abs(grid.levels - np.float32(after)))
    return View(
        plates=(
            Plate(bitgrid(context.look, bits, part, names, hovers)),
            Plate(slides(context.look, [value], [line], Scale(context.t("quant.value"), range=(-8.5, 8.5)))),
        ),
        numbers=(
            Number("quant_stored", f"{after:g}".replace("-", "−")),
            Number("quant_gap", f"{near[1]:.3g}"),
            Number("quant_top", f"{grid.top:g}", {"name": grid.name}),
        ),
        facts={"name": grid.name, "value": f"{value:g}".replace("-", "−"), "after": f"{after:g}".replace("-", "−"),
               "reading": reading(grid, code), "exponent": grid.exponent, "fraction": grid.fraction, "bias": grid.bias,
               "top": f"{grid.top:g}"},
        table={"number": [float(v) for v in grid.levels]} if grid.bits <= 8 else None,
    )


SCENE = Scene("quantization", "float", build, params=(KIND, VALUE))
