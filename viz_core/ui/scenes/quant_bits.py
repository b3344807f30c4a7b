"""The bytes of one block: which bits are scale, minimum, sub-scale and codes."""

from __future__ import annotations

import numpy as np

from viz_core.figures.bitgrid import bitgrid
from viz_core.proofs.quantizers import bytes_come_back
from viz_core.quantizers.bitmap import ROLES, BitMap, bitmap, bits_of
from viz_core.quantizers.ggml import GGML
from viz_core.quantizers.ggml_blocks import block_of
from viz_core.ui import quantizing
from viz_core.ui.params import Choice
from viz_core.ui.quantizing import BLOCK
from viz_core.ui.quantizing_data import DATA, chosen, notice
from viz_core.ui.quantizing_lost import losses
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

LAYOUT = Choice("layout", (*(n for n in GGML if n not in ("MXFP4", "NVFP4")), "NF4", "MXFP4", "uint4 g64"), "Q4_K")
TEXT = "scene.quantization.bits"


def hovers(context: Context, found: BitMap, bits: np.ndarray) -> list[str]:
    """What each bit means."""
    out = []
    for i, bit in enumerate(bits):
        role = context.t(f"quant.role_{ROLES[found.role[i]]}")
        key = f"{TEXT}.shared" if found.shared[i] > 1 else f"{TEXT}.hover"
        out.append(context.t(key, byte=i // 8, bit=i % 8, value=int(bit), role=role, index=int(found.index[i]),
                             weight=int(found.weight[i]), shared=int(found.shared[i])))
    return out


def build(context: Context) -> View:
    """One record of the chosen type on the chosen weights."""
    pair = quantizing.pair(chosen(context), context.values["layout"])
    row = quantizing.row(chosen(context), pair.name)
    found, form = bitmap(pair.after.format), pair.after.format
    own = GGML.get(form.name) == form
    values = block_of(form.name).values if own else pair.after.layout.block
    per = values // pair.after.layout.block
    block = context.values["block"] * per % len(pair.after.codes)
    bits = bits_of(pair.after, block)
    names = [context.t(f"quant.role_{role}") for role in ROLES]
    counts = {role: found.count(role) for role in ROLES if found.count(role)}
    return View(
        plates=(Plate(bitgrid(context.look, bits, found.role, names, hovers(context, found, bits))),),
        notice=notice(context, name=pair.name, also=losses(context, {pair.name: row})),
        numbers=(
            Number("quant_record", f"{len(bits) / 8:g} B", {"n": values}),
            Number("quant_bits", f"{form.bits_per_weight:.4g}", {"name": form.name}),
            Number("quant_overhead", f"{form.bits_per_weight - form.code_bits:.4g}"),
        ),
        proofs=(bytes_come_back(pair.after),) if own else (),
        question=Question(("4.0", "4.5", "5.0"), 1) if form.name == "Q4_K" else None,
        facts={"name": form.name, "n": values, "bytes": f"{len(bits) / 8:g}", "codes": counts["code"],
               "rest": len(bits) - counts["code"]},
        table={"part": [context.t(f"quant.role_{role}") for role in counts], "bits": list(counts.values()),
               "bits a weight": [count / values for count in counts.values()]},
    )


SCENE = Scene("quantization", "bits", build, params=(*DATA, LAYOUT, BLOCK), bench=True)
