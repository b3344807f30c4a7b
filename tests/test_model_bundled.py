"""The bundled model against torch on the same float16 file, and what the first pages ask of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_ways import projections

from viz_core.i18n import Problem
from viz_core.model.capture import Capture
from viz_core.model.generate import generate
from viz_core.model.library import BUNDLED, Model, load, load_folder, names
from viz_core.proofs import kv_cache

DATA = Path(__file__).parent / "data"
LANGS = ("en", "zh")


@pytest.fixture(scope="module")
def model() -> Model:
    return load("bundled")


@pytest.fixture(scope="module")
def reference() -> Iterator[Any]:
    with np.load(DATA / "bundled_reference.npz") as arrays:
        yield arrays


def test_the_reference_was_made_from_these_weights() -> None:
    about = json.loads((DATA / "bundled_reference.json").read_text(encoding="utf-8"))
    assert hashlib.sha256((BUNDLED / "model.safetensors").read_bytes()).hexdigest() == about["model_sha256"]


@pytest.mark.parametrize("lang", LANGS)
def test_torch_gives_the_same(model: Model, reference: Any, lang: str) -> None:
    about = json.loads((DATA / "bundled_reference.json").read_text(encoding="utf-8"))
    ids = model.encode(about["prompts"][lang])
    assert ids == reference[f"{lang}_ids"].tolist()
    logits = model.llama.forward(ids)
    assert np.abs(logits[:, ::64] - reference[f"{lang}_logits"]).max() < 2e-4
    assert logits.argmax(1).tolist() == reference[f"{lang}_best"].tolist()
    steps = generate(model.llama, ids, 24, ignore_eos=True)
    assert [step.token for step in steps] == reference[f"{lang}_greedy"].tolist()


@pytest.mark.parametrize("lang", LANGS)
def test_the_pages_proofs_hold(model: Model, reference: Any, lang: str) -> None:
    ids, capture = reference[f"{lang}_ids"].tolist(), Capture()
    model.llama.forward(ids, capture=capture)
    for proof in (
        kv_cache.cached_equals_uncached(model.llama, ids),
        kv_cache.prefix_equals_full(model.llama, ids[:10], ids[10:]),
        kv_cache.batch_of_one(model.llama, ids, [ids[:3], ids[5:]]),
        kv_cache.rows_sum_to_one(capture),
        projections(model.llama, ids, 5),
    ):
        assert proof.holds, proof


@pytest.mark.parametrize("text", ["a", "我", "\x00\x07", "🙂‍↔️", "<script>", "$x$", "שלום", "\ud800", "</s>"])
def test_odd_prompts_are_computed(model: Model, text: str) -> None:
    step = next(generate(model.llama, model.encode(text), 1))
    assert np.isfinite([p for _, p in step.top]).all()


def test_prompts_that_do_not_fit_are_a_problem(model: Model) -> None:
    with pytest.raises(Problem, match="Shorten the prompt"):
        model.encode("我" * 10_000)
    with pytest.raises(Problem, match="empty"):
        model.encode("")


def test_a_whole_context_is_computed(model: Model) -> None:
    ids = [0, *range(100, 611)]
    assert np.isfinite(model.llama.forward(ids, last_only=True)).all()
    assert model.llama.config.context == len(ids) == 512


def test_damaged_weights_are_one_sentence(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((BUNDLED / name).read_bytes())
    weights = (BUNDLED / "model.safetensors").read_bytes()
    with pytest.raises(Problem, match="not there"):
        load_folder(tmp_path, "x")
    (tmp_path / "model.safetensors").write_bytes(weights[:-1000])
    with pytest.raises(Problem, match="cut off"):
        load_folder(tmp_path, "x")
    (tmp_path / "model.safetensors").write_bytes(weights[:-1000] + b"\xff" * 1000)
    with pytest.raises(Problem, match="not finite"):
        load_folder(tmp_path, "x")
    (tmp_path / "model.safetensors").write_bytes(weights)
    config = json.loads((BUNDLED / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"vocab_size": 100}))
    with pytest.raises(Problem, match="tokenizer"):
        load_folder(tmp_path, "x")


def test_names() -> None:
    assert names()[0] == "bundled"
    with pytest.raises(Problem, match="no model called"):
        load("gpt-5")
