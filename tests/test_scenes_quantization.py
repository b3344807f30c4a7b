"""What the quantization page says follows from its numbers, whichever way they turn out."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.scenes import context
from viz_core.figures.numbers import spoken
from viz_core.i18n import LANGS, Lang, has
from viz_core.proofs.proof import at_most, nothing_left, of_all
from viz_core.proofs.quantizers import GGML_BYTES, ggml_bytes
from viz_core.quantizers.gptq import half_steps, nearest
from viz_core.quantizers.registry import FORMATS
from viz_core.quantizers.scoreboard import scoreboard
from viz_core.ui import quantizing, quantizing_model
from viz_core.ui.controls import fixed
from viz_core.ui.render import proof_line
from viz_core.ui.scene import Bench, Context, Scene, View
from viz_core.ui.scenes import (
    quant_block,
    quant_float,
    quant_fp8,
    quant_gptq,
    quant_groups,
    quant_histogram,
    quant_methods,
    quant_model,
    quant_outliers,
    quant_scoreboard,
    quant_table,
)

both = pytest.mark.parametrize("lang", LANGS)


def built(scene: Scene, lang: Lang = "en", **values: object) -> tuple[Context, View]:
    ctx = context(scene, lang, **values)
    return ctx, scene.build(ctx)


def message(scene: Scene, lang: Lang = "en", **values: object) -> str:
    ctx, view = built(scene, lang, **values)
    return ctx.t(f"{scene.table}.message", **view.facts)


@pytest.mark.parametrize(("source", "winner"), [("ffn_in", "Q6_K"), ("outliers", "E4M3 tensor")])
def test_the_answer_gives_the_reason_of_the_winner(source: str, winner: str) -> None:
    ctx, view = built(quant_table.SCENE, source=source)
    question = view.question
    assert question is not None and question.options[question.right] == winner
    said = ctx.t(f"{quant_table.SCENE.table}.answer", right=winner, **question.params)
    assert "1.44 further bits" in said and ("Block scales" in said) == (winner == "Q6_K")
    rows = {name: quantizing.row(quantizing.Data(source), name) for name in quant_table.PAIR}
    assert all(f"{row.errors.sqnr:.1f} dB" in said for row in rows.values())


def test_the_message_names_a_pair_that_contradicts_the_bits() -> None:
    _, view = built(quant_table.SCENE)
    assert view.table is not None
    columns = (view.table[key] for key in ("format", "bits", "SQNR dB"))
    table = {name: pair for name, *pair in zip(*columns, strict=True)}
    rows = [quantizing.row(quantizing.Data("ffn_in"), name) for name in table]
    found = quant_table.beaten(tuple(table), rows)
    assert found is not None
    (fewer, high), (more, low) = (table[name] for name in found)
    assert fewer < more and high > low
    assert quant_table.beaten(["a"], rows[:1]) is None


@both
def test_every_column_of_the_table_has_a_name(lang: Lang) -> None:
    ctx, view = built(quant_table.SCENE, lang)
    assert view.table is not None and all(has(f"column.{name}") for name in view.table)
    assert ctx.column("clipped") == {"en": "clipped", "zh": "截断"}[lang] and ctx.column("any name") == "any name"


@pytest.mark.parametrize(("layer", "word"), [("0", "less than nearest"), ("1", "more than nearest")])
def test_gptq_says_whether_the_other_text_gains(layer: str, word: str) -> None:
    ctx, view = built(quant_gptq.SCENE, held_text="en", method_layer=layer, matrix="down")
    notes = ctx.t(f"{quant_gptq.SCENE.table}.notes", **view.facts)
    assert word in notes and (float(str(view.facts["unseen"])) > 1) == (word == "more than nearest")
    assert "÷" not in notes


@pytest.mark.parametrize("group", [None, 32])
def test_nearest_stays_within_half_a_step(group: int | None) -> None:
    w = np.random.default_rng(0).standard_normal((64, 8)).astype(np.float32)
    away, half = np.abs(nearest(w, 3, group) - w), half_steps(w, 3, group)
    assert (away <= half * (1 + 1e-5) + 1e-7).all() and (away > 0.9 * half).any()
    assert len(np.unique(half[:, 0])) == (2 if group else 1)


def test_fp8_says_what_each_remedy_does() -> None:
    """Where block scales make it worse, the message says so: 256 tokens of width 128."""
    ctx, view = built(quant_fp8.SCENE, fp8_tokens="256", fp8_width="128")
    rmse = quantizing_model.fp8(256, 128, 0).rmse
    said = ctx.t(f"{quant_fp8.SCENE.table}.message", **view.facts)
    for name, word in (("block", "block scales"), ("rotated", "rotation"), ("both", "both")):
        assert f"{word} × {rmse[name] / rmse['tensor']:.2f}" in said
    assert rmse["block"] > rmse["tensor"]


def test_the_model_s_message_is_made_of_its_table() -> None:
    ctx, view = built(quant_model.SCENE, held_text="en")
    said, table = ctx.t(f"{quant_model.SCENE.table}.message", **view.facts), view.table
    assert table is not None
    share = dict(zip(table["format"], table["first choice changed"], strict=True))
    assert all(f"{100 * share[name]:.1f}" in said for name in ("Q8_0", "Q4_0", "uint2 g64"))


def test_outliers_and_methods_say_their_numbers() -> None:
    _, view = built(quant_outliers.SCENE)
    assert all(part in message(quant_outliers.SCENE) for part in view.numbers[0].value.split(" → "))
    _, view = built(quant_methods.SCENE)
    said = message(quant_methods.SCENE)
    assert f"other text × {view.numbers[2].value[:-1]}" in said
    assert [quant_methods.verdict(*pair) for pair in ((0.5, 0.5), (0.5, 2), (2, 0.5), (2, 2))] == [
        "gains", "fitted", "unfitted", "loses"]  # fmt: skip


def test_nf4_s_codes_are_not_used_equally_often() -> None:
    """The shares that the notes give are those of the codes on normal weights: far from a sixteenth each."""
    _, view = built(quant_block.SCENE, source="normal")
    said = str(view.facts["shown"])
    codes = FORMATS["NF4"].quantize(quantizing.tensor(quantizing.Data("normal"))).codes
    share = np.bincount(codes.reshape(-1), minlength=16) / codes.size
    assert f"here {100 * share.min():.1f}\u202f% to {100 * share.max():.1f}\u202f% of the weights" in said
    assert share.max() > 4 * share.min()


@both
def test_the_held_out_text_is_the_reader_s(lang: Lang) -> None:
    for scene in (quant_model.SCENE, quant_gptq.SCENE, quant_methods.SCENE):
        found = {p.name: p.default for p in fixed(scene.params, Bench("bundled", "a", 0, lang))}
        assert found["held_text"] == lang


def test_a_cut_quote_is_marked() -> None:
    assert quant_model.tail("short") == "short"
    assert quant_model.tail("x" * 50 + "word " * 30).startswith("…") and quant_model.tail("a" * 200).endswith("aaa")


def test_two_formats_show_both_their_numbers() -> None:
    _, view = built(quant_histogram.SCENE, format="Q4_0", other="NF4")
    named = [(number.key, number.params.get("name")) for number in view.numbers]
    for name in ("Q4_0", "NF4"):
        row = quantizing.row(quantizing.Data("ffn_in"), name)
        assert {("quant_sqnr", name), ("quant_zeroed", name), ("quant_clipped_all", name)} <= set(named)
        assert f"{row.errors.sqnr:.1f} dB" in [number.value for number in view.numbers]
    holds, fails = at_most("on_points", 0.5, 1), at_most("on_points", 2, 1)
    assert of_all([holds, fails]) == fails and of_all([holds]) == holds
    empty = nothing_left("on_points")
    assert of_all([empty, holds]) is empty, "what one format lost is not made good by the other"
    assert of_all([empty, fails]) == fails


@pytest.mark.parametrize(("kind", "said"), [("E4M3", "448"), ("E2M1", "6"), ("E5M2", "∞"), ("FP16", "∞")])
def test_saturation_is_within_reach(kind: str, said: str) -> None:
    """At the control's end every short float is beyond its largest number; what then happens is that format's rule."""
    ctx, view = built(quant_float.SCENE, float_format=kind, float_place=quant_float.VALUE.high)
    assert view.numbers[0].value == said == view.facts["beyond"]
    assert f"twice that becomes {said} here" in ctx.t(f"{quant_float.SCENE.table}.notes", **view.facts)
    ends = view.plates[1].figure.layout.xaxis.range
    assert ends[1] > quant_float.value_at(quant_float.VALUE.high) > quant_float.GRIDS[kind].top


def test_positions_are_values_on_both_sides_of_zero() -> None:
    values = [quant_float.value_at(place) for place in range(-224, 225)]
    assert values == sorted(values) and values[224] == 0 and values[0] == -values[-1]
    assert 2 < quant_float.value_at(quant_float.VALUE.default) < 2.5


@both
def test_the_best_known_formats_are_named_on_the_chart(lang: Lang) -> None:
    """And every family has an entry in the legend, with the hue and shape of its points."""
    _, view = built(quant_table.SCENE, lang)
    points, *families = view.plates[0].figure.data
    assert {"Q4_0", "Q4_K", "Q8_0", "Q6_K", "NVFP4"} <= set(points.text)
    drawn = set(zip(points.marker.color, points.marker.symbol, strict=True))
    assert drawn == {(trace.marker.color, trace.marker.symbol) for trace in families} and len(families) == 6
    assert view.opened and all(trace.name for trace in families)


@both
def test_the_proof_of_ggml_s_bytes_counts_the_types_it_ran(lang: Lang) -> None:
    names = list(GGML_BYTES)[:3]
    for proof, count in ((ggml_bytes(names), 3), (quantizing.ggml_proof(), len(GGML_BYTES))):
        line = proof_line(proof, context(quant_table.SCENE, lang))
        assert proof.holds and f"{count} {'GGUF' if lang == 'en' else '种 GGUF'}" in line


@both
@pytest.mark.parametrize("kind", quant_float.GRIDS)
def test_every_number_of_a_float_is_written_out(kind: str, lang: Lang) -> None:
    """No power in e, thousands apart, no ∞ = ∞ and no −0 = …; the largest number as it is."""
    for place in (*range(-224, 225, 16), 0, 223):
        ctx, view = built(quant_float.SCENE, lang, float_format=kind, float_place=place)
        said = [ctx.t(f"{quant_float.SCENE.table}.{part}", **view.facts) for part in ("message", "notes")]
        for text in (*said, *(number.value for number in view.numbers)):
            assert not re.search(r"\de[+-]|(?<![.\d])\d{5}|∞ = |−?\b0 = |inf|nan", text), text
    assert view.numbers[2].value == spoken(float(quant_float.GRIDS[kind].top))


@pytest.mark.parametrize(("kind", "part"), [("E2M1", "1 fraction bit halves"), ("E4M3", "3 fraction bits divide")])
def test_one_bit_is_no_bits(kind: str, part: str) -> None:
    ctx, view = built(quant_float.SCENE, float_format=kind)
    assert part in ctx.t(f"{quant_float.SCENE.table}.notes", **view.facts)


def test_a_file_s_type_is_named_once_and_both_kinds_have_a_key() -> None:
    """On the scoreboard: the plain file's name where there is one, else the best file's; the others in the hover."""
    rows = list(scoreboard())
    at = quant_scoreboard.named(rows)
    assert sorted(row.name for row in at) == sorted({row.name for row in rows})
    for row in at:
        same = [one for one in rows if one.name == row.name]
        plain = [one for one in same if one.imatrix is None]
        assert row in (plain or [min(same, key=lambda one: one.kl)])
    ctx, view = built(quant_scoreboard.SCENE)
    figure = view.plates[0].figure
    shown = [name for trace in figure.data for name in (trace.text or ()) if name]
    assert len(shown) == len(set(shown))
    keys = {trace.name for trace in figure.data if trace.showlegend is not False}
    assert keys == {ctx.t("quant.plain_file"), ctx.t("quant.imatrix_file")}
    _, view = built(quant_scoreboard.SCENE, imatrix=False)
    assert {t.name for t in view.plates[0].figure.data if t.showlegend is not False} == {ctx.t("quant.plain_file")}


@pytest.mark.parametrize("measure", quant_model.MEASURE.options)
def test_a_bar_that_is_cut_is_marked_and_hovers_with_its_number(measure: str) -> None:
    _, view = built(quant_model.SCENE, damage=measure)
    figure = view.plates[1].figure
    lengths, words = np.array(figure.data[0].x), [float(re.sub(r"</?b>|\u202f%", "", text).replace("−", "-"))
                                                  for text in figure.data[0].text]
    real = np.array(words) / (100 if measure == "flips" else 1)
    cut = np.flatnonzero(lengths < real - 0.001)
    assert len(cut) == 1 and len(figure.layout.shapes) == 1
    assert f" {figure.data[0].text[cut[0]][3:-4]}<extra>" in figure.data[0].hovertemplate[cut[0]]
    assert "%{x" in figure.data[0].hovertemplate[0]


def test_every_column_of_the_groups_has_a_heading() -> None:
    _, view = built(quant_groups.SCENE, "zh")
    assert view.table is not None and all(has(f"column.{name}") for name in view.table)
