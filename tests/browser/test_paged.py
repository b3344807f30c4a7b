"""The PagedAttention page in a real browser: files of the reader's own go in and come out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from viz_core.paging.presets import WINDOW
from viz_core.paging.scenario_file import to_json

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser
APP = Path(__file__).parents[2] / "app.py"
Visit = Callable[..., "Page"]


def cells(page: Page) -> Locator:
    page.locator("[data-cell]").first.wait_for(timeout=30_000)
    return page.locator("[data-cell] .body")


def test_a_slip_is_told_under_the_text(visit: Visit) -> None:
    page = visit(APP, "paged_attention?lang=zh&scene=own&scenario={")
    notice = page.get_by_test_id("stAlertContentWarning")  # the other one stands above the figure
    told, text = notice.get_by_text("不是有效的 JSON"), page.locator("textarea[aria-label='场景（JSON）']")
    told.wait_for(timeout=30_000)
    under = """([text, told]) => {
        const gap = told.getBoundingClientRect().top - text.getBoundingClientRect().bottom;
        return gap > 0 && gap < 80;
    }"""  # asked until the page has settled
    page.wait_for_function(under, arg=[text.element_handle(), told.element_handle()], timeout=20_000)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_on_a_phone_the_opening_scene_has_its_bar_and_sentence_in_sight(visit: Visit, lang: str) -> None:
    page = visit(APP, f"paged_attention?lang={lang}", width=390, height=844)
    cells(page)
    page.wait_for_timeout(1000)
    root = page.locator(".infersight-player")
    bar, queue = root.locator(".bar").bounding_box(), root.locator(".lane").last.bounding_box()
    assert bar and queue and queue["y"] + queue["height"] <= bar["y"] + 2, "no lane is hidden"
    for part in ("Play" if lang == "en" else "播放",):
        assert root.get_by_role("button", name=part).bounding_box()["y"] < 844  # type: ignore[index]
    caption = root.locator(".caption").bounding_box()
    assert caption and caption["y"] + caption["height"] <= 844


def test_a_partly_filled_cell_has_one_whole_letter(visit: Visit) -> None:
    page = visit(APP, "paged_attention?lang=en")
    cells(page)
    parts = page.locator("[data-cell].part")
    assert parts.count() > 0
    for i in range(parts.count()):
        assert parts.nth(i).locator("text.text").count() == 1
        assert parts.nth(i).locator("svg text").count() == 0, "not cut at the fill"


def test_a_scenario_goes_in_and_its_log_is_played_again(visit: Visit, tmp_path: Path) -> None:
    page = visit(APP, "paged_attention?lang=en&scene=own")
    cells(page)
    (tmp_path / "bad.json").write_text('{"blocks": 0, "block_size": 4}')
    (tmp_path / "good.json").write_text(to_json(WINDOW))
    page.locator("input[type=file]").set_input_files(tmp_path / "bad.json")
    page.get_by_text("It must be a whole number from 1").wait_for()
    assert "Blocks: 9; tokens a block: 4; steps: 22" in page.locator("body").inner_text(), "the last good run stays"
    page.locator("input[type=file]").set_input_files(tmp_path / "good.json")
    page.get_by_text("Blocks: 9; tokens a block: 4; steps: 14").wait_for()
    page.get_by_text("Export").first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="log.jsonl").click()
    download.value.save_as(tmp_path / "it.log.jsonl")
    shown = [cells(page).nth(i).get_attribute("d") for i in range(cells(page).count())]
    again = visit(APP, "paged_attention?lang=en&scene=recorded")
    cells(again)
    again.locator("input[type=file]").set_input_files(tmp_path / "it.log.jsonl")
    again.get_by_text("Played again from its events: it.log.jsonl").wait_for()
    assert [cells(again).nth(i).get_attribute("d") for i in range(cells(again).count())] == shown
