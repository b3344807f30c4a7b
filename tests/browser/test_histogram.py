"""The snapping histogram in a real browser: bars come apart, slide, and end on the marks of the grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from browser.test_pages import APP, settled

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

NOW = """(root) => {
    const pieces = [...root.querySelectorAll(".piece")].map((one) => one.getBoundingClientRect());
    const marks = root.querySelector(".axes .marks"), box = marks.ownerSVGElement.getBoundingClientRect();
    return {
        middles: pieces.map(({ x, width }) => x - box.x + width / 2),
        floors: pieces.map(({ bottom }) => bottom - box.y),
        marks: [...marks.getAttribute("d").matchAll(/M([\\d.]+)/g)].map((found) => Number(found[1])),
    };
}"""


def shown(tab: Page, key: str) -> dict[str, Any]:
    """Where the pieces stand once a key has been pressed on the figure and the motion is over."""
    tab.locator(".figure").first.press(key)
    tab.wait_for_timeout(600)
    found: dict[str, Any] = tab.locator(".infersight-player").evaluate(NOW)
    return found


def test_bars_end_on_the_points(visit: Callable[..., Page]) -> None:
    tab = settled(visit(APP, "quantization?lang=en&scene=histogram"))
    tab.locator(".piece").first.wait_for(state="attached", timeout=30_000)
    first, last = shown(tab, "Home"), shown(tab, "End")
    away = [min(abs(x - mark) for mark in last["marks"]) for x in first["middles"]]
    assert max(away) > 5, "at first the bars stand between the points"
    assert all(min(abs(x - mark) for mark in last["marks"]) < 1 for x in last["middles"])
    before = shown(tab, "Home")
    assert before["middles"] == first["middles"]
    tab.locator(".piece").nth(40).hover()
    assert "→ code" in tab.locator(".detail").first.inner_text()


def test_a_step_slides_and_reduced_motion_leaps(visit: Callable[..., Page]) -> None:
    """The first piece that a step moves passes places in between, or none for a reader who asks for none."""
    script = """async (root) => {
        const pieces = [...root.querySelectorAll(".piece")], was = pieces.map((one) => one.getAttribute("x"));
        root.querySelector('[data-do="forward"]').click();
        const one = pieces.find((piece, i) => piece.getAttribute("x") !== was[i]);
        const seen = new Set();
        for (let i = 0; i < 40; i++) {
            seen.add(one.getBoundingClientRect().x.toFixed(1));
            await new Promise(requestAnimationFrame);
        }
        return seen.size;
    }"""
    for motion, slides in (("no-preference", True), ("reduce", False)):
        tab = settled(visit(APP, "quantization?lang=zh&scene=histogram&format=NF4&step=5", motion=motion))
        tab.locator(".piece").first.wait_for(state="attached", timeout=30_000)
        assert (tab.locator(".infersight-player").evaluate(script) > 2) == slides
