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
from viz_core.figures.order_grid import order_grid
from viz_core.figures.scales import Scale
from viz_core.figures.theme import Hue
from viz_core.i18n import Problem
from viz_core.proofs.flash_attention import exact, tiled_equals_dense
from viz_core.ui.heads import HEAD, LAYER
from viz_core.ui.params import Choice, Line, Whole
from viz_core.ui.scene import Context, Number, Plate, Scene, View
from viz_core.ui.scenes.fa_inputs import INPUT, inputs

if TYPE_CHECKING:
    import plotly.graph_objects as go

ORDER = Choice("visit", (*ORDERS, "own"), "fa2")
MOST_TILES = 32  # a side, so that cells stay large enough to read
PARAMS = (
    ORDER,
    Whole("tile", 1, 64, 4),
    Whole("probe", 0, 511, 5),
    INPUT,
    Line("visit_tiles", "0,0 0,1 0,2 0,3", 8000),
    LAYER,
    HEAD,
)


def order_of(context: Context, t: Tiling, masked: list[Tile]) -> tuple[Order, list[Tile] | None, str | None]:
    """The chosen order; the reader's own with its tiles and, while some are missing, the sentence that says so."""
    if context.values["visit"] != "own":
        return ORDERS[context.values["visit"]], None, None
    drawn = parse(context.values["visit_tiles"])
    try:
        own(drawn, masked)(t.row_tiles, t.col_tiles)
    except Problem as problem:
        if problem.key != "attention_order_misses":
            raise
        return lambda _rows, _cols: drawn, drawn, problem.text(context.lang)
    return lambda _rows, _cols: drawn, drawn, None


def checked(n: int, size: int, query: int) -> None:
    """Bounds that depend on the input, each with its sentence."""
    if -(-n // size) > MOST_TILES:
        raise Problem("attention_tile_small", size=size, n=n, least=-(-n // MOST_TILES))
    if query >= n:
        raise Problem("attention_probe", query=query, last=n - 1)


def build(context: Context) -> View:
    """One walk over the chosen input."""
    q, k, v, bias = inputs(context)
    size, query = context.values["tile"], context.values["probe"]
    checked(len(q), size, query)
    tiling = Tiling(len(q), len(k), q.shape[1], v.shape[1], size, size)
    rule = FA1 if context.values["visit"] == "fa1" else FA2
    masked = masked_tiles(bias, tiling)
    order, drawn, missing = order_of(context, tiling, masked)
    walk = record(tiled(q, k, v, (size, size), order, bias=bias, rule=rule), query, size)
    want, bill = exact(q, k, v, bias), sum(s.bytes for s in standard(q, k, v, bias=bias))
    moved, least = int(walk.bytes.sum()), compulsory(tiling)
    plates = [] if missing else [Plate(_bars(context, bill, moved, least))]
    if drawn is not None:
        grid = order_grid(context.look, tiling.row_tiles, tiling.col_tiles, drawn, masked)
        plates.insert(0, Plate(grid, ("visit_tiles",)))
    shot = Film(tiling, Sram(), bias, want.out[query], bill, rule is FA1)
    left, tiles = unvisited(walk, shot), tiling.row_tiles * tiling.col_tiles
    return View(
        trace=film(walk, shot),
        start=start(walk, query // size),
        plates=tuple(plates),
        numbers=()
        if missing
        else (
            Number("fa_less_here", f"{bill / moved:.1f}×"),
            Number("fa_flops", units.scaled(int(walk.flops.sum()), "FLOP")),
            Number("fa_visits", f"{int(walk.is_op('fold').sum())} + {int(walk.is_op('skip').sum())}"),
        ),
        proofs=() if missing else (tiled_equals_dense(walk.end, q, k, v, bias),),
        notice=missing,
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
