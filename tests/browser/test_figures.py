"""What Plotly really draws: literal labels, every column, an empty triangle, tokens in the hover, clicks that land."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from viz_core.figures.cells import Matrix, causal
from viz_core.figures.heatmap import heatmap
from viz_core.figures.labels import CLOSING, OPENING, labels
from viz_core.figures.layout import Look
from viz_core.figures.mosaic import Head, mosaic

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
PIECES = ["<s>", "the", "the", "$x$", "<b>b</b>", "10", "&lt;", "<script>a"]


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    import plotly.offline

    page = chromium.new_page(viewport={"width": 940, "height": 700})
    page.set_content("<body style='margin:0'><div id='figure' style='width:900px'></div></body>")
    page.add_script_tag(content=plotly.offline.get_plotlyjs())
    yield page
    page.close()


@pytest.fixture
def draw(page: Page) -> Callable[[Any], Page]:
    def drawn(figure: Any) -> Page:
        page.evaluate(
            "async spec => { window.clicked = [];"
            "window.figure = await Plotly.newPlot('figure', spec.data, spec.layout);"
            "window.figure.on('plotly_click', e => window.clicked.push(e.points.map(p => p.customdata))); }",
            json.loads(figure.to_json()),
        )
        return page

    return drawn


def head(clickable: bool = False) -> Any:
    axis = labels(PIECES, "plain", "en", ids=list(range(100, 108)))
    weights = np.tri(8) / np.arange(1, 9)[:, None]
    return heatmap(Look(width=900), Matrix(causal(weights), axis, axis), clickable=clickable)


def test_labels_are_drawn_literally_and_none_is_merged(draw: Callable[[Any], Page]) -> None:
    page = draw(head())
    for side in ("xtick", "ytick"):
        seen = page.eval_on_selector_all(f".{side} text", "texts => texts.map(t => t.textContent)")
        assert [text.strip(OPENING + CLOSING) for text in seen] == PIECES


def cell(page: Page, row: float, column: float) -> tuple[float, float]:
    """The middle of a cell in px of the window."""
    x, y = page.evaluate(
        "([r, c]) => { const l = figure._fullLayout, b = figure.getBoundingClientRect();"
        "return [b.left + l.xaxis2._offset + l.xaxis2.l2p(c), b.top + l.yaxis2._offset + l.yaxis2.l2p(r)]; }",
        [row, column],
    )
    return x, y


def hover(page: Page) -> str:
    return "".join(page.eval_on_selector_all(".hoverlayer text", "texts => texts.map(t => t.textContent)"))


def test_the_hover_names_both_tokens_with_id_and_position(draw: Callable[[Any], Page]) -> None:
    page = draw(head())
    page.mouse.move(*cell(page, 4, 3))
    page.wait_for_selector(".hoverlayer .hovertext")
    said = hover(page)
    assert "<b>b</b> · position 4 · id 104" in said
    assert "$x$ · position 3 · id 103" in said
    assert "weight 0.2000" in said


def test_a_masked_cell_is_empty_and_says_nothing(draw: Callable[[Any], Page]) -> None:
    page = draw(head())
    page.mouse.move(*cell(page, 7.3, 6.2))
    page.mouse.move(*cell(page, 1, 6))
    page.wait_for_timeout(300)
    assert hover(page) == ""


def test_a_click_on_a_cell_tells_its_row_and_column(draw: Callable[[Any], Page]) -> None:
    page = draw(head(clickable=True))
    page.mouse.click(*cell(page, 5, 2))
    page.wait_for_function("window.clicked.length == 1")
    assert page.evaluate("window.clicked[0][0].slice(0, 2)") == [5, 2]


def test_a_click_in_a_corner_of_a_tile_tells_its_head(draw: Callable[[Any], Page]) -> None:
    heads = [Head(layer, number) for layer in range(3) for number in range(2)]
    page = draw(mosaic(Look(width=900), np.stack([causal(np.eye(8))] * 6), heads, 8))
    x, y = page.evaluate(
        "() => { const l = figure._fullLayout, b = figure.getBoundingClientRect();"
        "return [b.left + l.xaxis._offset + l.xaxis.l2p(1.15), b.top + l.yaxis._offset + l.yaxis.l2p(1.85)]; }"
    )
    page.mouse.click(x, y)
    page.wait_for_function("window.clicked.length == 1")
    assert page.evaluate("window.clicked[0][0]") == [1, 1]


def test_nothing_is_cut_off_at_phone_width(draw: Callable[[Any], Page], page: Page) -> None:
    """Every word of the phone's figure lies inside its 360 px."""
    page.evaluate("document.getElementById('figure').style.width = '360px'")
    axis = labels(PIECES, "plain", "zh")
    draw(heatmap(Look(width=360, lang="zh"), Matrix(causal(np.tri(8) / 8), axis, axis)))
    boxes = page.eval_on_selector_all(
        "#figure text", "texts => texts.map(t => { const b = t.getBoundingClientRect(); return [b.left, b.right]; })"
    )
    page.evaluate("document.getElementById('figure').style.width = '900px'")
    assert min(left for left, _ in boxes) >= 0
    assert max(right for _, right in boxes) <= 360
