"""The snap, one value at a time: into the grid's own units, to a point of it, the code, and back."""

from __future__ import annotations

from typing import Literal

import numpy as np

from viz_core import units
from viz_core.figures.numbers import spoken
from viz_core.proofs.quantizers import half_a_step
from viz_core.quantizers.bitsandbytes import Peak
from viz_core.quantizers.errors import errors
from viz_core.quantizers.format import Format
from viz_core.quantizers.grid import FixedPoint, Integers
from viz_core.quantizers.snap import Snapped, alike, snapped
from viz_core.trace import State, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.ui import quantizing
from viz_core.ui.quantizing import BLOCK, FORMAT, Pair
from viz_core.ui.quantizing_data import DATA, chosen, notice, ranked, stored_as
from viz_core.ui.quantizing_lost import losses
from viz_core.ui.scene import Context, Number, Scene, View

SHOWN, SHOWN_SMALL = 12, 4  # values of the block; on a phone one line each, so that all lanes are in sight
TOGETHER = 32  # values of one position of the picker where no scale parts them
LISTED = 256  # rows of the table: a block can be the whole tensor
LANES = ("before", "scaled", "codes", "after")
TEXT = "scene.quantization.steps"
Way = Literal["step", "minimum", "zero", "point", "peak", "cast"]


def way(form: Format) -> Way:
    """How a value finds its code: what it is divided by, what is taken away or added, what it is rounded to."""
    if form.scale is None:
        return "cast"
    if form.offset is not None:
        return "minimum"
    if form.zero is not None:
        return "zero"
    if isinstance(form.fit, Peak):
        return "peak"
    whole = isinstance(form.grid, Integers) and not isinstance(form.grid, FixedPoint)
    return "step" if whole else "point"


def block_of(pair: Pair, number: int) -> Snapped:
    """Block number `number` (of those there are); without scales some of the tensor, their block."""
    if pair.after.scale is None:
        parts = -(-pair.before.size // TOGETHER)
        return alike(pair.before, pair.after, number % parts * TOGETHER, TOGETHER)
    return snapped(pair.before, pair.after, number % len(pair.after.codes))


def short(value: float) -> str:
    """A number that fits into a cell."""
    number = float(value) or 0.0  # −0 reads as 0
    if not np.isfinite(number):
        return {np.inf: "∞", -np.inf: "−∞"}.get(number, "–")
    return f"{number:.{3 if abs(number) >= 0.01 else 2}g}".replace("-", "−").replace("e−0", "e−")


def scaled(block: Snapped) -> np.ndarray:
    """Values in units of the step, where the levels of the grid lie: (x − offset) / scale + zero."""
    if block.scale == 0:
        return np.zeros_like(block.before)
    return (block.before - np.float32(block.offset)) / np.float32(block.scale) + np.float32(block.zero)


def trace(block: Snapped, how: Way = "step", shown: int = SHOWN) -> Trace:
    """One step a value; the error so far is the root mean square over the values done."""
    n = min(shown, len(block.before))
    builder = TraceBuilder(Text(f"{TEXT}.title"), settle=State.HELD)
    names = [name for name in LANES if name != "scaled" or how != "cast"]
    lanes = {name: builder.lane(Text(f"quant.{name}"), n, keys=range(1, n + 1)) for name in names}
    builder.series("quant.rms", places=None)
    units, most = scaled(block), float(np.abs(block.before[:n]).max()) or 1.0
    for i in range(n):
        _write(builder, lanes["before"][i], block.before[i], most, State.HELD)
    for i in range(n):
        if "scaled" in lanes:
            builder.write(lanes["scaled"][i], short(units[i]))
        builder.write(lanes["codes"][i], str(block.codes[i]).replace("-", "−"))
        _write(builder, lanes["after"][i], block.after[i], most, State.COMPUTED)
        builder.set("state", [lanes[name][i] for name in names if name in ("scaled", "codes")], State.COMPUTED)
        builder.cursor([lanes[name][i] for name in names])
        error = errors(block.before[: i + 1], block.after[: i + 1]).rmse
        builder.value("quant.rms", error if np.isfinite(error) else None)
        if np.isfinite(block.after[i]):
            builder.step(f"{TEXT}.caption_{how}", x=short(block.before[i]), y=short(units[i]), code=int(block.codes[i]),
                         after=short(block.after[i]), formula=block.formula(i), error=short(block.error[i]))
        else:
            builder.step(f"{TEXT}.caption_lost", x=short(block.before[i]), code=int(block.codes[i]))
    return builder.build()


def _write(builder: TraceBuilder, cell: int, value: float, most: float, state: State) -> None:
    """A number with its magnitude as shade, against the largest of those shown."""
    share = abs(float(np.nan_to_num(value, nan=0.0, posinf=most, neginf=most))) / most
    builder.write(cell, short(value))
    builder.set("state", cell, state)
    builder.set("shade", cell, 1 + min(254, round(254 * min(share, 1.0))))


def build(context: Context) -> View:
    """The chosen block in the chosen format."""
    pair = quantizing.pair(chosen(context), context.values["format"])
    row = quantizing.row(chosen(context), pair.name)
    block, how = block_of(pair, context.values["block"]), way(pair.after.format)
    shown = SHOWN_SMALL if context.look.phone else SHOWN
    ends = [spoken(float(p)) for p in block.points[[0, -1]]] if block.points.size else ["–", "–"]
    found, measured = errors(block.before, block.after), ranked(pair.name, stored_as(chosen(context)))
    zeroed = int(((block.before != 0) & (block.after == 0)).sum())
    return View(
        trace=trace(block, how, shown),
        start=min(shown, len(block.before)) - 1,
        notice=notice(context, name=pair.name, also=losses(context, {pair.name: row})),
        numbers=(
            Number("quant_step", short(block.step) if block.points.size else "–"),
            Number("quant_clipped", f"{int(block.clipped.sum())} / {zeroed}", {"n": len(block.before)}),
            *([Number("quant_sqnr_block", units.decibels(found.sqnr))] if measured else []),
        ),
        proofs=(half_a_step(pair.before, pair.after),),
        facts={"rule": context.t(f"{TEXT}.rule_{how}"), "scaled": context.t(f"{TEXT}.scaled_{how}"),
               "about": context.t(f"{TEXT}.about_cast" if how == "cast" else f"{TEXT}.about", name=pair.name,
                                  n=len(block.before), points=units.count(block.points.size), low=ends[0], high=ends[1],
                                  scale=short(block.scale), offset=short(block.offset))},
        table={"value": block.before[:LISTED].tolist(), "code": block.codes[:LISTED].tolist(),
               "decoded": block.after[:LISTED].tolist(),
               "how": [block.formula(i) for i in range(min(LISTED, len(block.before)))]},
    )


SCENE = Scene("quantization", "steps", build, params=(*DATA, FORMAT, BLOCK), bench=True)
