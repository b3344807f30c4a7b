"""The real app in a real browser: deep links on a cold server, languages, themes, phone width, the link, the prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.source import ROOT
from viz_core.i18n import LANGS, Lang, t
from viz_core.ui.registry import PAGES, PageInfo

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
APP = ROOT / "app.py"
pages = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.id)
Visit = Callable[..., "Page"]


def settled(tab: Page) -> Page:
    """Wait until the page has its heading, its figure and no running script."""
    tab.wait_for_selector('[data-testid="stHeading"]', timeout=60_000)
    tab.wait_for_selector('[data-testid="stPlotlyChart"] .main-svg, .player, [data-step]', timeout=60_000)
    tab.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')", timeout=60_000)
    return tab


@pages
@pytest.mark.parametrize("lang", LANGS)
def test_deep_link(visit: Visit, page: PageInfo, lang: Lang) -> None:
    tab = settled(visit(APP, f"{page.url}?lang={lang}"))
    assert not tab.query_selector('[data-testid="stException"]')
    assert tab.get_by_text(t("workbench.title", lang)).first.is_visible()
    assert f"lang={lang}" in tab.url


@pages
def test_phone_has_no_sideways_scroll(visit: Visit, page: PageInfo) -> None:
    tab = settled(visit(APP, f"{page.url}?lang=zh", width=390, height=844))
    tab.wait_for_timeout(800)
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    wide = """() => [...document.querySelectorAll('[data-testid=stMain] *')].filter(e => {
        const r = e.getBoundingClientRect(); return r.width && r.right > window.innerWidth + 1 &&
        getComputedStyle(e).visibility !== 'hidden' &&
        !e.closest('svg, canvas, pre, input, [data-testid=stDataFrame]'); }).length"""
    assert tab.evaluate(wide) == 0


def test_dark_theme_reaches_the_figures(visit: Visit) -> None:
    light, dark = (settled(visit(APP, "attention?lang=en", theme=theme)) for theme in ("light", "dark"))
    ink = "document.querySelector('.main-svg text').style.fill"
    for tab in (light, dark):
        tab.wait_for_function(f"{ink}", timeout=20_000)
        tab.wait_for_timeout(1500)
    assert light.evaluate(ink) != dark.evaluate(ink)


def test_language_switch_keeps_the_prompt(visit: Visit) -> None:
    tab = settled(visit(APP, "kv_cache?lang=en&scene=run&prompt=God%20said"))
    tab.get_by_text("中文").first.click()
    tab.wait_for_function("document.querySelector('[data-testid=stHeading]').innerText.match(/[\\u4e00-\\u9fff]/)")
    assert "lang=zh" in tab.url and "scene=run" in tab.url
    assert tab.locator("textarea").first.input_value() == "God said"


def test_steps_of_a_page_and_back(visit: Visit) -> None:
    tab = settled(visit(APP, "kv_cache?lang=en"))
    first = tab.locator('[data-testid="stHeading"]').first.inner_text()
    tab.locator(".st-key-steps button:visible").last.click()
    tab.wait_for_function(f"!document.querySelector('[data-testid=stHeading]').innerText.includes({first!r})")
    assert "scene=run" in tab.url
    tab.go_back()
    tab.wait_for_function(f"document.querySelector('[data-testid=stHeading]').innerText.includes({first!r})")


def test_language_survives_a_page_switch(visit: Visit) -> None:
    tab = settled(visit(APP, "?lang=zh"))
    tab.get_by_text(t("page.attention.title", "zh")).first.click()
    tab.wait_for_url("**/attention**")
    settled(tab)
    assert "lang=zh" in tab.url


@pytest.mark.parametrize("prompt", ["<script>window.hacked=1</script><b>x</b> $x$", "我爱北京天安门"])
def test_prompt_is_shown_literally(visit: Visit, prompt: str) -> None:
    from urllib.parse import quote

    tab = settled(visit(APP, f"attention?lang=en&prompt={quote(prompt)}"))
    tab.wait_for_timeout(800)
    assert tab.evaluate("window.hacked") is None
    assert not tab.query_selector('[data-testid="stException"]')


def test_empty_prompt_says_so(visit: Visit) -> None:
    tab = settled(visit(APP, "attention?lang=zh"))
    box = tab.locator("textarea").first
    box.fill("")
    box.press("Control+Enter")
    tab.get_by_text(t("problem.prompt_empty", "zh")).wait_for(timeout=20_000)
    assert tab.query_selector('[data-testid="stPlotlyChart"]')


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "NF4", "E4M3"])
def test_a_phone_shows_all_rows_of_the_snap_above_the_player(visit: Visit, lang: Lang, name: str) -> None:
    tab = settled(visit(APP, f"quantization?lang={lang}&scene=steps&format={name}", width=390, height=844))
    tab.locator(".infersight-player [data-cell]").first.wait_for()
    tab.wait_for_timeout(500)
    edges = "es => es.map(e => e.getBoundingClientRect()).map(r => [r.top, r.bottom])"
    cells, bar, caption = (tab.locator(f".infersight-player {which}").evaluate_all(edges)
                           for which in ("[data-cell]", ".bar", ".caption"))
    assert max(bottom for _, bottom in cells) < bar[0][0] < caption[0][1] <= 844
