"""What SmolLM2-135M's heads do, in bands: published phenomena that a wrong mask, rotation or head order would destroy.

Measured once over one 200-token text a language: previous-token head L16 H0 at 0.72 and 0.84, induction head L18 H6 at
0.89, mean sink 0.37 and 0.47, K outliers about 10 and V outliers about 2.5 times the median channel, and a window of 32
that loses most of the perplexity until one first token is kept. The bands are wide because the texts here are others.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from viz_core.i18n import LANGS, Lang
from viz_core.model import get, probes
from viz_core.model.capture import Capture
from viz_core.model.library import Model, held_out, load
from viz_core.model.streaming import perplexity

pytestmark = pytest.mark.skipif(get.held("smollm2") is None, reason="SmolLM2 is not fetched")


@cache
def smollm2() -> Model:
    return load("smollm2")


@pytest.mark.parametrize("lang", LANGS)
def test_heads_do_what_they_are_known_for(lang: Lang) -> None:
    model, capture = smollm2(), Capture()
    model.llama.forward(model.encode(held_out(lang))[:200], capture=capture, last_only=True)
    seen = probes.probe(capture)
    assert probes.best_place(seen.previous) == (16, 0) and seen.previous.max() > 0.6
    assert 0.25 < seen.sink.mean() < 0.65
    assert 7 < np.median(seen.k_outliers) < 14 and 1.5 < np.median(seen.v_outliers) < 4


def test_a_repeated_random_sequence_is_copied() -> None:
    found = probes.induction(smollm2().llama)
    assert probes.best_place(found.score) == (18, 6) and found.score.max() > 0.8
    assert found.copied > 0.5 and found.nll_second < found.nll_first / 3


def test_one_kept_token_saves_a_window() -> None:
    model = smollm2()
    ids = model.encode(held_out("en"))[:192]
    full, alone, kept = (perplexity(model.llama, ids, window=w, kept=k) for w, k in ((None, 0), (32, 0), (32, 1)))
    assert alone > 4 * full and kept < 1.5 * full
