"""Hostile and control files: each gets the verdict of the manifest, in a plain sentence, within a second or two.

accept: opened without a remark. warn: opened, with a remark. reject: a Problem, in both languages. A room that reads
files adds its judge to JUDGES under the prefix of its cases.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from viz_core.i18n import LANGS, Problem
from viz_core.model.gguf import open_gguf
from viz_core.model.gguf_model import remarks
from viz_core.model.safetensors import open_safetensors
from viz_core.model.shards import read_index
from viz_core.model.tensorfile import value_notes
from viz_core.quantizers.tensor import read_npy


def judge_safetensors(path: Path) -> list[object]:
    """Open the file and read every tensor; → the remarks."""
    file = open_safetensors(path)
    return [*file.notes, *(note for name in file for note in value_notes(name, file.read(name)))]


def judge_index(path: Path) -> list[object]:
    read_index(path)
    return []


def judge_gguf(path: Path) -> list[object]:
    file = open_gguf(path)
    values = () if file.swapped else ((name, file.read(name)) for name in file)
    return [*file.notes, *remarks(file), *(note for name, read in values for note in value_notes(name, read))]


def judge_npy(path: Path) -> list[object]:
    read_npy(path.read_bytes())
    return []


JUDGES: dict[str, Callable[[Path], list[object]]] = {
    "st_index": judge_index,
    "st_": judge_safetensors,
    "gg_": judge_gguf,
    "np_": judge_npy,
}


def judge_of(name: str) -> Callable[[Path], list[object]] | None:
    return next((judge for prefix, judge in JUDGES.items() if name.startswith(prefix)), None)


def verdict(path: Path) -> str:
    judge = judge_of(path.name)
    assert judge is not None
    try:
        remarks = judge(path)
    except Problem as problem:
        assert all(len(problem.text(lang)) > 10 for lang in LANGS)
        return "reject"
    assert all(len(remark.text(lang)) > 10 for remark in remarks for lang in LANGS)  # type: ignore[attr-defined]
    return "warn" if remarks else "accept"


def test_every_verdict(cases: Path, compared: Callable[[int], None]) -> None:
    manifest = cases / "hostile" / "manifest.json"
    if not manifest.is_file():
        pytest.skip(f"no {manifest}")
    wrong = {}
    for case in json.loads(manifest.read_text(encoding="utf-8")):
        if judge_of(case["file"]) is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = verdict(cases / "hostile" / case["file"])
        compared(1)
        if got != case["verdict"]:
            wrong[case["file"]] = (got, case["verdict"], case["what"])
    assert not wrong
