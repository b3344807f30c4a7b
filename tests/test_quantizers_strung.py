"""Rows that are no whole blocks: what is said of them, and how a language lists the formats."""

from __future__ import annotations

import numpy as np
import pytest

from tests.scenes import context
from viz_core.i18n import LANGS, Lang, listed, t
from viz_core.ui.quantizing_strung import strung
from viz_core.ui.scenes import quant_block

SHOWN: dict[str, tuple[list[str], dict[Lang, str]]] = {
    "none": (["NF4", "int8 row"], {"en": "", "zh": ""}),
    "one alone": (["Q4_0"], {lang: t("quant.strung", lang, width="100", block=32, format="Q4_0") for lang in LANGS}),
    "one of three": (["NF4", "Q4_0", "int8 row"], {
        "en": "Rows of 100 are strung together for Q4_0 (blocks of 32), so that they are whole blocks; in NF4 and int8"
              " row they stay as they are.",
        "zh": "每行 100 个值凑不成 Q4_0（每块 32 个）的整块，于是把各行首尾相接；NF4 和 int8 row 的行保持原样。"}),
    "two of three": (["Q4_0", "NF4", "Q4_K"], {
        "en": "Rows of 100 are strung together for Q4_0 (blocks of 32) and Q4_K (blocks of 256), so that they are whole"
              " blocks; in NF4 they stay as they are. What does not fill a block at the end is left out; values: 4 in"
              " Q4_0 and 132 in Q4_K.",
        "zh": "每行 100 个值凑不成 Q4_0（每块 32 个）和 Q4_K（每块 256 个）的整块，于是把各行首尾相接；"
              "NF4 的行保持原样。末尾不满一块的值没有计入：Q4_0 4 个和 Q4_K 132 个。"}),
    "all": (["Q4_0", "Q8_0", "Q4_0"], {
        "en": "Rows of 100 are strung together for Q4_0 (blocks of 32) and Q8_0 (blocks of 32), so that they are whole"
              " blocks.",
        "zh": "每行 100 个值凑不成 Q4_0（每块 32 个）和 Q8_0（每块 32 个）的整块，于是把各行首尾相接。"}),
    "many": (["NF4", "Q4_0", "Q8_0", "Q4_K", "int8 row"], {
        "en": "Rows of 100 are strung together for 3 of 5 formats, so that they are whole blocks.",
        "zh": "5 种格式中有 3 种，每行 100 个值凑不成整块，于是把各行首尾相接。"}),
}  # fmt: skip


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("case", SHOWN)
def test_the_formats_whose_rows_are_strung_are_named(case: str, lang: Lang) -> None:
    names, said = SHOWN[case]
    rows = {"two of three": 9, "many": 64}.get(case, 8)
    found = strung(context(quant_block.SCENE, lang), np.zeros((rows, 100), np.float32), names)
    assert (" " if lang == "en" else "").join(found) == said[lang]


def test_left_over_values_are_counted_once_where_one_number_says_it() -> None:
    ctx = context(quant_block.SCENE, "en")
    assert strung(ctx, np.zeros((1, 37), np.float32), ["Q4_0", "NF4"])[-1] == t("quant.left_over", "en", n="5")
    many = strung(ctx, np.zeros((3, 100), np.float32), ["Q4_0", "Q8_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K"])[-1]
    assert many == t("quant.left_over_most", "en", n="44"), "300 = 256 + 44 = 9 · 32 + 12"
    said = strung(ctx, np.zeros((3, 100), np.float32), ["Q4_0", "Q8_0"])[-1]
    assert said.endswith("values: 12 in Q4_0 and 12 in Q8_0.")


@pytest.mark.parametrize("lang", LANGS)
def test_a_list_is_joined_as_the_language_joins_it(lang: Lang) -> None:
    assert [listed("abc"[:n], lang) for n in range(4)] == {
        "en": ["", "a", "a and b", "a, b and c"], "zh": ["", "a", "a 和 b", "a、b 和 c"]}[lang]  # fmt: skip
