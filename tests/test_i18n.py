"""The catalogue is whole: both languages, every key used, every used key there, the same placeholders."""

from __future__ import annotations

import ast
import re
from string import Formatter

import pytest

from tests import source
from viz_core.i18n import LANGS, Lang, Problem, as_lang, catalogue, fill, langs_agree, t, terms
from viz_core.trace_builder import TraceBuilder
from viz_core.trace_codec import decode, encode

HAN = re.compile(r"[\u4e00-\u9fff]")
OWN = {  # Han that is data, not a sentence: the names of the languages, the demo's tokens
    "viz_core/ui/language.py", "viz_core/model/seed_demo.py",
}


def fields(template: str) -> set[str]:
    return {name.split(".")[0].split("[")[0] for _, name, _, _ in Formatter().parse(template) if name is not None}


def test_both_languages_have_the_same_keys() -> None:
    assert langs_agree() == []


@pytest.mark.parametrize("key", sorted(catalogue("en")))
def test_placeholders_agree(key: str) -> None:
    assert fields(catalogue("zh")[key]) == fields(catalogue("en")[key])


def test_every_key_is_used() -> None:
    assert [key for key in catalogue("en") if not source.used(key)] == []


def test_every_named_key_exists() -> None:
    assert [(place, key) for place, key in source.named() if key not in catalogue("en")] == []


def test_no_chinese_outside_the_catalogue() -> None:
    found = [f"{path.relative_to(source.ROOT)}:{line}" for path, tree in source.trees().items()
             if str(path.relative_to(source.ROOT)) not in OWN
             for line, text in source.strings(tree) if HAN.search(text)]
    assert found == []


def test_no_sentence_outside_the_catalogue() -> None:
    """Nothing is shown through Streamlit that was typed into the code."""
    found = []
    for path, tree in source.trees().items():
        for node in ast.walk(tree):
            if (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                    and getattr(node.func.value, "id", "") == "st" and node.args
                    and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
                    and re.search(r"[A-Za-z]{2} [a-z]", node.args[0].value) and not node.args[0].value.startswith("<")):
                found.append(f"{path.relative_to(source.ROOT)}:{node.lineno}")
    assert found == []


@pytest.mark.parametrize("lang", LANGS)
def test_texts_are_tidy(lang: Lang) -> None:
    """No exclamation marks; Chinese sentences end in Chinese punctuation."""
    for key, text in catalogue(lang).items():
        assert "!" not in text and "！" not in text, key
        if lang == "zh" and HAN.search(text):
            assert not re.search(r"[\u4e00-\u9fff][,;:?](\s|$)", text), f"{key}: half-width punctuation in {text!r}"


def test_one_term_a_notion() -> None:
    """Chinese texts use the words of the table of terms, never their rivals."""
    texts = catalogue("zh")
    assert [(key, word) for key, text in texts.items() for term in terms() for word in term.avoid if word in text] == []


def test_messages_are_short() -> None:
    """With a number of four characters in each place."""
    for key in catalogue("en"):
        if key.startswith("scene.") and key.endswith(".message"):
            filled = {lang: re.sub(r"\{\w+\}", "0.00", catalogue(lang)[key]) for lang in LANGS}
            assert len(filled["en"]) <= 100 and len(filled["zh"]) <= 48, key


def test_problem_speaks_both_languages() -> None:
    problem = Problem("prompt_long", tokens=600, most=512)
    assert str(problem) == problem.text("en") and "600" in problem.text("zh")
    with pytest.raises(KeyError):
        t("no.such.key", "en")


@pytest.mark.parametrize(("code", "lang"), [
    ("zh-CN", "zh"), ("ZH_tw", "zh"), ("en-GB", "en"), ("de", "en"), (None, "en"),
])
def test_nearest_language(code: str | None, lang: Lang) -> None:
    assert as_lang(code) == lang


COUNTED = "block|byte|cell|head|key|layer|point|position|querie|request|row|score|slot|step|tile|token|value|weight"


def test_a_number_word_has_both_forms() -> None:
    """Wherever a count stands before its noun, English gives the form for one; sizes and the browser's own do not."""
    bare = re.compile(rf"\{{(?!file|request|size|name|model|tokenizer|to\b|x\b|y\b)(\w+)\}} (?:{COUNTED})s\b")
    left = {key: bare.findall(text) for key, text in catalogue("en").items() if bare.search(text)}
    assert not {key: names for key, names in left.items() if key not in ("player.a_frame", "player.several")}


@pytest.mark.parametrize(("n", "said"), [
    (1, "1 token is"), ("1", "1 token is"), (0, "0 tokens are"), ("1,001", "1,001 tokens are"),
])
def test_a_count_brings_its_form(n: object, said: str) -> None:
    assert fill("{n:token is|tokens are} left of {m:.1f}|", n=n, m=2) == f"{said} left of 2.0|"
    assert fill("|{n}|", n=n) == f"|{n}|"


def test_a_film_counts_as_the_page_does() -> None:
    builder = TraceBuilder()
    builder.lane("K", 1)
    for n in (1, 2):
        builder.step("figure.tokens", n=n)
    assert decode(encode(builder.build(), "en")).sentences("captions") == ["1 token", "2 tokens"]
