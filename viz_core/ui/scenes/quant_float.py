"""Floating-point numbers of few bits are a grid too: sign, exponent, fraction, and points that thin out."""

from __future__ import annotations

import numpy as np

from viz_core.figures.bitgrid import bitgrid
from viz_core.figures.numbers import RAISED, spoken
from viz_core.figures.scales import Scale
from viz_core.figures.slides import Line, slides
from viz_core.quantizers.format import Format
from viz_core.quantizers.half import FP16
from viz_core.quantizers.minifloat import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, Minifloat
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Number, Plate, Scene, View

GRIDS: dict[str, Minifloat] = {grid.name: grid for grid in (E2M1, E2M3, E3M2, E4M3, E5M2, BF16, FP16)}
KIND = Choice("float_format", tuple(GRIDS), "E4M3")
EIGHTHS, LEAST = 8, -10  # of a power of two from one position to the next; the power next to 0
VALUE = Whole("float_place", -224, 224, 90)
FARTHEST = float(np.finfo(np.float32).max)
TEXT = "scene.quantization.float"
PARTS = ("sign", "exponent", "fraction")


def roles(grid: Minifloat) -> np.ndarray:
    """The part of each bit, lowest bit first."""
    return np.array([2] * grid.fraction + [1] * grid.exponent + [0])


def value_at(place: int) -> float:
    """The value of a position: 0, or ± 2^(position / 8 − 10) with three digits, from a thousandth to 262,000."""
    return float(np.sign(place)) * float(f"{2 ** (abs(place) / EIGHTHS + LEAST):.3g}") if place else 0.0


def window(value: float) -> float:
    """Where the number line ends: the second power of two above the value, so that the axis rests between powers."""
    return 1.06 * 2.0 ** (np.ceil(np.log2(abs(value))) + 1) if value else 1.0


def written(value: float) -> str:
    """A number as the page says it: whole ones in full with separators, powers of ten written out."""
    return spoken(value) if np.isfinite(value) else f"{value:g}".replace("-", "−").replace("inf", "∞")


def reading(grid: Minifloat, code: int) -> str:
    """How a code decodes: ± 2^exponent × significand; nothing for one that is not a number of the grid."""
    size = grid.exponent + grid.fraction
    if not np.isfinite(grid.by_code[code]):
        return ""
    sign, field = "−" if code >> size else "+", (code >> grid.fraction) & ((1 << grid.exponent) - 1)
    fraction = code & ((1 << grid.fraction) - 1)
    whole, exponent = (0, 1 - grid.bias) if field == 0 else (1, field - grid.bias)
    return f"{sign}2{str(exponent).translate(RAISED)} × ({whole} + {fraction}/{1 << grid.fraction})"


def decoded(context: Context, value: float, how: str) -> str:
    """The sentence that reads the stored code: its arithmetic, that it is zero, or that it is beyond all numbers."""
    if not how:
        return context.t(f"{TEXT}.reads_beyond", after=written(value))
    if value == 0:
        return context.t(f"{TEXT}.reads_zero")
    return context.t(f"{TEXT}.reads", after=written(value), reading=how)


def build(context: Context) -> View:
    """The dragged value in the chosen format."""
    grid, value = GRIDS[context.values["float_format"]], value_at(context.values["float_place"])
    form = Format(name=grid.name, grid=grid)
    q = form.quantize(np.array([value], np.float32))
    code, after = int(q.codes[0, 0]), float(q.values[0])
    bits = ((code >> np.arange(int(grid.bits))) & 1).astype(np.uint8)[::-1]
    part, names = roles(grid)[::-1], [context.t(f"quant.part_{name}") for name in PARTS]
    hovers = [context.t("quant.bit", part=names[p], bit=int(grid.bits) - 1 - i) for i, p in enumerate(part)]
    line = Line(grid.name, grid.levels, [after], reading(grid, code), (reading(grid, code),))
    near = np.sort(np.abs(grid.levels - np.float32(after)))
    beyond = form.quantize(np.array([min(2 * float(grid.top), FARTHEST)], np.float32)).values[0]
    end = window(value)
    return View(
        plates=(
            Plate(bitgrid(context.look, bits, part, names, hovers)),
            Plate(slides(context.look, [value], [line], Scale(context.t("quant.value"), range=(-end, end)))),
        ),
        numbers=(
            Number("quant_stored", written(after)),
            Number("quant_gap", written(float(near[1])) if np.isfinite(near[1]) else "–"),
            Number("quant_top", written(float(grid.top)), {"name": grid.name}),
        ),
        facts={"name": grid.name, "value": written(value), "after": written(after), "beyond": written(float(beyond)),
               "decoded": decoded(context, after, reading(grid, code)),
               "parts": context.t(f"{TEXT}.bits_{'one' if grid.fraction == 1 else 'many'}",
                                  exponent=grid.exponent, fraction=grid.fraction),
               "bias": grid.bias, "top": written(float(grid.top))},
        table={"number": [float(v) for v in grid.levels]} if grid.bits <= 8 else None,
    )


SCENE = Scene("quantization", "float", build, params=(KIND, VALUE))
