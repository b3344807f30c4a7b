"""A format that destroys values is never called perfect: they are counted, named and ranked last."""

import numpy as np
import pytest

from tests.scenes import all_scenes, context
from tests.test_quantizers_uploads import npy, upload
from viz_core.i18n import LANGS, Lang
from viz_core.quantizers.compare import compare, quantize_any
from viz_core.quantizers.errors import Errors, errors
from viz_core.quantizers.overflow import Lost, lost
from viz_core.quantizers.registry import FORMATS
from viz_core.quantizers.snap import in_steps, snapped
from viz_core.ui.quantizing import COMPARED
from viz_core.ui.scene import Scene

__all__ = ["upload"]  # the fixture
HUGE = np.random.default_rng(1).integers(-(10**7), 10**7, (64, 256)).astype(np.float32)


def scene(name: str) -> Scene:
    return next(s for s in all_scenes() if (s.page, s.id) == ("quantization", name))


def test_a_lost_value_is_an_endless_error() -> None:
    assert errors(np.array([1.0, 2.0]), np.array([1.0, np.inf])) == Errors(np.inf, np.inf, -np.inf, 0.0)
    assert errors(np.array([1.0, np.nan]), np.array([1.0, np.nan])).sqnr == np.inf, "was not finite before"


@pytest.mark.parametrize(("name", "part", "grid"), [
    ("Q4_0", "scale", "FP16"), ("Q5_0", "scale", "FP16"), ("Q4_K", "offset", "FP16"),
    ("uint4 g64", "scale", "FP16"), ("FP16", "value", "FP16"),
])  # fmt: skip
def test_what_overflowed_is_named(name: str, part: str, grid: str) -> None:
    x, q = quantize_any(HUGE, FORMATS[name])
    found = lost(x, q)
    assert found == Lost(int((~np.isfinite(q.values)).sum()), part, grid) and found.count > 0  # type: ignore[arg-type]


def test_an_offset_can_overflow_alone() -> None:
    """One block of 32 whose least value is beyond FP16 while its range is small."""
    x = np.linspace(-70000, -69000, 32, dtype=np.float32)[None]
    assert lost(*quantize_any(x, FORMATS["Q4_1"])) == Lost(32, "offset", "FP16")


def test_it_starts_where_the_scale_leaves_fp16() -> None:
    """65,520 rounds to infinity in FP16, and Q4_0's scale is an eighth of the extreme."""
    below, above = (np.full((1, 32), 8 * np.float32(s), np.float32) for s in (65519, 65520))
    assert lost(*quantize_any(below, FORMATS["Q4_0"])) is None
    assert lost(*quantize_any(above, FORMATS["Q4_0"])) == Lost(32, "scale", "FP16")


@pytest.mark.parametrize("name", FORMATS)
def test_infinitely_good_is_only_what_is_equal(name: str) -> None:
    """∞ dB where every value came back, −∞ where one was lost, and never a NaN between."""
    for x in (HUGE, np.float32(3e38) * np.sign(HUGE), HUGE / 1e7):
        shaped, q = quantize_any(x, FORMATS[name])
        (row,) = compare(x, [FORMATS[name]])
        assert (row.errors.sqnr == np.inf) == np.array_equal(shaped, q.values)
        assert (row.lost is not None) == (not np.isfinite(q.values).all())
        assert row.lost is None or row.errors.sqnr == -np.inf
        assert not np.isnan([row.errors.rmse, row.errors.maximum, row.errors.cosine]).any()
        formulas = [snapped(shaped, q, 0).formula(i) for i in range(min(12, q.layout.block))]
        assert not [text for text in formulas if "nan" in text or "inf" in text]


def test_nothing_is_measured_in_an_infinite_step() -> None:
    x, q = quantize_any(np.stack([HUGE[0, :32], HUGE[0, :32] / 1e7]), FORMATS["Q4_0"])
    assert np.isnan(in_steps(x, q)[0]).all() and np.isfinite(in_steps(x, q)[1]).all()


@pytest.mark.parametrize("lang", LANGS)
def test_every_scene_says_it(lang: Lang, upload) -> None:  # noqa: ANN001
    values = upload("w.npy", npy(HUGE))
    for name in ("histogram", "steps", "block", "table", "groups"):
        view = scene(name).build(context(scene(name), lang, format="Q4_0", **values))
        assert any(word in (view.notice or "") for word in ("lose values", "are lost", "丢失")), (name, view.notice)
        assert not [n for n in view.numbers if n.value == "∞ dB"], (name, view.numbers)
    one = scene("histogram").build(context(scene("histogram"), lang, format="Q4_0", **values))
    assert "16,384" in (one.notice or "") and one.proofs[0].empty
    assert [n.value for n in one.numbers if n.key == "quant_sqnr"] == ["−∞ dB"]
    table = scene("table").build(context(scene("table"), lang, **values)).table
    assert table is not None
    blank = [value is None for value in table["SQNR dB"]]
    destroyed = {name for name in COMPARED if not np.isfinite(quantize_any(HUGE, FORMATS[name])[1].values).all()}
    assert {name for name, gone in zip(table["format"], blank, strict=True) if gone} == destroyed
    assert len(destroyed) > 20 and blank == sorted(blank), "those that lost values stand last"
