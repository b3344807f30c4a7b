"""One block of weights: the same values in several formats, each snapping to the points its block can store."""

from __future__ import annotations

import numpy as np

from viz_core.figures.scales import Scale
from viz_core.figures.slides import Line, slides
from viz_core.figures.theme import HUES
from viz_core.proofs.quantizers import on_points
from viz_core.quantizers.errors import errors
from viz_core.quantizers.registry import FAMILIES
from viz_core.quantizers.snap import Snapped, snapped
from viz_core.ui import quantizing
from viz_core.ui.params import Choice
from viz_core.ui.quantizing import BLOCK, SOURCE, Pair
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

FIRST = ("int8 row", "Q4_0", "NF4")
SHOWN = 12  # values of the block
PER = 32  # values from one position of the picker to the next
SETS: dict[str, tuple[str, ...]] = {
    "first": FIRST,
    **{family: tuple(f.name for f in forms) for family, forms in FAMILIES.items() if family != "gguf_fp4"},
}
FAMILY = Choice("family", tuple(SETS), "first")


def place(pair: Pair, at: int) -> tuple[int, int]:
    """The block, and the place in it, of the tensor's value number `at`."""
    layout = pair.after.layout
    row, column = divmod(at, layout.width)
    return row * layout.per_row + column // layout.block, column % layout.block


def window(pair: Pair, at: int) -> tuple[Snapped, slice]:
    """The block that holds value `at`, and the shown values within it."""
    block, start = place(pair, at)
    return snapped(pair.before, pair.after, block), slice(start, start + SHOWN)


def line(context: Context, pair: Pair, at: int, k: int) -> Line:
    """One format's number line."""
    block, shown = window(pair, at)
    count = len(block.after[shown])
    remark = f"{pair.after.bits_per_weight:.3g} bit · {errors(pair.before, pair.after.values).sqnr:.1f} dB"
    hovers = tuple(context.t("scene.quantization.block.hover", code=block.codes[shown][i],
                             formula=block.formula(shown.start + i),
                             error=f"{block.error[shown][i]:.3g}".replace("-", "−")) for i in range(count))
    return Line(pair.name, block.points, block.after[shown], remark, hovers, HUES[1 + k % 5])


def build(context: Context) -> View:
    """The chosen formats on the same values of the chosen tensor."""
    source, at = context.values["source"], context.values["block"] * PER
    pairs = [quantizing.pair(source, context.bench.model, name) for name in SETS[context.values["family"]]]
    before = pairs[0].before.reshape(-1)[at : at + SHOWN]
    figure = slides(context.look, before, [line(context, p, at, k) for k, p in enumerate(pairs)],
                    Scale(context.t("quant.value")))
    first = quantizing.pair(source, context.bench.model, "Q4_0")
    block, _ = window(first, at)
    extreme = float(block.before[np.abs(block.before).argmax()])
    three = [quantizing.pair(source, context.bench.model, name) for name in FIRST]
    return View(
        plates=(Plate(figure),),
        numbers=tuple(Number("quant_bits", f"{p.after.bits_per_weight:.4g}", {"name": p.name}) for p in three),
        proofs=(on_points(first.after), quantizing.ggml_proof()),
        question=Question(("4.0", "4.25", "4.5"), 2),
        facts={"extreme": f"{extreme:.4g}".replace("-", "−"), "step": f"{abs(block.scale):.4g}",
               "int8": f"{three[0].after.bits_per_weight:.4g}", "n": pairs[0].before.size},
        table={"format": [p.name for p in pairs],
               "bits a weight": [round(p.after.bits_per_weight, 4) for p in pairs],
               "SQNR dB": [round(errors(p.before, p.after.values).sqnr, 2) for p in pairs]},
    )


SCENE = Scene("quantization", "block", build, params=(SOURCE, FAMILY, BLOCK), bench=True)
