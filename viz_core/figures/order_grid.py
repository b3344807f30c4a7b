"""A grid of tiles to click in the order of their visits; a click on a visited tile takes it out again."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import plotly.graph_objects as go

from viz_core.figures.layout import Look, Parts, axis, frame
from viz_core.i18n import t

Tile = tuple[int, int]


def order_grid(
    look: Look, rows: int, columns: int, visited: Sequence[Tile], masked: Collection[Tile] = ()
) -> go.Figure:
    """Tiles as squares with the number of their visit, masked ones empty; customdata is the order after a click."""
    side = max(14.0, min(look.px(44), (look.width - 80) / columns, look.px(360) / rows))
    tiles = [(i, j) for i in range(rows) for j in range(columns)]
    at = {tile: number for number, tile in enumerate(visited, 1)}
    size = look.size(13) if side >= 30 else 9
    points: Parts = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [j for _, j in tiles],
        "y": [i for i, _ in tiles],
        "text": [str(at.get(tile, "")) for tile in tiles],
        "textfont": look.digits(13, look.theme.letter("D")) | {"size": size},
        "marker": {
            "symbol": "square",
            "size": side * 0.9,
            "color": [look.theme.tensor("O") if tile in at else look.theme.panel for tile in tiles],
            "line": {"color": look.theme.muted, "width": [0 if tile in masked else 1 for tile in tiles]},
        },
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}, "textfont": {"color": look.theme.letter("D")}},
        "customdata": [[written(after(visited, tile))] for tile in tiles],
        "hovertemplate": "(%{y}, %{x})<extra></extra>",
    }
    ends: Parts = {"ticks": "", "showline": False, "showgrid": False}
    return frame(
        look,
        [points],
        t("figure.alt_order", look.lang, rows=rows, columns=columns, visited=len(at)),
        side * rows + look.px(40),
        xaxis=axis(
            look,
            "",
            **ends,
            side="top",
            range=[-0.5, max(columns - 0.5, (look.width - 60) / side - 0.5)],
            **_ticks("K", columns),
        ),
        yaxis=axis(look, "", **ends, range=[rows - 0.5, -0.5], **_ticks("Q", rows)),
    )


def _ticks(letter: str, count: int) -> Parts:
    every = max(1, count // 8)
    shown = list(range(0, count, every))
    return {"tickvals": shown, "ticktext": [f"{letter}{x}" for x in shown]}


def after(visited: Sequence[Tile], tile: Tile) -> list[Tile]:
    """The order after a click on `tile`: with it at the end, or without it where it was already visited."""
    return [x for x in visited if x != tile] if tile in visited else [*visited, tile]


def written(visited: Sequence[Tile]) -> str:
    """An order as a reader types it."""
    return " ".join(f"{i},{j}" for i, j in visited)
