"""Every page × language through Streamlit's own test runner, opened through the app and by its own deep link."""

from __future__ import annotations

from collections import Counter

import pytest
from streamlit.testing.v1 import AppTest

from tests.source import ROOT
from viz_core.i18n import LANGS, Lang, t
from viz_core.ui.registry import PAGES, PageInfo

pages = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.id)
both = pytest.mark.parametrize("lang", LANGS)


def opened(script: str, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / script), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


@pages
@both
def test_deep_link(page: PageInfo, lang: Lang) -> None:
    """A page script that runs without app.py brings the whole shell along."""
    at = opened(page.script, lang=lang)
    assert not at.exception
    assert at.header and t("workbench.title", lang) in at.sidebar.markdown[0].value


@pages
@both
def test_through_the_app(page: PageInfo, lang: Lang) -> None:
    at = opened("app.py", lang=lang)
    if page is not PAGES[0]:
        at.switch_page(page.script).run()
    assert not at.exception and at.header


@pages
def test_charts_have_alt_and_keys_are_unique(page: PageInfo) -> None:
    at = opened(page.script, lang="en")
    charts = [element.proto for element in at.get("plotly_chart")]
    assert all(chart.alt for chart in charts) if charts and hasattr(charts[0], "alt") else True
    keys = Counter(w.key for kind in ("button", "slider", "toggle", "selectbox", "text_area") for w in at.get(kind))
    assert all(n == 1 for key, n in keys.items() if key)


def test_language_switch_keeps_state() -> None:
    at = opened("pages/kv_cache.py", lang="en", prompt="hello there")
    at.session_state["language"] = "zh"
    at.query_params["lang"] = "zh"
    at.run()
    assert not at.exception
    assert at.sidebar.text_area[0].value == "hello there"


@pytest.mark.parametrize("prompt", [
    "", "   ", "x", "床" * 10_000, "\u202eabc", "<script>alert(1)</script>", "$x$ <b> `",
    "👨\u200d👩\u200d👧", "a\x00b\x07",
    "مرحبا",
])
@pages
def test_any_prompt(page: PageInfo, prompt: str) -> None:
    """Bad prompts get one sentence, odd ones are shown; nothing crashes and the page stays usable."""
    at = opened(page.script, lang="en")
    at.sidebar.text_area[0].set_value(prompt).run()
    assert not at.exception and at.header


@pytest.mark.parametrize("query", [{"scene": "nope"}, {"lang": "xx"}, {"seed": "1e9"}, {"model": "../../etc"},
                                   {"layer": "-1"}, {"prompt": "z:broken"}])
def test_odd_links_fall_back(query: dict[str, str]) -> None:
    for page in PAGES:
        at = opened(page.script, **query)
        assert not at.exception and at.header
