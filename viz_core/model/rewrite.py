"""A second text for comparison: the first one with a single token replaced by what the model expected in its place."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.i18n import Problem
from viz_core.model.library import Model

TRIED = 50  # likeliest tokens that are tried at a position


def one_changed(model: Model, ids: Sequence[int]) -> str:
    """A text that encodes to `ids` but for one token two thirds into it, the likeliest other one that fits.

    Problem where no single token can be replaced so, as in a text of one token.
    """
    n = len(ids)
    for at in [*range(max(1, 2 * n // 3), n), *range(2 * n // 3 - 1, 0, -1)][:8]:
        logits = model.llama.forward(ids[:at], last_only=True)[0]
        for token in (-logits).argsort()[:TRIED].tolist():
            other = [*ids[:at], token, *ids[at + 1 :]]
            text = model.tokenizer.decode(other)
            new = token != ids[at] and not model.tokenizer.is_special(token)
            if new and text.strip() and model.tokenizer.encode(text) == other:
                return text
    raise Problem("model_no_other_text")
