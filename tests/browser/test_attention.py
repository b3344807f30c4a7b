"""The mosaic of heads in a real browser: a click on a tile opens its head, twice in a row and after a slider moved."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from browser.test_pages import APP, settled

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
PLACE = """([layer, head]) => {
    const plot = document.querySelector('[data-testid=stPlotlyChart] .js-plotly-plot');
    const clicks = plot.data.find(trace => trace.mode === 'markers');
    const i = clicks.customdata.findIndex(place => place[0] === layer && place[1] === head);
    const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
    return [box.left + xaxis._offset + xaxis.d2p(clicks.x[i]), box.top + yaxis._offset + yaxis.d2p(clicks.y[i])];
}"""


def click(tab: Page, layer: int, head: int) -> None:
    """Click the middle of a tile and wait until its head is drawn; the link leaves out what is the default."""
    x, y = tab.evaluate(PLACE, [layer, head])
    tab.mouse.click(x, y)
    tab.get_by_text(f"L{layer} H{head} ·").first.wait_for(timeout=30_000)


def test_a_click_on_a_tile_opens_its_head(visit: Callable[..., Page]) -> None:
    tab = settled(visit(APP, "attention?lang=en&scene=mosaic&layer=3&head=1"))
    tab.get_by_text("L3 H1 ·").first.wait_for(timeout=30_000)
    for layer, head in ((2, 2), (1, 1)):
        click(tab, layer, head)
        tab.wait_for_timeout(500)
        again = settled(visit(APP, tab.url.split("/", 3)[3]))
        again.get_by_text(f"L{layer} H{head} ·").first.wait_for(timeout=30_000)
    assert not tab.query_selector('[data-testid="stException"]')


def test_a_sorted_mosaic_opens_the_head_it_names(visit: Callable[..., Page]) -> None:
    tab = settled(visit(APP, "attention?lang=en&scene=mosaic&layer=3&head=1&order=sink"))
    click(tab, 2, 2)
    assert re.search("order=sink", tab.url)
