"""SmolLM2-135M-Instruct against torch 2.13 + transformers 5.24 in float32 on the same GGUF.

Skipped where the model was not fetched (`python -m viz_core.model.get smollm2`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_ways import projections

from viz_core.model import get
from viz_core.model.capture import Capture
from viz_core.model.generate import generate
from viz_core.model.library import Model, load
from viz_core.model.probes import induction, probe
from viz_core.model.streaming import perplexity
from viz_core.proofs.kv_cache import cached_equals_uncached

EVERY = 97
DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def model() -> Model:
    if get.held("smollm2") is None:
        pytest.skip("SmolLM2 is not in the cache folder: python -m viz_core.model.get smollm2")
    return load("smollm2")


@pytest.fixture(scope="module")
def vectors(cases: Path) -> Iterator[tuple[list[dict[str, Any]], Any]]:
    folder = cases / "model"
    if not (folder / "smollm2_reference.json").is_file():
        pytest.skip(f"no {folder}")
    with np.load(folder / "smollm2_reference.npz") as arrays:
        yield json.loads((folder / "smollm2_reference.json").read_text(encoding="utf-8")), arrays


def test_ids_logits_and_attention(
    model: Model, vectors: tuple[list[dict[str, Any]], Any], compared: Callable[[int], None]
) -> None:
    prompts, arrays = vectors
    for i, expected in enumerate(prompts):
        ids, capture = model.encode(expected["prompt"]), Capture()
        assert ids == expected["ids"]
        logits = model.llama.forward(ids, capture=capture)
        assert np.abs(logits[:, ::EVERY] - arrays[f"{i}.logits_every_97th"]).max() < 2e-4
        assert logits.argmax(1).tolist() == expected["argmax"]
        compared(2)
        for name in (n for n in arrays.files if n.startswith(f"{i}.attention.")):
            layer, head = map(int, name.split(".")[2:])
            assert np.abs(capture.head(layer, head).weights - arrays[name]).max() < 1e-4, name
            compared(1)


def test_greedy_text(model: Model, vectors: tuple[list[dict[str, Any]], Any], compared: Callable[[int], None]) -> None:
    for expected in vectors[0]:
        wanted = expected["greedy_24"]
        steps = islice(generate(model.llama, expected["ids"], len(wanted), ignore_eos=True), len(wanted))
        assert [step.token for step in steps] == wanted
        compared(1)


def test_counted_projections(model: Model, vectors: tuple[list[dict[str, Any]], Any]) -> None:
    ids = vectors[0][0]["ids"]
    ways = [list(generate(model.llama, ids, 24, cached=way, ignore_eos=True)) for way in (True, False)]
    assert [sum(s.counts.kv_projections for s in steps) for steps in ways] == [1680, 23760]
    assert [s.token for s in ways[0]] == [s.token for s in ways[1]]


def test_proofs_hold(model: Model, vectors: tuple[list[dict[str, Any]], Any]) -> None:
    ids = vectors[0][2]["ids"]
    assert cached_equals_uncached(model.llama, ids, 3).holds
    assert projections(model.llama, ids, 2).holds


@pytest.mark.parametrize(("lang", "previous", "sink"), [("en", 0.72, 0.37), ("zh", 0.84, 0.47)])
def test_heads_do_what_was_measured_on_other_texts(model: Model, lang: str, previous: float, sink: float) -> None:
    """Bands around another 200-token text of the same language: heads are steady, texts are not."""
    text = json.loads((DATA / "model" / "probe_texts.json").read_text(encoding="utf-8"))[lang]
    ids, capture = model.tokenizer.encode(text)[:200], Capture()
    model.llama.forward(ids, capture=capture)
    heads = probe(capture)
    assert len(ids) == 200
    assert heads.previous[16, 0] == heads.previous.max() == pytest.approx(previous, abs=0.08)
    assert heads.sink.mean() == pytest.approx(sink, abs=0.06)
    assert np.median(heads.k_outliers) == pytest.approx(10, abs=2)
    assert np.median(heads.v_outliers) == pytest.approx(2.3, abs=0.6)
    full, alone, kept = (perplexity(model.llama, ids, window=w, kept=k) for w, k in ((None, 0), (32, 0), (32, 1)))
    assert full < kept < 2 * full
    assert alone > 2 * kept


def test_the_induction_head_is_where_it_was_found(model: Model) -> None:
    found = induction(model.llama)
    assert found.score[18, 6] == found.score.max() == pytest.approx(0.89, abs=0.06)
    assert found.copied > 0.5
    assert found.nll_second < 0.5 * found.nll_first
