"""A public demo: one environment variable takes away paths and downloads, caps what a reader may ask, and says so."""

from __future__ import annotations

import threading

import pytest

from tests.test_pages import opened
from viz_core.i18n import Problem, t
from viz_core.ui import models, runs
from viz_core.ui.hosted import HOSTED, LOCAL, limits
from viz_core.ui.runs import Spec


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERSIGHT_HOSTED", "1")


def test_local_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INFERSIGHT_HOSTED", raising=False)
    assert limits() == LOCAL and models.PATH in models.options()


@pytest.mark.usefixtures("hosted")
def test_only_the_bundled_model() -> None:
    assert limits() == HOSTED and models.options() == ("bundled",)
    with pytest.raises(Problem):
        models.load("path@float32:/etc")


@pytest.mark.usefixtures("hosted")
@pytest.mark.parametrize(("named", "told"), [("path", 1), ("bundled", 0)])
def test_a_link_to_a_model_that_is_not_offered_says_so(named: str, told: int) -> None:
    at = opened("pages/kv_cache.py", lang="en", scene="run", model=named)
    assert not at.exception
    assert [x.value for x in at.toast] == [t("workbench.model_missing", "en", name=named)] * told


@pytest.mark.usefixtures("hosted")
def test_privacy_line_and_caps() -> None:
    at = opened("pages/kv_cache.py", lang="en", scene="run", model="path", path="/etc", steps="200")
    assert not at.exception
    assert any(t("workbench.privacy", "en") in c.value for c in at.sidebar.caption)
    assert at.sidebar.text_area[0].proto.max_chars == HOSTED.prompt_chars
    assert not at.sidebar.text_input
    assert max(s.max for s in at.slider if s.key.endswith("steps")) <= HOSTED.new_tokens


@pytest.mark.usefixtures("hosted")
def test_few_generations_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every place taken a further reader gets a sentence; a finished run still shows; a freed place serves."""
    monkeypatch.setattr(runs, "PATIENCE", 0.05)
    done = Spec("bundled", "In the beginning", 3, 1, True)
    assert len(runs.steps(done)) == 3
    places = runs._desk(limits().runs).places
    taken = [places.acquire(blocking=False) for _ in range(limits().runs)]
    assert all(taken)
    try:
        with pytest.raises(Problem, match="few seconds"):
            runs.steps(Spec("bundled", "And God said", 3, 1, True))
        assert len(runs.steps(done)) == 3
    finally:
        for _ in taken:
            places.release()
    assert len(runs.steps(Spec("bundled", "And God said", 3, 1, True))) == 3


def test_a_stopped_generation_goes_on_where_it_stood() -> None:
    spec = Spec("bundled", "And the king", 6, 2, True)

    class Stop(Exception):
        pass

    def stop(done: int) -> None:
        if done == 2:
            raise Stop

    with pytest.raises(Stop):
        runs.steps(spec, stop)
    seen: list[int] = []
    steps = runs.steps(spec, seen.append)
    assert [s.index for s in steps] == list(range(6)) and seen == [3, 4, 5, 6]
    assert [s.reused for s in steps][1:] == [s.length - 1 for s in steps][1:], "the cache was kept too"


def test_two_readers_of_one_run_share_it() -> None:
    spec, out = Spec("bundled", "Blessed are", 8, 3, True), []
    threads = [threading.Thread(target=lambda: out.append(runs.steps(spec))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(out) == 4 and all(steps == out[0] for steps in out)
