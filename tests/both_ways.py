"""Run a generation with and without its cache and claim what the page claims."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.model.generate import generate
from viz_core.model.llama import Llama
from viz_core.proofs import Proof
from viz_core.proofs.kv_cache import projections_match_formula


def projections(model: Llama, ids: Sequence[int], n: int) -> Proof:
    """The counted K/V projections of n new tokens, both ways, against the formulas."""
    cached, uncached = (list(generate(model, ids, n, cached=way, ignore_eos=True)) for way in (True, False))
    return projections_match_formula(len(model.config.layers), len(ids), cached, uncached)
