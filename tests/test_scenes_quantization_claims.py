"""Sentences of the quantization page name the format that their numbers are of, and turn with the numbers."""

from __future__ import annotations

import pytest

from tests.test_scenes_quantization import both, built
from viz_core.i18n import Lang
from viz_core.ui import quantizing, quantizing_model
from viz_core.ui.quantizing_methods import eased
from viz_core.ui.scenes import quant_methods, quant_model, quant_table


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
