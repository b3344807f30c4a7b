"""One token's way through all four techniques, on the reader's own prompt."""

from __future__ import annotations

import numpy as np

from viz_core import units
from viz_core.figures.curves import Curve, curves
from viz_core.figures.scales import Scale
from viz_core.model.journey import FORMAT, Journey
from viz_core.trace import State, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.ui import cached
from viz_core.ui.params import Live, Whole
from viz_core.ui.scene import Bench, Context, Number, Plate, Scene, View

K, TOKEN = 2, 1  # hues: keys and values; the token that is followed


def token_param(bench: Bench) -> Whole:
    """The tokens of the prompt; by default one near its start, so that others can look back at it."""
    last = len(cached.tokens(bench.model, bench.prompt)) - 1
    return Whole("token", 0, last, min(2, last))


def trace(way: Journey, labels: tuple[str, ...]) -> Trace:
    """Its keys and values layer by layer, its slot, each later token that reads it, its form in 4 bits."""
    layers, kv_heads = way.k.shape[:2]
    builder = TraceBuilder(Text("scene.home.way.title"))
    tokens = builder.lane(Text("trace.tokens"), len(labels), labels=labels)
    names = [f"L{i}" for i in range(layers)]
    kept = builder.lane(Text("trace.kv_of_token"), layers * kv_heads, columns=layers, column_names=names,
                        row_names=[f"KV {h}" for h in range(kv_heads)])
    blocks = [f"P{b}" for b in range(way.blocks)]
    pool = builder.lane(Text("trace.pool"), way.blocks, full=way.block_size, labels=blocks)
    readers = builder.lane(Text("trace.readers"), len(labels), labels=labels)
    builder.hue(TOKEN, "", Text("trace.followed"))
    builder.hue(K, "", Text("trace.kv"))
    builder.series("trace.token_bytes", unit="bytes")
    builder.set("state", pool, State.FREE)
    _computed(builder, way, tokens, kept, labels)
    _placed(builder, way, kept, pool)
    _read(builder, way, readers, labels)
    packed = way.small.codes.size // 2 + 2 * len(way.small.codes)
    builder.set("state", kept, State.REUSED)
    builder.value("trace.token_bytes", 2 * packed)
    builder.step("scene.home.way.packed", format=FORMAT, value=_signed(way.k[0, 0, 0]),
                 near=_signed(way.small.values[0, 0]), code=int(way.small.codes[0, 0]))
    return builder.build()


def _computed(builder: TraceBuilder, way: Journey, tokens: range, kept: range, labels: tuple[str, ...]) -> None:
    """The token is read; then one step a layer."""
    layers, kv_heads = way.k.shape[:2]
    builder.set("state", tokens, State.HELD)
    builder.set("hue", tokens[way.position], TOKEN)
    builder.cursor(tokens[way.position])
    builder.value("trace.token_bytes", 0)
    builder.step("scene.home.way.begin", token=labels[way.position], position=way.position)
    for layer in range(layers):
        cells = [kept[head * layers + layer] for head in range(kv_heads)]
        builder.set("hue", cells, K)
        builder.set("state", cells, State.COMPUTED)
        builder.set("state", [kept[head * layers + before] for head in range(kv_heads) for before in range(layer)],
                    State.HELD)
        builder.value("trace.token_bytes", (way.k[: layer + 1].nbytes + way.v[: layer + 1].nbytes))
        builder.step("scene.home.way.layer", layer=layer, heads=kv_heads, d=way.k.shape[2])


def _placed(builder: TraceBuilder, way: Journey, kept: range, pool: range) -> None:
    """The block table says where it lies."""
    for logical, block in enumerate(way.table):
        builder.set("state", pool[block], State.HELD)
        builder.set("hue", pool[block], K)
        builder.set("fill", pool[block], min(way.block_size, len(way.readers) - logical * way.block_size))
    builder.set("hue", pool[way.physical], TOKEN)
    builder.set("state", kept, State.HELD)
    builder.cursor(pool[way.physical])
    builder.step("scene.home.way.slot", logical=way.logical, physical=way.physical, slot=way.slot,
                 size=way.block_size)


def _read(builder: TraceBuilder, way: Journey, readers: range, labels: tuple[str, ...]) -> None:
    """Every later token reads it from the cache; the darker, the more one head looks at it."""
    for query in range(way.position, len(labels)):
        weight = float(way.readers[query])
        builder.set("shade", readers[query], 1 + round(254 * weight))
        builder.set("state", readers[query], State.HELD)
        builder.cursor(readers[query])
        layer, head = way.heads[query]
        builder.step("scene.home.way.read", token=labels[query], layer=layer, head=head, weight=f"{weight:.2f}")


def _signed(value: float) -> str:
    return f"{value:.4f}".replace("-", "−")


def build(context: Context) -> View:
    """The chosen token of the workbench's prompt."""
    bench, position = context.bench, context.values["token"]
    ids = cached.tokens(bench.model, bench.prompt)
    way, labels = cached.way(bench.model, bench.prompt, position), cached.labels(bench.model, ids)
    later = np.arange(position, len(ids))
    line = Curve(labels[position], later, way.readers[position:], hue="A", points=True)
    error = float(np.sqrt(np.mean((way.small.values[:, : way.k.shape[2]] - way.k.reshape(-1, way.k.shape[2])) ** 2)))
    film = trace(way, labels)
    return View(
        trace=film,
        start=film.steps - 2 if film.steps > 2 else 0,
        plates=(Plate(curves(context.look, [line], Scale(context.t("home.query")),
                             Scale(context.t("home.weight"), range=(0.0, 1.04)), height=220)),),
        numbers=(
            Number("token_kv", units.size(way.k.nbytes + way.v.nbytes), {"token": labels[position]}),
            Number("token_slot", f"P{way.physical} · {way.slot}", {"size": way.block_size}),
            Number("token_bits", f"{8 * (way.small.codes.size // 2 + 2 * len(way.small.codes)) / way.k.size:.2f}",
                   {"format": FORMAT}),
            Number("token_error", f"{error:.3f}", {"format": FORMAT}),
        ),
        proofs=(cached.cache_proof(bench.model, bench.prompt),),
        facts={"token": labels[position], "format": FORMAT},
        table={"query": list(labels[position:]), "weight": [round(float(w), 4) for w in way.readers[position:]],
               "head": [f"L{layer} H{head}" for layer, head in way.heads[position:]]},
    )


SCENE = Scene("home", "way", build, params=(Live("token", token_param),), bench=True)
