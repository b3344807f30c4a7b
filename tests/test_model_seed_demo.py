"""The five-token demo: its published figures, and the counts of longer runs."""

from __future__ import annotations

import numpy as np
import pytest

from viz_core.model.seed_demo import saved_share, seed_demo
from viz_core.proofs.kv_cache import demo_cached_equals_uncached


def test_the_published_figures() -> None:
    demo = seed_demo()
    expected = [0.2790, 0.1791, -0.2190, -0.0679, -0.1784]
    for way in ("out_uncached", "out_cached"):
        assert [round(float(getattr(s, way)[0]), 4) for s in demo.steps] == expected
    assert [s.projections_uncached for s in demo.steps] == [2, 4, 6, 8, 10]
    assert [s.projections_cached for s in demo.steps] == [2] * 5
    assert (demo.total_uncached, demo.total_cached) == (30, 10)
    assert round(100 * demo.saved) == 67


def test_both_versions_agree_to_the_last_bits() -> None:
    proof = demo_cached_equals_uncached(seed_demo())
    assert proof.holds
    assert 0 < proof.measured <= 2**-53  # 2**-54 on AVX-512 and AVX2 kernels: lossless, not bit-equal


def test_each_step_is_attention_over_the_tokens_so_far() -> None:
    demo = seed_demo()
    for i, step in enumerate(demo.steps):
        scores = demo.k[: i + 1] @ demo.q[i] / np.sqrt(8)
        weights = np.exp(scores) / np.exp(scores).sum()
        assert np.allclose(step.weights, weights, atol=1e-15)
        assert np.allclose(step.out_cached, weights @ demo.v[: i + 1], atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 5, 100, 198, 199])
def test_the_saved_share_is_counted(n: int) -> None:
    assert saved_share(n) == pytest.approx(1 - 2 / (n + 1))


def test_the_claim_of_99_per_cent() -> None:
    assert f"{saved_share(100):.1%}" == "98.0%"
    assert saved_share(198) < 0.99 <= saved_share(199)
