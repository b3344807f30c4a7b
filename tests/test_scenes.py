"""Every scene × language: it builds, its texts are there, its proofs hold, its figures are light and described."""

from __future__ import annotations

import json
import re
from unicodedata import east_asian_width

import pytest

from tests.scenes import all_scenes, context
from viz_core.i18n import LANGS, Lang, catalogue, has
from viz_core.ui.controls import fixed
from viz_core.ui.params import Choice
from viz_core.ui.registry import PAGES
from viz_core.ui.scene import Bench, Scene, View
from viz_core.units import bound, percent

HEAVY = {"mosaic"}  # scenes whose one figure shows every head may weigh 1 MB
each = pytest.mark.parametrize("scene", all_scenes(), ids=lambda s: f"{s.page}.{s.id}")
both = pytest.mark.parametrize("lang", LANGS)


def texts(view: View, scene: Scene, lang: Lang) -> list[str]:
    """Every sentence of a view, filled in."""
    ctx = context(scene, lang)
    out = [ctx.t(f"{scene.table}.message", **view.facts)]
    if has(f"{scene.table}.notes"):
        out.append(ctx.t(f"{scene.table}.notes", **view.facts))
    if has(f"{scene.table}.said"):
        out.append(ctx.t(f"{scene.table}.said", **view.facts))
    out += [ctx.t(f"number.{n.key}", **n.params) for n in view.numbers]
    out += [ctx.t(f"proof.{p.name}", **p.params) for p in view.proofs]
    if view.question:
        question = view.question
        out.append(ctx.t(f"{scene.table}.question", **question.params))
        out.append(ctx.t(f"{scene.table}.answer", right=question.options[question.right], **question.params))
    return out


@each
@both
def test_scene_builds(scene: Scene, lang: Lang) -> None:
    view = scene.build(context(scene, lang))
    assert view.trace or view.plates, "a scene shows something"
    assert all(texts(view, scene, lang))
    assert all(p.holds for p in view.proofs), view.proofs
    for plate in view.plates:
        spec = plate.figure.to_json()
        assert len(plate.alt) > 10
        assert len(spec) < (1_000_000 if scene.id in HEAVY else 500_000)
        assert "NaN" not in json.dumps(json.loads(spec))
    if view.trace:
        assert view.trace.steps > 1 and 0 <= view.start < view.trace.steps


@each
def test_dark_and_narrow_build_too(scene: Scene) -> None:
    view = scene.build(context(scene, "zh", dark=True, narrow=True))
    assert view.trace or view.plates


@each
def test_every_option_has_a_name(scene: Scene) -> None:
    for param in fixed(scene.params, Bench("bundled", "a b c", 0)):
        assert has(f"control.{param.name}")
        if isinstance(param, Choice) and has(f"option.{param.name}.{param.options[0]}"):
            assert all(has(f"option.{param.name}.{code}") for code in param.options)


def test_scene_ids_are_unique() -> None:
    names = [(s.page, s.id) for s in all_scenes()]
    assert len(names) == len(set(names))
    assert {page for page, _ in names} == {p.id for p in PAGES}


def test_languages_differ_only_in_words() -> None:
    """Numbers and proofs of a scene do not depend on the language (with the same prompt and held-out text)."""
    for scene in all_scenes():
        if not scene.bench:
            zh, en = (scene.build(context(scene, lang, held_text="en")) for lang in LANGS)
            assert [n.value for n in zh.numbers] == [n.value for n in en.numbers]
            assert [p.measured for p in zh.proofs] == [p.measured for p in en.proofs]


def test_message_placeholders_are_facts() -> None:
    for scene in all_scenes():
        assert f"{scene.table}.title" in catalogue("en") and f"{scene.table}.message" in catalogue("en")


ONE_LINE = (390 - 32) / 16  # em that a phone's line has
TWO_LINES = {"fp8", "gptq", "groups", "histogram", "methods", "model", "outliers", "references", "table"}
"""Of the quantization page: messages of three numbers and more."""


def ems(text: str) -> float:
    """About how wide a text is drawn: a Hanzi one em, the rest 0.46, between an i and a digit."""
    return sum(1.0 if east_asian_width(c) in "WF" else 0.46 for c in text)


def lines(text: str) -> int:
    """How many lines a phone needs for a text, broken where it may break."""
    count, used = 1, 0.0
    for word in re.findall(r"[^ \u2e80-\uffef]+ ?|[\u2e80-\uffef][，。、；：）”！？]* ?| ", text):
        if used + ems(word.rstrip(" ")) > ONE_LINE:
            count, used = count + 1, 0.0
        used += ems(word)
    return count


@each
@both
def test_a_phone_shows_the_message_in_a_line_or_two(scene: Scene, lang: Lang) -> None:
    ctx = context(scene, lang, narrow=True)
    needed = lines(bound(ctx.t(f"{scene.table}.message", **scene.build(ctx).facts)))
    assert needed <= (1 if scene.page == "quantization" and scene.id not in TWO_LINES else 2)


@pytest.mark.parametrize(("text", "kept"), [
    ("output × 0.22, at 8.25 bits", "output ×_0.22, at_8.25_bits"), ("16.2 dB → 19.1 dB", "16.2_dB →_19.1_dB"),
    ("8.5 位 1.4\u202f%，4.5 位", "8.5_位 1.4\u202f%，4.5_位"), ("5 bitsandbytes, 3 k", "5 bitsandbytes, 3 k"),
    ("−∞ dB", "−∞_dB"), ("- 5 points\n- 3.1 GiB", "- 5 points\n- 3.1_GiB"), ("2 × (1 + 3/8)", "2 × (1 + 3/8)"),
])
def test_numbers_stay_with_their_signs_and_units(text: str, kept: str) -> None:
    assert bound(text) == kept.replace("_", "\u00a0") and bound(bound(text)) == bound(text)


def test_a_percentage_does_not_break() -> None:
    assert percent(0.905, 1) == "90.5\u202f%", "a narrow space at which no line ends"
