"""The reader's own prompt in the pool: where each token's keys and values lie, and that attention does not mind."""

from __future__ import annotations

from viz_core.model.paged import Placement, placed
from viz_core.trace import State, Text, Trace
from viz_core.trace_builder import TraceBuilder
from viz_core.ui import cached
from viz_core.ui.params import Whole
from viz_core.ui.scene import Context, Number, Scene, View

MINE, THEIRS = 1, 2  # hues
DRAWN = 256  # tokens shown; the proof covers the whole prompt
SIZE = Whole("block_size", 1, 32, 4)


def trace(place: Placement, labels: tuple[str, ...]) -> Trace:
    """One step a block: it is taken and written; in the last one the newest token reads all of them."""
    size, n = place.size, len(labels)
    builder = TraceBuilder(Text("scene.paged_attention.prompt.title"))
    tokens = builder.lane(Text("paging.lane.prompt"), n, labels=labels, keys=range(1, n + 1))
    names = [f"P{block - 1}" for block in range(1, place.blocks)]
    count = (place.blocks - 1) * size
    slots = builder.lane(Text("paging.lane.slots"), count, columns=size, row_names=names, folded=True)
    builder.hue(MINE, "", Text("paging.mine"))
    builder.hue(THEIRS, "", Text("paging.theirs"))
    builder.set("state", slots, State.FREE)
    where = [slots[(place.table[t // size] - 1) * size + t % size] for t in range(n)]
    for logical, start in enumerate(range(0, n, size)):
        block = range(start, min(start + size, n))
        _write(builder, tokens, where, block, labels)
        other = (place.neighbour[logical] - 1) * size
        cells = slots[other : other + len(block)]
        builder.set("hue", cells, THEIRS)
        builder.set("state", cells, State.HELD)
        builder.step(
            "scene.paged_attention.prompt.caption",
            logical=logical,
            physical=f"P{place.table[logical] - 1}",
            first=start,
            last=block[-1],
            other=f"P{place.neighbour[logical] - 1}",
        )
    builder.set("state", where, State.REUSED)
    builder.cursor(tokens[n - 1])
    builder.step(
        "scene.paged_attention.prompt.read",
        token=labels[-1],
        n=n,
        blocks=-(-n // size),
        table=" ".join(f"P{block - 1}" for block in place.table[: -(-n // size)]),
    )
    return builder.build()


def _write(builder: TraceBuilder, tokens: range, where: list[int], block: range, labels: tuple[str, ...]) -> None:
    """The tokens of one block and the slots they are written to, lit together."""
    for t in block:
        for cell in (tokens[t], where[t]):
            builder.set("hue", cell, MINE)
            builder.set("state", cell, State.COMPUTED if cell == where[t] else State.HELD)
        builder.set("key", where[t], t + 1)
        builder.write(where[t], labels[t])


def build(context: Context) -> View:
    """The workbench's prompt in blocks of the chosen size."""
    bench, size = context.bench, context.values["block_size"]
    ids = cached.tokens(bench.model, bench.prompt)
    shown = ids[:DRAWN]
    film = trace(placed(shown, size), cached.labels(bench.model, shown))
    config = cached.model(bench.model).llama.config
    full = -(-len(ids) // size)
    return View(
        trace=film,
        start=film.steps - 1,
        numbers=(
            Number("prompt_blocks", str(full), {"n": len(ids), "size": size}),
            Number("last_fill", f"{len(ids) - (full - 1) * size} / {size}"),
        ),
        proofs=(cached.paged_proof(bench.model, bench.prompt, size),),
        facts={
            "n": len(ids),
            "size": size,
            "heads": len(config.layers) * config.heads,
            "blocks": full,
            "shown": len(shown),
        },
    )


SCENE = Scene("paged_attention", "prompt", build, params=(SIZE,), bench=True)
