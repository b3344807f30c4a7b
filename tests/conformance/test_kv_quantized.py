"""SmolLM2 through a KV cache of 2 bits: the figures that the page quotes are computed again."""

from __future__ import annotations

from functools import cache

import pytest

from viz_core.model import get
from viz_core.model.kv_quantized import KvChoice, perplexity, reference
from viz_core.model.library import Model, held_out, load

fetched = pytest.mark.skipif(get.held("smollm2") is None, reason="SmolLM2 is not fetched")
CASES = sorted(reference().alone)


@cache
def smollm2() -> tuple[Model, list[int]]:
    model = load("smollm2")
    return model, model.encode(held_out("en"))


@fetched
def test_the_text_and_the_base_are_those() -> None:
    model, ids = smollm2()
    assert len(ids) == reference().tokens
    assert perplexity(model.llama, ids, KvChoice()) == pytest.approx(reference().base, rel=1e-3)


@fetched
@pytest.mark.parametrize(("side", "axis", "group"), CASES)
def test_one_side_alone(side: str, axis: str, group: int) -> None:
    """Within 3 %: two bits amplify the last places of float32, whose order of additions differs from machine to
    machine."""
    model, ids = smollm2()
    found = perplexity(model.llama, ids, reference().choice(side, axis, group))  # type: ignore[arg-type]
    assert found == pytest.approx(reference().alone[side, axis, group], rel=0.03)  # type: ignore[index]


def test_keys_want_channels_and_values_tokens() -> None:
    """At either group size, so that it is the axis and not the group."""
    alone, base = reference().alone, reference().base
    for group in (32, 64):
        assert base < alone["K", "channel", group] < 0.5 * alone["K", "token", group]
        assert base < alone["V", "token", group] < 0.5 * alone["V", "channel", group]
