"""Every scene × language: it builds, its texts are there, its proofs hold, its figures are light and described."""

from __future__ import annotations

import json

import pytest

from tests.scenes import all_scenes, context
from viz_core.i18n import LANGS, Lang, catalogue, has
from viz_core.ui.controls import fixed
from viz_core.ui.params import Choice
from viz_core.ui.registry import PAGES
from viz_core.ui.scene import Bench, Scene, View

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
