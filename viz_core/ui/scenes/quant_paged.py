"""Paged and quantized: scales belong to blocks of the pool, and a block closes when it is full."""

from __future__ import annotations

import numpy as np

from viz_core import units
from viz_core.model.paged_quantized import Sizes, Token, paged_values, write
from viz_core.model.quantized_cache import Side
from viz_core.proofs.proof import Proof, at_most
from viz_core.trace import State, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.ui import cached, quantizing_kv
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Number, Scene, View

TEXT = "scene.quantization.paged"
BLOCK, POOL, PROMPTS = 16, 9, (20, 9)
NEW = Whole("paged_new", 4, 40, 24)
BITS = Choice("paged_bits", ("2", "4", "8"), "2")


def trace(tokens: list[Token], sizes: Sizes) -> Trace:
    """One step a token: blocks fill, close, and get their scales; bytes of one layer so far."""
    builder = TraceBuilder(Text(f"{TEXT}.title"), settle=State.HELD)
    names = [str(i) for i in range(POOL)]
    blocks = builder.lane(Text("quant.pool"), POOL, labels=names, full=BLOCK)
    scales = builder.lane(Text("quant.block_scales"), POOL, labels=names)
    for r in range(len(PROMPTS)):
        builder.hue(r + 1, "AB"[r], Text("quant.request", {"name": "AB"[r]}))
    for series in ("quant.bytes_codes", "quant.bytes_scales", "quant.bytes_full"):
        builder.series(series, unit="bytes", share="bytes")
    held: dict[int, bool] = {}
    for token in tokens:
        held[token.block] = token.closed
        builder.set("hue", blocks[token.block], token.request + 1)
        builder.set("fill", blocks[token.block], token.filled)
        builder.set("state", blocks[token.block], State.COMPUTED)
        if token.closed:
            builder.set("hue", scales[token.block], token.request + 1)
            builder.set("state", scales[token.block], State.COMPUTED)
        closed = sum(held.values())
        builder.value("quant.bytes_codes", closed * sizes.codes + (len(held) - closed) * sizes.open)
        builder.value("quant.bytes_scales", closed * sizes.scales)
        builder.value("quant.bytes_full", len(held) * sizes.open)
        said = "closes" if token.closed else "fills"
        builder.step(f"scene.quantization.paged.{said}", name="AB"[token.request], block=token.block,
                     filled=token.filled, size=BLOCK)
    return builder.build()


def paged_equals_contiguous(keys: np.ndarray, side: Side) -> Proof:
    """Block by block in pool order gives the values of the contiguous cache; measured: the largest difference."""
    count = -(-keys.shape[1] // BLOCK)
    table = list(range(count, 0, -1))  # any order will do: here the reverse
    apart = paged_values(keys, table, BLOCK, side) - side.stored(keys, BLOCK)
    return at_most("paged_quantized", float(np.abs(apart).max()), 0)


def build(context: Context) -> View:
    """Two requests in one pool, at the loaded model's layer sizes."""
    bench, bits = context.bench, int(context.values["paged_bits"])
    k, v = Side(bits, "channel", BLOCK), Side(bits, "token", 32)
    layer = cached.model(bench.model).llama.config.layers[0]
    sizes = Sizes.of(BLOCK, layer.kv_heads, layer.d_head, k, v)
    tokens = write(PROMPTS, context.values["paged_new"], BLOCK, POOL)
    film = trace(tokens, sizes)
    closed = sizes.codes + sizes.scales
    per = 8 * closed / (2 * BLOCK * layer.kv_heads * layer.d_head)
    return View(
        trace=film,
        start=film.steps - 1,
        numbers=(
            Number("quant_block_open", units.size(sizes.open), {"n": BLOCK}),
            Number("quant_block_closed", f"{units.size(sizes.codes)} + {units.size(sizes.scales)}"),
            Number("quant_kv_bits", f"{per:.3g}"),
        ),
        proofs=(paged_equals_contiguous(quantizing_kv.kv_arrays(bench.model, bench.prompt, 0)[0], k),),
        facts={"bits": bits, "size": BLOCK, "channels": v.within(layer.d_head).group,
               "open": units.size(sizes.open), "closed": units.size(closed),
               "ratio": f"{sizes.open / closed:.1f}", "per": f"{per:.3g}"},
        table={"token": list(range(1, len(tokens) + 1)), "request": ["AB"[t.request] for t in tokens],
               "block": [t.block for t in tokens], "filled": [t.filled for t in tokens]},
        code=(paged_values,),
    )


SCENE = Scene("quantization", "paged", build, params=(NEW, BITS), bench=True)
