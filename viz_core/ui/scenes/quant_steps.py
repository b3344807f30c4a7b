"""The snap, one value at a time: divide by the step, round, store the code, multiply back."""

from __future__ import annotations

import numpy as np

from viz_core import units
from viz_core.figures.numbers import spoken
from viz_core.proofs.quantizers import half_a_step
from viz_core.quantizers.errors import errors
from viz_core.quantizers.snap import Snapped, snapped
from viz_core.trace import State, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.ui import quantizing
from viz_core.ui.quantizing import BLOCK, FORMAT
from viz_core.ui.quantizing_data import DATA, chosen, notice, ranked, stored_as
from viz_core.ui.quantizing_lost import losses
from viz_core.ui.scene import Context, Number, Scene, View

SHOWN = 12
LISTED = 256  # rows of the table: a block can be the whole tensor
LANES = ("before", "scaled", "codes", "after")
TEXT = "scene.quantization.steps"


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


def trace(block: Snapped) -> Trace:
    """One step a value; the error so far is the root mean square over the values done."""
    n = min(SHOWN, len(block.before))
    builder = TraceBuilder(Text(f"{TEXT}.title"), settle=State.HELD)
    lanes = {name: builder.lane(Text(f"quant.{name}"), n, keys=range(1, n + 1)) for name in LANES}
    builder.series("quant.rms", places=None)
    units = scaled(block)
    for i in range(n):
        _write(builder, lanes["before"][i], block.before[i], block, State.HELD)
    for i in range(n):
        builder.write(lanes["scaled"][i], short(units[i]))
        builder.write(lanes["codes"][i], str(block.codes[i]).replace("-", "−"))
        _write(builder, lanes["after"][i], block.after[i], block, State.COMPUTED)
        builder.set("state", (lanes["scaled"][i], lanes["codes"][i]), State.COMPUTED)
        builder.cursor([lanes[name][i] for name in LANES])
        error = errors(block.before[: i + 1], block.after[: i + 1]).rmse
        builder.value("quant.rms", error if np.isfinite(error) else None)
        if np.isfinite(block.after[i]):
            builder.step(f"{TEXT}.caption", x=short(block.before[i]), y=short(units[i]), code=int(block.codes[i]),
                         formula=block.formula(i), error=short(block.error[i]))
        else:
            builder.step(f"{TEXT}.caption_lost", x=short(block.before[i]), code=int(block.codes[i]))
    return builder.build()


def _write(builder: TraceBuilder, cell: int, value: float, block: Snapped, state: State) -> None:
    """A number with its magnitude as shade, against the largest of the block."""
    most = float(np.abs(block.before[:SHOWN]).max()) or 1.0
    share = abs(float(np.nan_to_num(value, nan=0.0, posinf=most, neginf=most))) / most
    builder.write(cell, short(value))
    builder.set("state", cell, state)
    builder.set("shade", cell, 1 + min(254, round(254 * min(share, 1.0))))


def build(context: Context) -> View:
    """The chosen block in the chosen format."""
    pair = quantizing.pair(chosen(context), context.values["format"])
    row = quantizing.row(chosen(context), pair.name)
    number = context.values["block"] % len(pair.after.codes)
    block = snapped(pair.before, pair.after, number)
    ends = [spoken(float(p)) for p in block.points[[0, -1]]] if block.points.size else ["–", "–"]
    found, measured = errors(block.before, block.after), ranked(pair.name, stored_as(chosen(context)))
    zeroed = int(((block.before != 0) & (block.after == 0)).sum())
    return View(
        trace=trace(block),
        start=min(SHOWN, len(block.before)) - 1,
        notice=notice(context, name=pair.name, also=losses(context, {pair.name: row})),
        numbers=(
            Number("quant_step", short(block.step) if block.points.size else "–"),
            Number("quant_clipped", f"{int(block.clipped.sum())} / {zeroed}", {"n": len(block.before)}),
            *([Number("quant_sqnr_block", units.decibels(found.sqnr))] if measured else []),
        ),
        proofs=(half_a_step(pair.before, pair.after),),
        facts={"name": pair.name, "n": len(block.before), "scale": short(block.scale), "points": block.points.size,
               "offset": short(block.offset), "low": ends[0], "high": ends[1]},
        table={"value": block.before[:LISTED].tolist(), "code": block.codes[:LISTED].tolist(),
               "decoded": block.after[:LISTED].tolist(),
               "how": [block.formula(i) for i in range(min(LISTED, len(block.before)))]},
    )


SCENE = Scene("quantization", "steps", build, params=(*DATA, FORMAT, BLOCK), bench=True)
