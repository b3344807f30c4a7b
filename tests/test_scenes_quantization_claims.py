"""Sentences of the quantization page name the format that their numbers are of, and turn with the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.test_quantizers_uploads import npy, upload
from tests.test_scenes_quantization import both, built
from viz_core.figures.numbers import spoken
from viz_core.i18n import Lang
from viz_core.model.kv_quantized import KvChoice
from viz_core.model.quantized_cache import Side
from viz_core.quantizers import remedies
from viz_core.quantizers.registry import FORMATS, symmetric
from viz_core.quantizers.snap import snapped
from viz_core.ui import quantizing, quantizing_kv, quantizing_model
from viz_core.ui.quantizing_methods import eased
from viz_core.ui.scene import Context, View
from viz_core.ui.scenes import (
    quant_block,
    quant_groups,
    quant_kv,
    quant_methods,
    quant_model,
    quant_outliers,
    quant_table,
)

__all__ = ["upload"]  # the fixture


@both
@pytest.mark.parametrize("source", ["ffn_in", "outliers", "one_sided"])
def test_the_table_s_sentences_name_formats_as_its_chart_does(source: str, lang: Lang) -> None:
    """Answer, reason and numbers are those of the points of these names: E4M3 is not E4M3 with a scale."""
    ctx, view = built(quant_table.SCENE, lang, source=source)
    assert view.table is not None and view.question is not None
    sqnr = dict(zip(view.table["format"], view.table["SQNR dB"], strict=True))
    right = view.question.options[view.question.right]
    other = view.question.options[1 - view.question.right]
    assert sqnr[right] > sqnr[other]
    said = ctx.t(f"{quant_table.SCENE.table}.question", **view.question.params)
    notes = ctx.t(f"{quant_table.SCENE.table}.notes", **view.facts)
    shown = {name: f"{quantizing.row(quantizing.Data(source), name).errors.sqnr:.1f} dB" for name in (right, other)}
    for name, decibels in shown.items():
        assert name in said and f"{name} {'reaches' if lang == 'en' else '是'} {decibels}" in notes
    assert {n.params["name"]: n.value for n in view.numbers} == shown


@both
@pytest.mark.parametrize(("layer", "matrix", "met"), [("0", "down", False), ("0", "qkv", True)])
def test_hqq_s_aim_is_said_to_be_met_only_where_it_is(layer: str, matrix: str, met: bool, lang: Lang) -> None:
    place = {"method": "hqq", "method_layer": layer, "matrix": matrix, "held_text": lang}
    ctx, view = built(quant_methods.SCENE, lang, **place)
    ratio = eased(lang, int(layer), matrix, "hqq", 4, 0.5).detail  # type: ignore[arg-type]
    assert (ratio < 1) == met
    notes = ctx.t(f"{quant_methods.SCENE.table}.notes", **view.facts)
    words = {"en": ("mean falls: ×", "does not fall"), "zh": ("均值变小：×", "没有变小")}[lang]
    assert (words[0] in notes, words[1] in notes) == (met, not met) and f"× {ratio:.3g}" in notes
    _, other = built(quant_methods.SCENE, lang, **place | {"method": "awq"})
    assert other.facts["aim"] == ""


@both
@pytest.mark.parametrize("name", ["E4M3", "int8 row", "Q4_0"])
def test_a_loss_that_falls_is_not_said_to_rise(name: str, lang: Lang) -> None:
    ctx, view = built(quant_model.SCENE, lang, held_text=lang, model_format=name)
    added = quantizing_model.model_row("bundled", name, lang).damage.added
    notes = ctx.t(f"{quant_model.SCENE.table}.notes", **view.facts)
    sign = "+" if added > 0 else "−"
    assert f"{ {'en': 'changes by', 'zh': '损失变化'}[lang]} {sign}{abs(added):.3f} ± " in notes
    assert "rises" not in notes and "增加" not in notes


def test_a_change_of_the_loss_has_its_sign() -> None:
    assert [quant_model.signed(x) for x in (0.0123, -0.0041, 0.0001, -0.0001)] == ["+0.012", "−0.004", "0.000", "0.000"]


def six_sigma(x: np.ndarray) -> np.ndarray:
    """By the definition, in float64: values farther than six standard deviations from the mean."""
    centred = x.astype(np.float64) - np.mean(x, dtype=np.float64)
    return np.abs(centred) > 6 * np.sqrt(np.mean(centred**2))


@both
@pytest.mark.parametrize("remedy", ["rotate", "split", "block"])
@pytest.mark.parametrize("source", ["ffn_out", "normal", "outliers"])
def test_outliers_are_spoken_of_where_there_are_some(source: str, remedy: str, lang: Lang) -> None:
    """How many rows are stretched and how many columns kept apart is counted again here."""
    ctx, view = built(quant_outliers.SCENE, lang, source=source, remedy=remedy)
    said = ctx.t(f"{quant_outliers.SCENE.table}.message", **view.facts)
    far = six_sigma(quantizing.tensor(quantizing.Data(source)).reshape(-1, 128))
    assert (source == "normal") == (not far.any())
    if remedy == "split":
        columns = int(far.any(axis=0).sum())
        assert (str(columns) in said and "128" in said) if columns else ("none" in said or "没有列" in said)
    elif far.any():
        assert f"{far.any(axis=1).sum():,}" in said and f"{len(far):,}" in said
    else:
        assert "No outlier" in said or "没有离群值" in said
    if source == "normal" and remedy == "split":
        table = view.table
        assert table is not None and table["SQNR dB"][0] == table["SQNR dB"][1]
        assert table[""][1] == {"en": "nothing apart", "zh": "没有另存"}[lang]
    assert all(part in said for part in view.numbers[0].value.split(" → "))
    assert len(said) <= {"en": 90, "zh": 60}[lang]


@pytest.mark.parametrize("value", [0.3, -7.0, 0.0, 1e30])
def test_equal_values_have_no_outlier(value: float) -> None:
    x = np.full((8, 128), value, np.float32)
    assert not remedies.outliers(x).any()
    seen, after = remedies.treat(x, "split", 4)
    assert np.array_equal(seen, x) and np.array_equal(after, symmetric(4, "row").round(x))


@both
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_columns_kept_apart_can_overflow_fp16_and_say_so(lang: Lang, upload) -> None:  # noqa: ANN001
    """Without a warning of NumPy's; the loss has no end, and the values are counted."""
    x = (0.02 * np.random.default_rng(0).standard_normal((64, 128))).astype(np.float32)
    x[3, 5], x[9, 70] = 1e9, -1e9
    file = upload("w.npy", npy(x))
    ctx, view = built(quant_outliers.SCENE, lang, remedy="split", **file)
    assert {"en": "overflow FP16: 2 values are lost", "zh": "溢出 FP16：2 个值丢失"}[lang] in (view.notice or "")
    assert view.numbers[0].value.endswith("−∞ dB") and view.table is not None and view.table["SQNR dB"][1] is None
    assert "2" in ctx.t(f"{quant_outliers.SCENE.table}.message", **view.facts)
    small = upload("w.npy", npy(np.where(np.abs(x) > 1, 1e-3, 1e-9 * np.sign(x)).astype(np.float32)))
    _, view = built(quant_outliers.SCENE, lang, remedy="split", **small)
    assert {"en": "126 became zero", "zh": "126 个变成零"}[lang] in (view.notice or "")


def details(ctx: Context, view: View) -> str:
    return ctx.t(f"{quant_block.SCENE.table}.notes", **view.facts)


@both
def test_a_tensor_smaller_than_a_block_is_spoken_of_as_it_is(lang: Lang, upload) -> None:  # noqa: ANN001
    """One value: Q4_0 does not fit and is named, is asked nothing of, and no sentence is about it."""
    ctx, view = built(quant_block.SCENE, lang, **upload("w.npy", npy(np.array([0.7], np.float32))))
    notes = details(ctx, view)
    left_out = {"en": "than there are here (1): Q4_0.", "zh": "只有 1 个值，不够这些格式的一块，略去：Q4_0。"}
    drawn = {"en": "Weights drawn: 1; weights that the errors count: 1.", "zh": "画了 1 个权重，误差按全部 1 个"}
    assert left_out[lang] in (view.notice or "") and view.question is None
    assert "Q4_0" not in notes and "int8 row" in notes and "0.7" in notes
    assert drawn[lang] in notes
    assert [n.params["name"] for n in view.numbers] == ["int8 row", "NF4"]


@both
@pytest.mark.parametrize("family", quant_block.FAMILY.options)
def test_the_block_s_details_are_about_formats_that_are_shown(family: str, lang: Lang) -> None:
    """The weight of largest magnitude and the ends of the points are those of the named format's own block."""
    ctx, view = built(quant_block.SCENE, lang, family=family, block=5)
    assert view.table is not None
    shown, notes = view.table["format"], details(ctx, view)
    first = "Q4_0" if "Q4_0" in shown else shown[0]
    assert (view.question is not None) == ("Q4_0" in shown) and first in notes
    assert ("NF4" in notes) == ("NF4" in shown) and all(n.params["name"] in shown for n in view.numbers)
    pair = quantizing.pair(quantizing.Data("ffn_in"), first)
    if pair.after.scale is None:
        return
    at = 5 * quant_block.PER
    block = snapped(pair.before, pair.after, pair.after.layout.place(at)[0])
    extreme = float(block.before[np.abs(block.before).argmax()])
    assert spoken(extreme) in notes
    if first == "Q4_0":
        assert spoken(abs(float(np.float16(extreme / 8)))) in notes
    else:
        assert spoken(float(block.points[0])) in notes and spoken(float(block.points[-1])) in notes


@both
def test_a_block_without_points_of_its_own_says_why(lang: Lang, upload) -> None:  # noqa: ANN001
    weights = np.random.default_rng(0).standard_normal((4, 32)).astype(np.float32)
    for size, word in ((1e9, {"en": "overflows", "zh": "溢出"}), (1e-9, {"en": "underflows to 0", "zh": "下溢成 0"})):
        _, view = built(quant_block.SCENE, lang, **upload("w.npy", npy(weights * np.float32(size))))
        assert word[lang] in str(view.facts["shown"]) and "Q4_0" in str(view.facts["shown"])


@both
def test_the_table_names_what_does_not_fit(lang: Lang, upload) -> None:  # noqa: ANN001
    """Of 100 values the formats with blocks of 128 or 256 that must be whole are left out, and named."""
    ctx, view = built(quant_table.SCENE, lang, **upload("w.npy", npy(np.linspace(-1, 1, 100, dtype=np.float32))))
    assert view.table is not None
    gone = set(quantizing.COMPARED) - set(view.table["format"])
    assert gone == {n for n in quantizing.COMPARED if FORMATS[n].multiple > 100} and "Q6_K" in gone
    assert ctx.t("quant.too_small", n=100, names=ctx.listed(n for n in quantizing.COMPARED if n in gone)) in (
        view.notice or "")
    assert view.question is None and "–" not in str(view.facts["reached"])


@pytest.mark.parametrize("bits", [2, 4])
def test_by_token_a_group_is_no_longer_than_a_head(bits: int) -> None:
    """What the capped side says of itself is what the longer one does: the same values, the same bytes."""
    x = np.random.default_rng(0).standard_normal((2, 40, 32)).astype(np.float32)
    asked, real = Side(bits, "token", 64), Side(bits, "token", 64).within(32)
    assert real == Side(bits, "token", 32) and Side(bits, "channel", 64).within(32).group == 64
    assert np.array_equal(asked.stored(x), real.stored(x)) and asked.token_bits(32) == real.token_bits(32)
    assert not np.array_equal(Side(bits, "channel", 64).stored(x), Side(bits, "channel", 32).stored(x))


@both
def test_groups_longer_than_a_head_are_named_and_compared_alike(lang: Lang) -> None:
    """The bundled model's heads are 32 wide: V by token in groups of 64 is V in groups of 32, which is said."""
    ctx, view = built(quant_kv.SCENE, lang, v_group="64", k_group="64", layer=0, head=0, held_text="en")
    said = {"en": "so V has groups of 32, not of 64.", "zh": "V 每组是 32 个，不是 64 个。"}[lang]
    assert said in (view.notice or "") and "K" not in (view.notice or ""), "K is by channel, where 64 are 64"
    notes = ctx.t(f"{quant_kv.SCENE.table}.notes", **view.facts)
    alone = {"en": "of 32: K by channel {}, K by token {}; in groups of 32: V by channel {}, V by token {}. Axis",
             "zh": "每组 32 个：K 按通道 {}，按词元 {}；每组 32 个：V 按通道 {}，按词元 {}。两者只差方向"}[lang]
    runs = [KvChoice(**{side: Side(2, axis, 32)}) for side in "kv" for axis in quant_kv.AXES]
    assert alone.format(*(f"{quantizing_kv.kv_perplexity('en', run):.2f}" for run in runs)) in notes
    _, view = built(quant_kv.SCENE, lang, layer=0, head=0, held_text="en", v_group="16")
    assert view.notice is None and (view.facts["k_alone"], view.facts["v_alone"]) == (32, 16)
    wide = quant_kv.capped(ctx, KvChoice(Side(2, "token", 64), Side(16, "token", 64)), (64, 32))
    said = {"en": "of the bundled model, has K in groups of 32", "zh": "自带模型，K 每组是 32 个"}[lang]
    assert len(wide) == 1 and said in wide[0]


@both
def test_the_axis_is_not_all_that_differs_where_newest_tokens_stay(lang: Lang) -> None:
    _, view = built(quant_kv.SCENE, lang, layer=0, head=0, held_text="en", kv_recent="32")
    assert "R = 32" in str(view.facts["differs"])


@both
@pytest.mark.parametrize(("source", "width"), [("ffn_in", 384), ("normal", 0)])
def test_blocks_that_end_with_their_row_are_said_to(source: str, width: int, lang: Lang) -> None:
    """At the largest block int4's scale costs what it costs on rows of that length: 16 bits for each row of 384."""
    ctx, view = built(quant_groups.SCENE, lang, source=source, group="512")
    notes = ctx.t(f"{quant_groups.SCENE.table}.notes", **view.facts)
    assert (f" {width} " in notes) == bool(width)
    assert f"{16 / (width or 512):.3g} " in notes and f"{32 / 512:.3g}" in notes
