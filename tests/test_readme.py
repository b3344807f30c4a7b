"""The READMEs say what is true: pages, formats, vectors, commands, pictures."""

from __future__ import annotations

import re

import pytest

from tests.conformance.test_paging import NAMES as VECTORS
from tests.source import ROOT
from viz_core.i18n import t
from viz_core.quantizers.registry import FORMATS
from viz_core.ui.registry import PAGES

FILES = {"en": "README.md", "zh": "README.zh-CN.md"}
both = pytest.mark.parametrize(("lang", "name"), FILES.items())


@both
def test_every_page_is_described(lang: str, name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert [p.id for p in PAGES if f"| {t(f'page.{p.id}.title', lang)} |" not in text] == []  # type: ignore[arg-type]


@both
def test_numbers_are_counted(lang: str, name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.search(rf"vLLM 0\.33\.0 .*?{len(VECTORS)}", text)
    assert re.search(rf"\b{len(FORMATS)} (formats|种格式)", text)


@both
def test_pictures_and_links_exist(lang: str, name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_both_have_the_same_commands() -> None:
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in FILES.values()]
    blocks = [re.findall(r"```sh\n(.*?)```", text, re.S) for text in texts]
    assert blocks[0] == blocks[1] and len(blocks[0]) == 2
