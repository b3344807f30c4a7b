"""The walk over the tiles, step by step: where it is, what is in SRAM, and what happens to one query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from viz_core import units
from viz_core.attention.bias import Bias, Floats
from viz_core.attention.film import Scene as Film
from viz_core.attention.film import film, signed, unvisited
from viz_core.attention.grouping import grouped
from viz_core.attention.orders import ORDERS, Order, Tile, own, parse
from viz_core.attention.record import Record, record
from viz_core.attention.rules import FA1, FA2
from viz_core.attention.standard import standard
from viz_core.attention.tiled import Sram, tiled
from viz_core.attention.tiling import Tiling
from viz_core.attention.views import compulsory, errors, masked_tiles, row_scores
from viz_core.figures.bars import Bar, bars
from viz_core.figures.order_grid import order_grid, written
from viz_core.figures.scales import Scale
from viz_core.figures.theme import Hue
from viz_core.i18n import Problem
from viz_core.proofs.flash_attention import exact, tiled_equals_dense
from viz_core.ui import cached
from viz_core.ui.heads import HEAD, LAYER
from viz_core.ui.params import Choice, Line, Live, Whole
from viz_core.ui.scene import Bench, Context, Number, Plate, Scene, View
from viz_core.ui.scenes.fa_inputs import INPUT, N, inputs

if TYPE_CHECKING:
    import plotly.graph_objects as go

ORDER = Choice("visit", (*ORDERS, "own"), "fa2")
MOST_TILES = 32  # a side, so that cells stay large enough to read
DRAWN = "0,0 0,1 0,2 0,3"


def most(bench: Bench) -> int:
    """The longest input there is to choose: the drawn example or the prompt."""
    return max(N, len(cached.shown(bench.model, bench.prompt)))


PARAMS = (
    ORDER,
    Live("tile", lambda bench: Whole("tile", 1, min(64, most(bench)), 4)),
    Live("probe", lambda bench: Whole("probe", 0, most(bench) - 1, 5)),
    INPUT,
    Line("visit_tiles", DRAWN, 8000),
    LAYER,
    HEAD,
)


def order_of(context: Context, t: Tiling, masked: list[Tile]) -> tuple[Order, list[Tile] | None, str | None]:
    """The chosen order; the reader's own with its tiles and, while some are missing, the sentence that says so."""
    if context.values["visit"] != "own":
        return ORDERS[context.values["visit"]], None, None
    try:
        drawn = parse(context.values["visit_tiles"])
        own(drawn, masked)(t.row_tiles, t.col_tiles)
    except Problem as problem:
        if problem.key == "attention_order_word":
            drawn = parse(DRAWN)
        known = [tile for tile in dict.fromkeys(drawn) if tile[0] < t.row_tiles and tile[1] < t.col_tiles]
        return lambda _rows, _cols: known, known, problem.text(context.lang)
    return lambda _rows, _cols: drawn, drawn, None


def clipped(context: Context, n: int) -> tuple[int, int, list[str]]:
    """Tile side and query within the chosen input's n tokens, and a sentence for each that had to move."""
    size, query, told = context.values["tile"], context.values["probe"], list[str]()
    used = min(max(size, -(-n // MOST_TILES)), n)
    if used != size:
        told.append(context.t("walk.tile_small" if used > size else "walk.tile_large", size=size, n=n, used=used))
    if query >= n:
        told.append(context.t("walk.no_query", query=query, last=n - 1))
    return used, min(query, n - 1), told


def build(context: Context) -> View:
    """One walk over the chosen input."""
    q, k, v, bias = inputs(context)
    size, query, told = clipped(context, len(q))
    tiling = Tiling(len(q), len(k), q.shape[1], v.shape[1], size, size)
    rule = FA1 if context.values["visit"] == "fa1" else FA2
    masked = masked_tiles(bias, tiling)
    order, drawn, wrong = order_of(context, tiling, masked)
    walk = record(tiled(q, k, v, (size, size), order, bias=bias, rule=rule), query, size)
    want, bill = exact(q, k, v, bias), sum(s.bytes for s in standard(q, k, v, bias=bias))
    moved, least = int(walk.bytes.sum()), compulsory(tiling)
    shot = Film(tiling, Sram(), bias, want.out[query], bill, rule is FA1)
    left, tiles = unvisited(walk, shot), tiling.row_tiles * tiling.col_tiles
    plates = [] if left else [Plate(_bars(context, bill, moved, least))]
    if drawn is not None:
        grid = order_grid(context.look, tiling.row_tiles, tiling.col_tiles, drawn, masked)
        plates.insert(0, Plate(grid, ("visit_tiles",), (written(drawn[:-1]),) if drawn else ()))
    return View(
        trace=film(walk, shot),
        start=start(walk, query // size),
        plates=tuple(plates),
        numbers=()
        if left
        else (
            Number("fa_less_here", f"{bill / moved:.1f}×"),
            Number("fa_flops", units.scaled(int(walk.flops.sum()), "FLOP")),
            Number("fa_visits", f"{int(walk.is_op('fold').sum())} + {int(walk.is_op('skip').sum())}"),
        ),
        proofs=() if left else (tiled_equals_dense(walk.end, q, k, v, bias),),
        notice=" ".join([*told, wrong] if wrong else told) or None,
        table=probe_table(walk, tiling, (q, k), bias, want.out[query]),
        facts={"n": len(q), "tile": size}
        | {"told": context.t(f"walk.{'part' if left else 'whole'}", query=query, left=left, tiles=tiles)}
        | {"standard": units.size(bill), "tiled": units.size(moved), "least": units.size(least)},
        code=(tiled,),
    )


def start(walk: Record, tile: int) -> int:
    """The player's first frame: the probed query in the middle of its row."""
    groups, probe = grouped(walk, tile), walk.probe.steps
    middle = int(probe[len(probe) // 2]) if len(probe) else 0
    return next(number for number, steps in enumerate(groups) if middle < steps.stop)


def _bars(context: Context, bill: int, moved: int, least: int) -> go.Figure:
    parts: tuple[tuple[str, int, Hue], ...] = (("standard", bill, "B"), ("tiled", moved, "A"), ("least", least, "C"))
    rows = [Bar(context.t(f"bill.{name}"), x, units.size(x), hue) for name, x, hue in parts]
    return bars(context.look, rows, Scale(context.t("bill.axis"), range=(0, 1.02 * max(bill, moved, least))))


def probe_table(
    walk: Record, t: Tiling, qk: tuple[Floats, Floats], bias: Bias | None, want: Floats
) -> dict[str, list[Any]]:
    """One row a tile that the probed query met: its scores, m, α, ℓ, the first number of o, and the error so far."""
    p = walk.probe
    scores = [row_scores(qk[0], qk[1], p.query, t.of_col(int(j)), bias) for j in p.cols]
    return {
        "tile": [f"({p.query // t.rows}, {j})" for j in p.cols],
        "scores": [" ".join(signed(float(x)) for x in s[:8]) + (" …" if len(s) > 8 else "") for s in scores],
        "m": [signed(float(x)) for x in p.m],
        "α": [round(float(x), 6) for x in p.alpha],
        "ℓ": [round(float(x), 6) for x in p.l],
        "o[0], FA2 keeps": [round(float(x), 6) for x in p.o[:, 0]],
        "o[0] / ℓ, FA1 keeps": [round(float(x), 6) for x in p.out[:, 0]],
        "error": [f"{x:.1e}" for x in errors(walk, want)],
    }


SCENE = Scene("flash_attention", "walk", build, params=PARAMS, bench=True)
