"""Every label case: pieces as a tokenizer gives them, against the visible form they must have on an axis."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from viz_core.figures.labels import OPENING, labels, plot_text, tick_text
from viz_core.figures.visible import visible


def test_every_case_is_shown_as_expected(cases: Path, compared: Callable[[int], None]) -> None:
    file = cases / "token_labels.json"
    if not file.exists():
        pytest.skip(f"no {file.name} in this folder")
    for case in json.loads(file.read_text(encoding="utf-8")):
        if case["display"] is None:  # 4,096 tokens: refused by the heatmap, see test_figures_heatmap.py
            continue
        scheme, pieces = case["scheme"], case["pieces"]
        assert [visible(piece, scheme) for piece in pieces] == case["display"], case["id"]
        made = labels(pieces, scheme, "en")
        assert list(made.texts) == case["display"], case["id"]
        for text, hover in zip(made.texts, made.hovers, strict=True):
            (text + hover + tick_text(text)).encode("utf-8")  # a lone surrogate would break the websocket
            assert html.unescape(plot_text(text)) == text
            assert not {"<", "$"} & set(plot_text(text))
            assert tick_text(text).startswith(OPENING) != tick_text(text).isascii()
        compared(max(1, len(pieces)))
