"""Formats are not ranked on weights that came out of such a format, scene by scene and tensor by tensor."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.scenes import all_scenes, context
from tests.test_model_gguf import packed, text
from tests.test_quantizers_uploads import ODD, safetensors, upload
from viz_core.i18n import LANGS, Lang
from viz_core.model.stored import stored_types, type_of
from viz_core.quantizers.registry import FORMATS
from viz_core.ui import quantizing_data
from viz_core.ui.quantizing_data import Before, Data, notice, ranked, stored_as
from viz_core.ui.scene import Context, Scene, View
from viz_core.ui.scenes.quant_block import FAMILY

__all__ = ["upload"]  # the fixture
MODEL, MATRIX, NORM = "bundled@int8", "model.layers.0.mlp.up_proj.weight", "model.norm.weight"
LIKE_8 = [name for name, form in FORMATS.items() if abs(form.code_bits - 8) < 1]


def scene(name: str) -> Scene:
    return next(s for s in all_scenes() if (s.page, s.id) == ("quantization", name))


def context_of(name: str, lang: Lang, source: str, upload: Any, **values: object) -> Context:
    """The scene on FP8 weights of a file, or on a matrix of a model that is kept in int8."""
    if source == "fp8":
        return context(scene(name), lang, **upload("w.safetensors", ODD["fp8"]), **values)
    found = context(scene(name), lang, source="model", tensor=MATRIX, **values)
    return replace(found, bench=replace(found.bench, model=MODEL))


def said(view: View) -> Iterator[str]:
    """Everything that a view says, figures and table included."""
    yield view.notice or ""
    yield from (number.value for number in view.numbers)
    yield from map(str, view.facts.values())
    yield from (plate.alt for plate in view.plates)
    yield from (plate.figure.to_json() for plate in view.plates)
    for key, column in (view.table or {}).items():
        yield from (f"{value} dB" for value in column if "dB" in key and value is not None)


@pytest.mark.parametrize("source", ["fp8", "int8"])
@pytest.mark.parametrize("lang", LANGS)
def test_no_scene_of_one_format_ranks_one_like_the_stored(lang: Lang, source: str, upload: Any) -> None:
    assert {"E4M3", "MXFP8 E4M3", "int8 row", "Q8_0", "E5M2 tensor"} <= set(LIKE_8)
    for name in LIKE_8:
        for one in ("steps", "histogram"):
            view = scene(one).build(context_of(one, lang, source, upload, format=name))
            assert not [text for text in said(view) if " dB" in text], (one, name)
            assert {"en": "were quantized before", "zh": "早已量化到"}[lang] in (view.notice or "")
    turns = scene("references")
    for name in next(p for p in turns.params if p.name == "reference_format").options:
        view = turns.build(context_of("references", lang, source, upload, reference_format=name))
        assert bool([text for text in said(view) if " dB" in text]) == (name not in LIKE_8), name
    eight = scene("outliers").build(context_of("outliers", lang, source, upload, remedy_bits="8"))
    assert not [text for text in said(eight) if " dB" in text.replace("SQNR, dB", "")]
    assert eight.numbers[0].value == "– → –"
    four = scene("outliers").build(context_of("outliers", lang, source, upload, remedy_bits="4"))
    assert four.numbers[0].value.count(" dB") == 2


@pytest.mark.parametrize("source", ["fp8", "int8"])
def test_no_scene_of_many_formats_ranks_one_like_the_stored(source: str, upload: Any) -> None:
    view = scene("table").build(context_of("table", "en", source, upload))
    assert view.table is not None and not set(view.table["format"]) & set(LIKE_8) and "Q4_0" in view.table["format"]
    for family in FAMILY.options:
        view = scene("block").build(context_of("block", "en", source, upload, family=family))
        assert view.table is not None
        rows = dict(zip(view.table["format"], view.table["SQNR dB"], strict=True))
        assert all((rows[name] is None) == (name in LIKE_8) for name in rows)
        assert view.plates[0].alt.count(" dB") == len(set(rows) - set(LIKE_8))


@pytest.mark.parametrize("lang", LANGS)
def test_only_what_was_quantized_is_said_to_be(lang: Lang) -> None:
    """A norm of a model in int8 is kept in float32, and equals the float model's bit for bit."""
    data = Data("model", MODEL, NORM)
    exact = replace(data, where="bundled")
    assert np.array_equal(quantizing_data.seen(data).values, quantizing_data.seen(exact).values)
    assert stored_as(data) == () and stored_as(replace(data, part=MATRIX)) == (Before("int8", 8),)
    assert stored_as(replace(data, where="bundled", part=MATRIX)) == ()
    found = context(scene("histogram"), lang, source="model", tensor=NORM)
    found = replace(found, bench=replace(found.bench, model=MODEL))
    assert notice(found) is None
    assert [n.key for n in scene("histogram").build(found).numbers].count("quant_sqnr") == 1


def test_each_tensor_of_a_file_has_its_own_type(tmp_path: Any) -> None:
    """A GGUF file of one Q4_1 block (type 3, 20 bytes) and 32 numbers in F32 (type 0); a folder, and a file in one."""
    head = struct.pack("<4sIQQ", b"GGUF", 3, 2, 1) + text("general.architecture") + packed("llama")
    head += text("token_embd.weight") + struct.pack("<IQQIQ", 2, 32, 1, 3, 0)
    head += text("output_norm.weight") + struct.pack("<IQIQ", 1, 32, 0, 32)
    (tmp_path / "m.gguf").write_bytes(head + bytes(-len(head) % 32) + bytes(32 + 128))
    types = stored_types(tmp_path / "m.gguf")
    assert type_of(types, "model.embed_tokens.weight") == "Q4_1" and type_of(types, "model.norm.weight") == "F32"
    assert type_of(types, "lm_head.weight") == ""
    (tmp_path / "model.safetensors").write_bytes(safetensors("F8_E4M3", (4, 256), bytes(1024)))
    assert set(stored_types(tmp_path).values()) == {"F8_E4M3"} == set(
        stored_types(tmp_path / "model.safetensors").values())


def test_a_tensor_that_was_quantized_twice_is_ranked_beside_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Q4_1 file that is kept in int8: neither 4 bits nor 8 are ranked, and both are named."""
    types = {"blk.0.ffn_up.weight": "Q4_1", "output_norm.weight": "F32"}
    monkeypatch.setattr(quantizing_data, "_stored", lambda spec: types)
    both = stored_as(Data("model", MODEL, MATRIX))
    assert both == (Before("Q4_1", 4), Before("int8", 8)) and stored_as(Data("model", MODEL, NORM)) == ()
    assert [ranked(name, both) for name in ("Q4_0", "int8 row", "Q6_K", "Q2_K")] == [False, False, True, True]
    found = context(scene("histogram"), "en", source="model", tensor=MATRIX)
    found = replace(found, bench=replace(found.bench, model=MODEL))
    assert "to 4 bits (Q4_1) and 8 bits (int8)." in (notice(found) or "")
