"""Half a step and the rounding of the scale: on every shipped tensor in every format, at any size, and not more."""

import numpy as np
import pytest

from tests.scenes import all_scenes, context
from viz_core.i18n import LANGS, Lang
from viz_core.proofs.quantizers import half_a_step, on_points
from viz_core.quantizers.allowance import allowance
from viz_core.quantizers.compare import quantize_any
from viz_core.quantizers.ggml import HALF
from viz_core.quantizers.overflow import lost
from viz_core.quantizers.registry import FORMATS, symmetric
from viz_core.quantizers.samples import SAMPLES, sample
from viz_core.ui.render import proof_line


@pytest.mark.parametrize("source", SAMPLES)
@pytest.mark.parametrize("name", FORMATS)
def test_half_a_step_on_every_shipped_tensor(name: str, source: str) -> None:
    found = half_a_step(*quantize_any(sample(source), FORMATS[name]))
    assert found.holds and 0 <= found.measured <= 1


@pytest.mark.parametrize("size", [1e-42, 1e-39, 1e-8, 1e-6, 1e4])
@pytest.mark.parametrize("name", FORMATS)
def test_half_a_step_at_any_size(name: str, size: float) -> None:
    """Down to numbers without a reciprocal in float32, of whose blocks nothing is claimed; not where some are lost."""
    x, q = quantize_any(sample("normal") * np.float32(size), FORMATS[name])
    found = half_a_step(x, q)
    assert found.holds or found.empty if lost(x, q) is None else not found.holds


@pytest.mark.parametrize("name", ["NF4", "NF4 double", "Q4_0", "Q4_K", "KIVI4 g32", "HQQ4 g64", "int8 row", "NVFP4"])
def test_half_a_step_is_a_bound_that_breaks(name: str) -> None:
    """A value pushed on by a full step more is found; and the bound is no more than a fifth above what is reached."""
    x, q = quantize_any(sample("ffn_in"), FORMATS[name])
    assert half_a_step(x, q).measured > 0.8
    allowed = allowance(x, q)
    i, k = np.unravel_index(np.nanargmin(allowed), allowed.shape)
    moved = q.layout.split(x).copy()
    near = np.float32(moved[i, k] + 2.1 * allowed[i, k] * (1 if moved[i, k] < q.points(int(i)).mean() else -1))
    moved[i, k] = near
    assert not half_a_step(q.layout.join(moved), q).holds


def test_the_step_is_the_stored_one_and_what_it_was_rounded_by() -> None:
    """By hand: FP16 stores a scale of 1.0006 as 1 + 2⁻¹⁰; level 7 then stands 7 times that distance higher."""
    x = np.zeros((1, 64), np.float32)
    x[0, :2] = [7.5 * 1.0006, 3.0]
    q = symmetric(4, 64, scale=HALF).quantize(x)
    used, stored = 1.0006, 1 + 2**-10
    assert q.steps.tolist() == [stored]
    allowed = allowance(x, q)
    for k, level in ((0, 7), (1, 3)):
        assert allowed[0, k] == pytest.approx(max(used, stored) / 2 + level * abs(used - stored), abs=1e-5)


@pytest.mark.parametrize("lang", LANGS)
def test_a_claim_about_no_value_gets_no_tick(lang: Lang) -> None:
    """Scales beyond FP16 leave infinities alone: neither claim has a value to be about, and says so."""
    x, q = quantize_any(np.full((2, 64), 1e7, np.float32), FORMATS["Q4_0"])
    assert not np.isfinite(q.values).any()
    for proof in (on_points(q), half_a_step(x, q)):
        assert proof.empty and not proof.holds
        line = proof_line(proof, context(all_scenes()[0], lang))
        assert "material/check" not in line and "material/close" not in line and "nan" not in line
    some = x.copy()
    some[0, :32] = np.linspace(-1, 1, 32)
    for proof in (half_a_step(*quantize_any(some, FORMATS["Q4_0"])), on_points(FORMATS["Q4_0"].quantize(some))):
        assert not proof.holds and not proof.empty and proof.measured == np.inf, "no tick over values that are lost"
