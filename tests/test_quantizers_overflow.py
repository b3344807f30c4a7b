"""A format that destroys values is never called perfect: they are counted, named and ranked last.

So are those that fell to a scale of 0, which is no clipping and no reason to praise another format.
"""

import numpy as np
import pytest

from tests.scenes import all_scenes, context
from tests.test_quantizers_uploads import npy, upload
from viz_core.i18n import LANGS, Lang
from viz_core.quantizers.compare import compare, quantize_any
from viz_core.quantizers.errors import Errors, errors, fates
from viz_core.quantizers.overflow import Lost, lost
from viz_core.quantizers.registry import FORMATS
from viz_core.quantizers.samples import sample
from viz_core.quantizers.snap import in_steps, snapped
from viz_core.quantizers.underflow import Sunk, sunk
from viz_core.ui import quantizing, quantizing_data
from viz_core.ui.quantizing import COMPARED
from viz_core.ui.scene import Scene
from viz_core.ui.scenes.quant_block import FAMILY
from viz_core.ui.scenes.quant_table import beaten

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
        assert any(word in (view.notice or "") for word in ("are lost", "丢失")), (name, view.notice)
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


TINY = (5e-8 * np.random.default_rng(0).standard_normal((64, 256))).astype(np.float32)
MIXED = np.where(np.arange(64)[:, None] % 3, HUGE / 1e7, 1e9 * np.sign(HUGE)).astype(np.float32)


@pytest.mark.parametrize("name", ["Q4_0", "Q8_0", "int4 g64", "uint4 g64", "Q4_K", "Q6_K", "NVFP4 (GGUF)"])
def test_a_scale_that_falls_to_zero_takes_its_values_along(name: str) -> None:
    """By definition: blocks with a value other than 0 and a scale of 0, whose values all became zero."""
    x, q = quantize_any(TINY, FORMATS[name])
    grid = "UE4M3" if name == "NVFP4 (GGUF)" else "FP16"
    assert sunk(x, q) == Sunk(int((x != 0).sum()), "zero", grid) and not q.values.any()
    assert not fates(x, q).clipped.any() and not snapped(x, q, 0).clipped.any() and lost(x, q) is None
    assert not compare(TINY, [FORMATS[name]])[0].whole


@pytest.mark.parametrize("name", ["Q4_1", "KIVI4 g32"])
def test_with_an_offset_they_become_the_minimum(name: str) -> None:
    x, q = quantize_any(TINY, FORMATS[name])
    assert q.offset is not None
    assert np.array_equal(q.layout.split(q.values), np.broadcast_to(q.offset.values.reshape(-1, 1), (512, 32)))
    assert sunk(x, q) == Sunk(int((x != q.values).sum()), "offset", "FP16") and not fates(x, q).clipped.any()


def test_a_scale_without_a_reciprocal_is_named() -> None:
    """1e-39 · normal in E4M3 with one scale: 1 / scale is beyond float32, while no value is large."""
    x, q = quantize_any(sample("normal") * np.float32(1e-39), FORMATS["E4M3 tensor"])
    assert lost(x, q) == Lost(int((~np.isfinite(q.values)).sum()), "reciprocal", "FP32") and np.isfinite(q.steps).all()


def test_a_scale_of_zero_that_nothing_needs_loses_nothing() -> None:
    """Blocks of zeros, equal values above an offset, and sub-scales that are rounded beside a larger one."""
    for name, x in (("Q4_0", np.zeros((2, 32))), ("Q4_1", np.full((2, 32), 0.3)), ("uint4 g64", np.zeros((2, 64)))):
        values, q = quantize_any(x.astype(np.float32), FORMATS[name])
        assert not q.steps.all() and sunk(values, q) is None and not fates(values, q).clipped.any(), name
    x, q = quantize_any(sample("outliers"), FORMATS["Q2_K"])
    assert not q.steps.all() and sunk(x, q) is None
    for name in COMPARED:
        assert all(sunk(*quantize_any(sample(source), FORMATS[name])) is None for source in ("ffn_in", "normal"))


@pytest.mark.parametrize("name", ["E5M2", "E4M3", "BitNet", "NVFP4 one level"])
def test_where_no_value_reaches_the_next_point_all_are_lost(name: str) -> None:
    x, q = quantize_any(TINY, FORMATS[name])
    assert sunk(x, q) == Sunk(int((x != 0).sum()), "all") and not q.values.any()
    assert sunk(np.zeros_like(x), FORMATS[name].quantize(np.zeros_like(x))) is None


@pytest.mark.parametrize("lang", LANGS)
def test_every_scene_names_a_scale_that_fell_to_zero(lang: Lang, upload) -> None:  # noqa: ANN001
    values = upload("w.npy", npy(TINY))
    said = {"en": "In Q4_0 the scale underflows FP16 to 0: 16,384 values became zero.",
            "zh": "Q4_0 的缩放因子下溢 FP16，成了 0：16,384 个值变成零。"}[lang]
    for name in ("histogram", "steps", "block", "bits"):
        view = scene(name).build(context(scene(name), lang, format="Q4_0", layout="Q4_0", **values))
        assert said in (view.notice or ""), (name, view.notice)
        assert not [n.value for n in view.numbers if n.key.startswith("quant_clipped") and not n.value.startswith("0")]
    view = scene("table").build(context(scene("table"), lang, **values))
    assert view.table is not None and view.question is None, "Q6_K lost its values: no reason would be the right one"
    listed = (view.notice or "").split({"en": "a scale underflows to 0", "zh": "缩放因子下溢成 0"}[lang])[1]
    rows = {name: quantizing.row(quantizing_data.chosen(context(scene("table"), lang, **values), few=True), name)
            for name in COMPARED}
    assert {name for name in ("Q8_0", "Q6_K", "int8 g64") if name in listed} == {"Q8_0", "Q6_K", "int8 g64"}
    assert all(name in (view.notice or "") for name in ("E4M3, E5M2", "BitNet") if lang == "en")
    pair = beaten(list(rows), list(rows.values()))
    assert pair is not None and all(rows[name].whole for name in pair)
    assert all(name in str(view.facts["verdict"]) for name in pair)


@pytest.mark.parametrize("lang", LANGS)
def test_where_some_values_are_lost_no_sentence_contradicts_another(lang: Lang, upload) -> None:  # noqa: ANN001
    """One format is spoken of as one, its SQNR is −∞ dB wherever it stands, and no claim about it gets a tick."""
    values = upload("w.npy", npy(MIXED))
    gone = int((~np.isfinite(FORMATS["Q4_0"].quantize(MIXED).values)).sum())
    assert 0 < gone < MIXED.size
    for name in ("block", "steps", "histogram"):
        view = scene(name).build(context(scene(name), lang, format="Q4_0", block=0, **values))
        said = view.notice or ""
        assert {"en": "In Q4_0 the scale overflows FP16: ", "zh": "Q4_0 的缩放因子溢出 FP16："}[lang] in said
        assert f"{gone:,}" in said and "no SQNR" not in said
        assert not view.proofs[0].holds and view.proofs[0].name in ("on_points", "half_a_step")
    block = scene("block").build(context(scene("block"), lang, **values))
    assert block.plates[0].alt.count("−∞ dB") == 1
    table = scene("table").build(context(scene("table"), lang, **values))
    assert "−∞ dB" in (table.notice or "")
    for family in FAMILY.options:
        view = scene("block").build(context(scene("block"), lang, family=family, **values))
        assert view.table is not None
        whole = all(np.isfinite(FORMATS[name].quantize(MIXED).values).all() for name in view.table["format"])
        assert view.proofs[0].holds == whole, "no tick where one of the formats shown lost values"
