"""The grid on which a reader draws an order: a click adds a tile, a click on a visited one takes it out."""

from __future__ import annotations

from viz_core.attention.orders import parse
from viz_core.figures.layout import Look, alt_text
from viz_core.figures.order_grid import after, order_grid, written


def test_clicks() -> None:
    drawn = [(0, 0), (1, 1)]
    figure = order_grid(Look(), 2, 3, drawn, masked=[(0, 2)])
    points = figure.data[0]
    assert list(points.text) == ["1", "", "", "", "2", ""]
    clicked = {(y, x): parse(str(data[0])) for y, x, data in zip(points.y, points.x, points.customdata, strict=True)}
    assert clicked[0, 1] == [(0, 0), (1, 1), (0, 1)]
    assert clicked[1, 1] == [(0, 0)]
    assert clicked == {tile: after(drawn, tile) for tile in clicked}
    assert "2 by 3" in alt_text(figure)


def test_an_order_is_written_as_it_is_read() -> None:
    tiles = [(3, 12), (0, 0)]
    assert parse(written(tiles)) == tiles
