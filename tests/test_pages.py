"""Every page × language through Streamlit's own test runner, opened through the app and by its own deep link."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.scenes import all_scenes
from tests.source import ROOT
from viz_core.i18n import LANGS, Lang, t
from viz_core.model.library import BUNDLED
from viz_core.ui.page import shared
from viz_core.ui.registry import PAGES, PageInfo

pages = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.id)
both = pytest.mark.parametrize("lang", LANGS)


def opened(script: str, **query: str) -> AppTest:
    """The app as a link opens it at one page."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    at.switch_page(script)
    return at.run()


@pages
@both
def test_page_in_both_languages(page: PageInfo, lang: Lang) -> None:
    at = opened(page.script, lang=lang)
    assert not at.exception
    titles = {t(f"{scene.table}.title", lang) for scene in all_scenes() if scene.page == page.id}
    assert at.header[0].value in titles and t("workbench.title", lang) in at.sidebar.markdown[0].value


@pages
def test_script_without_the_app_brings_the_shell(page: PageInfo) -> None:
    at = AppTest.from_file(str(ROOT / page.script), default_timeout=60).run()
    assert not at.exception and at.header and at.sidebar.text_area


@pages
def test_charts_have_alt_and_keys_are_unique(page: PageInfo) -> None:
    at = opened(page.script, lang="en")
    assert all(len(element.proto.alt) > 20 for element in at.get("plotly_chart"))
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
    scene = next((s.id for s in all_scenes() if s.page == page.id and s.bench), None)
    if scene is None:
        pytest.skip("no scene of this page depends on the prompt")
    at = opened(page.script, lang="en", scene=scene)
    at.sidebar.text_area[0].set_value(prompt).run()
    assert not at.exception and at.header
    said = [w.value for w in at.warning]
    if not prompt.strip():
        assert said == [t("problem.prompt_empty", "en")]
    elif len(prompt) > 1000:
        assert len(said) == 1 and "512" in said[0]
    else:
        assert said == []
    assert at.metric, "the figure and its numbers stand"


@pytest.mark.parametrize("tokens", [510, 511, 512])
@pytest.mark.parametrize(("page", "scene"), [("kv_cache", "run"), ("kv_cache", "growth"), ("kv_cache", "phases"),
                                             ("home", "axes"), ("home", "way"), ("attention", "head")])
def test_a_prompt_that_fills_the_context(page: str, scene: str, tokens: int) -> None:
    """With no room for two new tokens the scenes that write say so; the others show the prompt."""
    at = opened(f"pages/{page}.py", lang="en", scene=scene, prompt="我" * (tokens - 1))
    assert not at.exception
    writes = scene in ("run", "growth", "phases", "axes")
    assert bool(at.warning) == (writes and tokens == 512)


def test_a_bad_path_leaves_the_prompt_alone() -> None:
    at = opened("pages/attention.py", lang="zh", model="path", path="/nonexistent", prompt="光阴")
    assert not at.exception and len(at.warning) == 1
    assert any("光阴" in text.value for text in at.text), "what is on screen is said"


def test_a_long_prompt_is_not_lost() -> None:
    at = opened("pages/attention.py", lang="en")
    at.sidebar.text_area[0].set_value("我" * 60_000).run()
    assert not at.exception and len(at.warning) == 1
    assert at.sidebar.text_area[0].value == "我" * 60_000


@pytest.mark.parametrize("query", [{"scene": "nope"}, {"lang": "xx"}, {"seed": "1e9"}, {"model": "../../etc"},
                                   {"layer": "-1"}, {"prompt": "z:broken"}])
def test_odd_links_fall_back(query: dict[str, str]) -> None:
    for page in PAGES:
        at = opened(page.script, **query)
        assert not at.exception and at.header


def walk(at: AppTest, scene: str) -> AppTest:
    """To another scene of the page."""
    at.query_params["scene"] = scene
    return at.run()


def value(at: AppTest, name: str) -> object:
    """What the control of that name holds in the scene that is shown."""
    kinds = ("selectbox", "slider", "button_group", "select_slider", "toggle")
    return next(w.value for kind in kinds for w in at.get(kind) if (w.key or "").endswith(f".{name}"))


CHOICES = {"source": "outliers", "block": "9", "format": "NF4", "layer": "2", "head": "3", "block_size": "8",
           "head_width": "128", "steps": "3", "method_layer": "2", "matrix": "o", "held_text": "zh", "join": "False"}


@pages
def test_a_walk_past_a_scene_brings_every_shared_control_back(page: PageInfo) -> None:
    """From each scene through all others of the page and back, the link still says what was chosen there."""
    of_page = [scene for scene in all_scenes() if scene.page == page.id]
    common = shared(of_page)
    if not common:
        pytest.skip("the scenes of this page share no control")
    for first in of_page:
        names = [p.name for p in first.params if p.name in common and p.name in CHOICES]
        at = opened(page.script, lang="en", scene=first.id, **{name: CHOICES[name] for name in names})
        before = {name: at.query_params.get(name) for name in names}
        other = next((s for s in of_page if not {p.name for p in s.params} & set(names)), None)
        if other is None:
            continue
        walk(at, other.id)
        assert not at.exception
        walk(at, first.id)
        assert {name: at.query_params.get(name) for name in names} == before, first.id


def test_what_a_scene_hides_survives_another_page() -> None:
    at = opened("pages/quantization.py", lang="en", scene="bits", source="outliers", block="9")
    walk(at, "float")
    at.query_params.clear()  # as a change of page does
    at.switch_page("pages/attention.py").run()
    at.query_params.clear()
    at.switch_page("pages/quantization.py").run()
    walk(at, "bits")
    assert value(at, "source") == "outliers" and value(at, "block") == 9


def test_a_default_that_was_chosen_is_not_the_default_of_another_scene() -> None:
    """`outliers` opens with other weights than the rest of the page; who chose them there sees them everywhere."""
    at = opened("pages/quantization.py", lang="en", scene="outliers", source="normal")
    chosen = next(w for w in at.selectbox if (w.key or "").endswith(".source"))
    chosen.set_value("ffn_out").run()
    walk(at, "table")
    assert value(at, "source") == "ffn_out"
    walk(at, "float")
    walk(at, "outliers")
    assert value(at, "source") == "ffn_out"


def test_back_undoes_a_choice_in_a_scene_that_hides_it() -> None:
    at = opened("pages/quantization.py", lang="en", scene="float", source="outliers")
    assert at.query_params["source"] in ("outliers", ["outliers"])
    del at.query_params["source"]  # as Back does
    at.run()
    walk(at, "bits")
    assert value(at, "source") == "ffn_in"


@pytest.mark.parametrize("what", ["nothing", "empty", "torn", "other", "missing"])
def test_a_model_that_cannot_be_read(what: str, tmp_path: Path) -> None:
    """One plain sentence that names what is wrong; the page goes on with the last model that worked."""
    folder = tmp_path / "model"
    if what != "missing":
        shutil.copytree(BUNDLED, folder, ignore=shutil.ignore_patterns("training"))
    weights = folder / "model.safetensors"
    if what == "nothing":
        weights.unlink()
    elif what == "empty":
        weights.write_bytes(b"")
    elif what == "torn":
        weights.write_bytes(weights.read_bytes()[:100_000])
    elif what == "other":
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"model_type": "mamba"}))
    at = opened("pages/attention.py", lang="zh", model="path", path=str(folder))
    assert not at.exception and at.metric
    assert len(at.warning) == 1 and re.search(r"[\u4e00-\u9fff].*。", at.warning[0].value)
    assert what != "other" or "mamba" in at.warning[0].value
