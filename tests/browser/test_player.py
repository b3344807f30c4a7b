"""The player in a real browser: step, keys, scrub, play, motion, theme, phone, hover, SVG, new data."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.traces import blocks, cache, recorded
from viz_core.figures.theme import Mode, letter_on, theme, tone
from viz_core.trace import State
from viz_core.trace_codec import decode, encode
from viz_core.ui.player import trace_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser
APP = Path(__file__).parent / "player_app.py"
Visit = Callable[..., "Page"]


def opened(page: Page) -> Locator:
    root = page.locator(".infersight-player")
    root.locator("[data-cell]").first.wait_for(timeout=20_000)
    return root


def at(root: Locator, step: int) -> None:
    """Wait until the player stands at a step."""
    root.page.wait_for_function("([e, s]) => e.dataset.step === String(s)", arg=[root.element_handle(), step])


def states(root: Locator, lane: int) -> list[str]:
    cells = root.locator(f'[data-lane="{lane}"]').all()
    return [(cell.get_attribute("class") or "").split()[1] for cell in cells]


def test_buttons_and_keys_step_and_the_cells_follow_the_trace(visit: Visit) -> None:
    root = opened(visit(APP))
    trace = cache()
    captions = decode(encode(trace, "en")).sentences("captions")
    moves = [("Step forward", 1), ("Last step", 4), ("Step back", 3), ("First step", 0)]
    for name, step in moves:
        root.get_by_role("button", name=name).click()
        at(root, step)
        assert root.locator(".caption").inner_text() == captions[step]
        wanted = [State(v).name.lower() for v in trace.state(step)["state"]]
        assert states(root, 0) + states(root, 1) == wanted
    root.locator(".figure").focus()
    for key, step in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 4), ("Home", 0)):
        root.page.keyboard.press(key)
        at(root, step)


def test_scrubbing_shows_number_and_caption(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=long"))
    root.get_by_role("slider").fill("9321")
    at(root, 9321)
    assert root.locator(".count").inner_text() == "9,322 / 10,000"
    state = blocks(512, 10_000).state(9321)["state"]
    assert states(root, 0) == [State(v).name.lower() for v in state[:512]]


def test_a_recorded_run_is_drawn_as_python_decodes_it(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=recorded"))
    trace = recorded()
    pool, queue = trace.lanes[-2:]
    planes = decode(encode(trace, "en")).planes
    for step in (trace.steps - 1, 7, trace.steps // 2):
        root.get_by_role("slider").fill(str(step))
        at(root, step)
        state, text = (planes[name].at(step, trace.cells) for name in ("state", "text"))
        for lane in (pool, queue):
            cells = slice(lane.first, lane.first + lane.count)
            assert states(root, trace.lanes.index(lane)) == [State(v).name.lower() for v in state[cells]]
        named = root.locator(f'[data-lane="{trace.lanes.index(queue)}"] .text').evaluate_all(
            "all => all.map(e => e.textContent)"
        )
        assert [name for name in named if name] == [trace.texts[v] for v in text[queue.first :] if v]


def test_it_plays_to_the_end_and_stops(visit: Visit) -> None:
    root = opened(visit(APP))
    root.get_by_role("combobox", name="Speed").select_option("4")
    root.locator(".figure").focus()
    root.page.keyboard.press(" ")
    assert root.get_by_role("button", name="Pause").count() == 1
    at(root, 4)
    root.get_by_role("button", name="Play").wait_for()


def test_reduced_motion_has_no_tween_but_plays(visit: Visit) -> None:
    duration = "e => getComputedStyle(e).transitionDuration"
    body = opened(visit(APP)).locator(".body").first
    body.page.get_by_role("button", name="Step forward").click()
    assert body.evaluate(duration).startswith("0.2s")
    root = opened(visit(APP, motion="reduce"))
    root.get_by_role("button", name="Step forward").click()
    assert root.locator(".body").first.evaluate(duration) == "0s"
    root.get_by_role("combobox", name="Speed").select_option("4")
    root.get_by_role("button", name="Play").click()
    at(root, 4)


@pytest.mark.parametrize(("theme", "hue"), [("light", "rgb(202, 127, 91)"), ("dark", "rgb(247, 190, 125)")])
def test_colours_follow_the_theme(visit: Visit, theme: str, hue: str) -> None:
    root = opened(visit(APP, theme=theme))
    root.page.wait_for_function(
        "([e, c]) => getComputedStyle(e).fill === c", arg=[root.locator(".computed .body").first.element_handle(), hue]
    )


def test_a_phone_shows_readable_cells_without_sideways_scrolling(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=blocks", width=390, height=844))
    assert root.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = [cell.bounding_box() for cell in root.locator("[data-cell]").all()]
    assert all(b and b["width"] >= 24 and b["x"] >= 0 and b["x"] + b["width"] <= 390 for b in boxes)
    sizes = root.locator(".drawing text").evaluate_all("all => all.map(e => parseFloat(getComputedStyle(e).fontSize))")
    assert min(sizes) >= 12


def test_a_hover_reads_the_cell_and_lights_its_like(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=blocks"))
    root.get_by_role("button", name="Last step").click()
    at(root, 11)
    root.locator('[data-lane="0"][data-cell="0"]').hover()
    assert root.locator(".detail").inner_text().startswith("pool · P0 · A · "), "one owner has a name"
    root.locator('[data-lane="0"][data-cell="2"]').hover()
    detail = root.locator(".detail").inner_text().split(" · ")
    assert {"pool", "P2", "3 of 4 filled", "3 references", "cells 8–10"} <= {*detail} and "C" not in detail
    lit = root.locator("[data-cell]:has(.lit:not([style*=none]))")
    assert lit.evaluate_all("all => all.map(e => e.dataset.lane + e.dataset.cell)") == ["02", "12"]


def test_events_are_jumped_to(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=blocks"))
    for step in (1, 5, 9):
        root.get_by_role("button", name="Next event").click()
        at(root, step)
    root.get_by_role("button", name="Previous event").click()
    at(root, 5)


def test_many_cells_are_drawn_as_buckets_and_opened_by_a_click(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=huge"))
    cells = root.locator('[data-lane="0"]')
    assert cells.count() <= 4096
    root.get_by_role("button", name="Last step").click()
    cells.nth(3).click()
    assert cells.count() == 256
    detail = root.locator(".detail")
    cells.nth(99).hover()
    assert "P99" in detail.inner_text()
    root.get_by_role("button", name="Show all cells").click()
    assert 256 < cells.count() <= 4096
    cells.nth(3).hover()
    assert "cells " in detail.inner_text()


def test_the_saved_frame_stands_alone(visit: Visit) -> None:
    root = opened(visit(APP, "?lang=zh"))
    with root.page.expect_download() as download:
        root.get_by_role("button", name="存为 SVG").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert download.value.suggested_filename == "infersight-1.svg"
    ET.fromstring(text)
    assert "var(" not in text and "light-dark" not in text and "url(" not in text
    assert "rgb(202, 127, 91)" in text and "格 0–我" in text


def test_odd_tokens_are_text_on_the_page_and_in_the_file(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=odd"))
    assert [root.locator(".text").nth(i).evaluate("e => e.textContent") for i in range(2)] == ["\x00", "\x00"]
    root.get_by_role("button", name="Last step").click()
    assert "<" in root.locator('[data-lane="0"] .text').nth(1).evaluate("e => e.textContent")
    with root.page.expect_download() as download:
        root.get_by_role("button", name="Save").click()
    ET.fromstring(Path(download.value.path()).read_text(encoding="utf-8"))


def test_a_click_on_a_series_goes_there(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=long"))
    root.locator(".chart .touch").first.click(position={"x": 100, "y": 30})
    width = root.locator(".chart .touch").first.evaluate("e => e.getBBox().width")
    assert abs(int(root.get_attribute("data-step") or 0) - 9999 * 100 / width) < 9999 / width


def test_new_data_keeps_the_step_and_the_page(visit: Visit) -> None:
    root = opened(visit(APP))
    root.get_by_role("slider").fill("3")
    root.evaluate("e => { e.mine = true; }")
    root.page.get_by_text("reported 3").wait_for()
    root.page.get_by_role("button", name="other data").click()
    root.get_by_text(re.compile("4 / 6")).wait_for()
    assert root.evaluate("e => e.mine") and root.get_attribute("data-step") == "3"


def test_a_reported_step_that_comes_back_does_not_move_the_reader(visit: Visit) -> None:
    root = opened(visit(APP, "?back=1"))
    forward = root.get_by_role("button", name="Step forward")
    forward.click()
    root.page.get_by_text("reported 1").wait_for()
    forward.click()
    root.page.get_by_text("reported 2").wait_for()
    assert root.get_attribute("data-step") == "2"
    root.get_by_role("combobox", name="Speed").select_option("4")
    root.get_by_role("button", name="Play").click()
    root.page.get_by_text("reported 4").wait_for()
    root.page.get_by_role("button", name="to step 1").click()
    at(root, 1)


def test_the_page_of_its_own_plays_offline(chromium: Browser, tmp_path: Path) -> None:
    (tmp_path / "blocks.html").write_text(trace_html(blocks(64, 3000), "zh", start=2000), encoding="utf-8")
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "blocks.html").as_uri())
    root = opened(page)
    at(root, 2000)
    page.locator(".figure").focus()
    page.keyboard.press("End")
    at(root, 2999)
    assert states(root, 0) == [State(v).name.lower() for v in blocks(64, 3000).state(2999)["state"][:64]]
    context.close()


def test_larger_type_makes_larger_labels_and_nothing_leaves_the_page(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=blocks"))
    before = root.locator(".lane .name").first.bounding_box()
    root.page.add_style_tag(content="html { font-size: 24px; }")
    root.page.wait_for_function("e => e.querySelector('.body').getBBox().height > 50", arg=root.element_handle())
    after = root.locator(".lane .name").first.bounding_box()
    assert before and after and after["height"] > 1.3 * before["height"]
    sizes = root.locator(".drawing text").evaluate_all("all => all.map(e => parseFloat(getComputedStyle(e).fontSize))")
    assert min(sizes) >= 18
    assert root.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_cells_are_read_by_keys(visit: Visit) -> None:
    root = opened(visit(APP, "?trace=blocks"))
    root.locator(".figure").focus()
    detail = root.locator(".detail")
    assert detail.inner_text().startswith("Point at")
    for name in ("P0", "P1", "P2"):
        root.page.keyboard.press("ArrowDown")
        assert f"pool · {name} · free" in detail.inner_text()
    root.page.keyboard.press("ArrowUp")
    assert "P1" in detail.inner_text()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_shades_are_painted_as_the_figures_mix_them(visit: Visit, mode: Mode) -> None:
    """The colour a cell of each shade gets, and its letter's, are those of a heatmap cell of the same value."""
    root = opened(visit(APP, theme=mode))
    painted = root.evaluate("""root => Array.from({length: 101}, (_, share) => {
        const one = root.appendChild(document.createElement("div"));
        one.className = "shade";
        one.style.cssText = `--t: ${share}%; background: var(--hue); color: var(--letter)`;
        const { backgroundColor, color } = getComputedStyle(one);
        one.remove();
        return [backgroundColor, color].map(text => text.match(/[\\d.]+/g).slice(0, 3).map(Number)
            .map(x => text.startsWith("color(") ? 255 * x : x));
    })""")
    for share, (cell, letter) in enumerate(painted):
        rgb = tone(theme(mode).sequential, share / 100)
        assert max(abs(a - b) for a, b in zip(cell, rgb, strict=True)) <= 1, share
        assert "#" + "".join(f"{round(c):02X}" for c in letter) == letter_on(rgb), share
