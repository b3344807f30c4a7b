"""A reader's own weights: every kind of bad file is one sentence, every odd one is drawn without a NaN."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from pandas.io.formats.style import Styler

from tests.conftest import DATA as FOLDER
from tests.scenes import all_scenes, context
from tests.test_pages import opened
from viz_core.i18n import LANGS, Lang, Problem, catalogue, t
from viz_core.model import tensors
from viz_core.model.library import BUNDLED, load
from viz_core.model.safetensors import open_safetensors
from viz_core.quantizers.compare import compare
from viz_core.quantizers.format import Format
from viz_core.quantizers.readable import FEW, LOOKED, looked, spread
from viz_core.quantizers.registry import FORMATS
from viz_core.quantizers.tensor import Strays
from viz_core.ui import quantizing, quantizing_data, uploads
from viz_core.ui.quantizing_data import FILE, Data, notice, ranked, seen
from viz_core.ui.quantizing_files import check, part, parts
from viz_core.ui.render import written
from viz_core.ui.scene import Scene, View

HOSTILE = FOLDER / "hostile"
VERDICTS = {row["file"]: row["verdict"] for row in json.loads((HOSTILE / "manifest.json").read_text())}
SCENES = [s for s in all_scenes() if "source" in {p.name for p in s.params} and s.page == "quantization"]
RNG = np.random.default_rng(0)
NORMAL = RNG.standard_normal((64, 512)).astype(np.float32)


def npy(array: Any, **options: bool) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def safetensors(dtype: str, shape: tuple[int, ...], data: bytes) -> bytes:
    header = json.dumps({"w": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    return len(header).to_bytes(8, "little") + header + data


def holed(value: float) -> np.ndarray:
    out = NORMAL.copy()
    out[3, 5:9] = value
    return out


REFUSED = {
    "empty file": b"", "empty array": npy(np.zeros((0, 8))), "complex": npy(NORMAL[:1] * 1j),
    "objects": npy(np.array([{}, 1], object), allow_pickle=True), "text": npy(np.array(["a"])),
    "dates": npy(np.array(["2020-01-01"], "M8[D]")), "structured": npy(np.zeros(3, "f4,i4")),
    "all NaN": npy(np.full(40, np.nan)), "all infinite": npy(np.full(40, np.inf)),
    "beyond float32": npy(np.full(40, 1e300)), "cut": npy(NORMAL)[:-1], "trailing": npy(NORMAL) + b"x",
    "html": b"<html>", "magic alone": b"\x93NUMPY", "a pickle": b"\x80\x04K\x01.", "a zip": b"PK\x03\x04" + bytes(60),
}  # fmt: skip
ODD = {
    "NaN": npy(holed(np.nan)), "infinite": npy(holed(np.inf)), "constant": npy(np.full((8, 256), 0.25, np.float32)),
    "all zero": npy(np.zeros((8, 256), np.float32)), "minus zero": npy(np.full(300, -0.0, np.float32)),
    "one value": npy(np.array([0.5])), "0-d": npy(np.float32(3)), "length 37": npy(NORMAL[0, :37]),
    "rows of 100": npy(NORMAL[:, :100]), "int64": npy(RNG.integers(-9, 9, (4, 256))), "bool": npy(NORMAL[:4] > 0),
    "uint8": npy(RNG.integers(0, 255, (4, 256), np.uint8)), "float16": npy(NORMAL[:4].astype(np.float16)),
    "big endian": npy(NORMAL[:4].astype(">f4")), "Fortran order": npy(np.asfortranarray(NORMAL)),
    "4-d": npy(NORMAL.reshape(4, 2, 8, -1)), "huge values": npy(np.clip(NORMAL[:4], -3, 3) * np.float32(1e38)),
    "beyond FP16 scales": npy(RNG.integers(-10**7, 10**7, (64, 256))), "1e16": npy(np.full((8, 256), 1e16)),
    "one block at 1e20": npy(np.where(np.arange(512) < 32, 1e20, NORMAL[:4])),
    "beyond FP16": npy(NORMAL[:4] * 1e6), "near the end": npy(np.clip(NORMAL[:4], -3, 3) * np.float32(1.1e38)),
    "denormal": npy(NORMAL[:4] * np.float32(1e-42)), "one row": npy(np.tile(NORMAL.ravel(), 9)),
    "fp8": safetensors("F8_E4M3", (4, 256), RNG.integers(0, 255, 1024, np.uint8).tobytes()),
    "bf16": safetensors("BF16", (4, 256), bytes(RNG.integers(0, 60, 2048, np.uint8))),
    "i32": safetensors("I32", (4, 256), bytes(4096)), "scalar": safetensors("F32", (), bytes(4)),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("name", ["w.npy", "w.safetensors"])
def test_bad_files_are_refused_in_one_sentence(what: str, name: str) -> None:
    with pytest.raises(Problem) as caught:
        check(name, REFUSED[what])
    assert all(len(caught.value.text(lang)) > 10 for lang in LANGS)


@pytest.mark.parametrize("name", [n for n in VERDICTS if n.startswith(("st_", "np_")) and (HOSTILE / n).is_file()])
def test_hostile_files(name: str) -> None:
    """Files to be refused are; of the others each tensor is read or refused by name, never with a traceback."""
    if name.endswith(".json"):
        pytest.skip("an index of shards is no upload")
    data = (HOSTILE / name).read_bytes()
    try:
        found = parts(name, data)
    except Problem:
        assert VERDICTS[name] == "reject" or "no_tensors" in name
        return
    for which in found[:50]:
        try:
            assert np.isfinite(part(name, data, which).values).all()
        except Problem as problem:
            assert problem.key in {"quantizers_empty", "quantizers_nothing_finite", "quantizers_npy_objects"}
    assert VERDICTS[name] != "reject" or not found[0]


def test_a_tensor_that_cannot_be_read_is_named_and_the_others_are_shown(upload: Any) -> None:
    header = {"a4": {"dtype": "F4", "shape": [64], "data_offsets": [0, 32]},
              "w": {"dtype": "F32", "shape": [2, 64], "data_offsets": [32, 544]}}
    text = json.dumps(header).encode()
    data = len(text).to_bytes(8, "little") + text + bytes(32) + NORMAL[:2, :64].tobytes()
    values = upload("mixed.safetensors", data)
    assert parts("mixed.safetensors", data) == ("w", "a4") and values["part"] == "w"
    scene = next(s for s in SCENES if s.id == "histogram")
    sound(scene.build(context(scene, "en", **values)))
    with pytest.raises(Problem, match=r"a4 has the data type F4"):
        scene.build(context(scene, "en", **values | {"part": "a4"}))
    with pytest.raises(Problem, match=r"w has the data type F4"):
        check("w.safetensors", safetensors("F4", (64,), bytes(32)))


def test_too_large_for_a_public_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    data = npy(np.zeros(6 << 18, np.float32))
    assert uploads.checked(check, "a.npy", data).name == "a.npy"
    monkeypatch.setenv("INFERSIGHT_HOSTED", "1")
    with pytest.raises(Problem, match="5 MiB"):
        uploads.checked(check, "a.npy", data)


@pytest.fixture
def upload() -> Iterator[Any]:
    """Puts a file into the session, as the control does."""

    def put(name: str, data: bytes) -> dict[str, str]:
        kept = uploads.checked(check, name, data)
        st.session_state[uploads.KEPT + FILE.name] = kept
        return {"source": "upload", "file": kept.digest, "part": parts(name, data)[0]}

    yield put
    st.session_state.pop(uploads.KEPT + FILE.name, None)


def sound(view: View) -> None:
    """No NaN in any figure, number or sentence, but where a hover says that a value became one."""
    for plate in view.plates:
        drawn = plate.figure.to_json().replace("→ NaN", "").replace("\\u2192 NaN", "")
        assert "NaN" not in drawn and "Infinity" not in drawn
    said = [n.value for n in view.numbers] + [str(fact) for fact in view.facts.values()]
    assert not [text for text in said if "nan" in text.lower() or "inf" in text.lower()]
    lost = any(word in (view.notice or "") for word in ("are lost", "丢失"))
    assert all(proof.holds or proof.empty or (lost and proof.measured == np.inf) for proof in view.proofs)


@pytest.mark.parametrize("scene", SCENES, ids=lambda s: s.id)
@pytest.mark.parametrize("what", ODD)
def test_odd_data_in_every_scene(what: str, scene: Scene, upload: Any) -> None:
    """Drawn, or refused in one sentence where a format needs more values than there are."""
    values = upload("w.npy" if ODD[what].startswith(b"\x93") else "w.safetensors", ODD[what])
    try:
        sound(scene.build(context(scene, "en", **values)))
        sound(scene.build(context(scene, "zh", view="block", format="FP16", other="IQ4_NL", **values)))
        sound(scene.build(context(scene, "en", view="weights", format="IQ4_NL", family="gguf", **values)))
    except Problem as problem:
        assert problem.key in {"quantizers_row", "quantizers_small", "quantizers_large"}, problem


def test_what_is_odd_is_named(upload: Any) -> None:
    scene = next(s for s in SCENES if s.id == "histogram")

    def said(what: str) -> str:
        name = "w.npy" if ODD[what].startswith(b"\x93") else "w.safetensors"
        return notice(context(scene, "en", **upload(name, ODD[what]))) or ""

    assert "NaN: 4" in said("NaN") and "infinite: 4" in said("infinite")
    assert "int64" in said("int64") and "equal" in said("constant") and "131,072 of 294,912" in said("one row")
    assert "8 bits (F8_E4M3)" in said("fp8")
    assert said("Fortran order") == ""


def test_where_every_scale_overflows_nothing_moves_and_that_is_said(upload: Any) -> None:
    """The FP16 scale of Q4_0 is infinite for weights of 1e30: in units of it no weight has a place."""
    scene = next(s for s in SCENES if s.id == "histogram")
    values = upload("w.npy", npy((NORMAL * 1e30).astype(np.float32)))
    view = scene.build(context(scene, "en", **values))
    assert view.trace is None and "In Q4_0 no weight has a place" in (view.notice or "")
    assert "no weight is left" in str(view.facts["said"])
    references = next(s for s in SCENES if s.id == "references")
    assert "are lost" in (references.build(context(references, "en", **values, reference_format="Q4_0")).notice or "")
    both = scene.build(context(scene, "en", other="NF4", **values))
    assert both.trace is not None and [lane.label for lane in both.trace.lanes] == ["NF4"]
    equal = scene.build(context(scene, "en", **upload("w.npy", npy(np.full((64, 64), 0.5, np.float32)))))
    assert [number.value for number in equal.numbers if number.key == "quant_kurtosis"] == ["–"]


def test_no_file_yet_shows_a_sample() -> None:
    scene = next(s for s in SCENES if s.id == "block")
    view = scene.build(context(scene, "zh", source="upload", file="0" * 16))
    assert view.notice == catalogue("zh")["quant.no_file"]
    sound(view)


@pytest.mark.parametrize("name", ["model.embed_tokens.weight", "model.layers.1.self_attn.k_proj.weight",
                                  "model.layers.0.mlp.up_proj.weight", "model.norm.weight"])  # fmt: skip
def test_tensors_of_a_model_are_those_of_its_file(name: str) -> None:
    file, llama = open_safetensors(BUNDLED / "model.safetensors"), load("bundled").llama
    names = tensors.tensors(llama)
    assert {n for n in file if not n.endswith("bias")} == set(names)
    stored = np.atleast_2d(file.read(name))
    found = names[name]
    assert found.shape == stored.shape and np.array_equal(found.read(np.arange(len(stored))), stored)
    some = np.arange(0, len(stored), 3)
    assert np.array_equal(found.read(some), stored[some])


@pytest.mark.parametrize("scene", SCENES, ids=lambda s: s.id)
@pytest.mark.parametrize("name", ["model.embed_tokens.weight", "model.norm.weight"])
def test_any_tensor_of_the_model(scene: Scene, name: str) -> None:
    try:
        sound(scene.build(context(scene, "en", source="model", tensor=name)))
    except Problem as problem:
        assert problem.key in {"quantizers_row", "quantizers_small"} and name == "model.norm.weight"


def test_formats_like_the_stored_one_are_not_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantizing_data, "_stored", lambda spec: {"model.embed_tokens.weight": "Q4_1"})
    scene = next(s for s in SCENES if s.id == "table")
    view = scene.build(context(scene, "en", source="model"))
    assert view.table is not None and view.notice is not None and "Q4_1" in view.notice
    left = set(view.table["format"])
    assert not left & {"Q4_0", "Q4_1", "NF4", "MXFP4", "int4 g64", "Q4_K"} and {"Q8_0", "Q2_K", "Q6_K"} <= left
    block, groups, plain = (next(s for s in SCENES if s.id == name) for name in ("block", "groups", "histogram"))
    assert block.build(context(block, "en", source="model")).plates[0].alt.count(" dB") == 1, "int8 alone"
    again = groups.build(context(groups, "en", source="model"))
    assert [n.value for n in again.numbers] == [n.value for n in groups.build(context(groups, "en")).numbers]
    assert "MiniLM" in (again.notice or "")
    assert not [n for n in plain.build(context(plain, "en", source="model")).numbers if n.key == "quant_sqnr"]
    assert ranked("Q4_1", ()) and quantizing_data.stored_as(Data("ffn_in")) == ()


def test_a_bad_file_leaves_the_good_one(upload: Any) -> None:
    """Through the page: the sentence is said, the data before it stay."""
    at = opened("pages/quantization.py", lang="en", scene="histogram", source="upload")
    assert not at.exception and at.get("file_uploader")
    at.get("file_uploader")[0].upload("good.npy", npy(NORMAL), "application/octet-stream").run()
    assert not at.exception and not at.warning
    assert t("shell.upload_kept", "en", name="good.npy") in [text.value for text in at.text]
    good = [m.value for m in at.metric]
    at.get("file_uploader")[0].upload("bad.npy", REFUSED["objects"], "application/octet-stream").run()
    assert not at.exception and [w.value for w in at.warning] == [t("problem.quantizers_npy_objects", "en")]
    assert [m.value for m in at.metric] == good and t("shell.upload_kept", "en", name="good.npy") in [
        text.value for text in at.text]


@pytest.mark.parametrize("lang", LANGS)
def test_what_a_format_cannot_hold_leaves_the_last_figure(lang: Lang) -> None:
    """One sentence on the format, and one that says what is on screen instead; no word that no file was chosen."""
    at = opened("pages/quantization.py", lang=lang, scene="histogram", source="upload")
    at.get("file_uploader")[0].upload("one.npy", ODD["one value"], "application/octet-stream").run()
    assert not at.exception
    assert [w.value for w in at.warning] == [t("problem.quantizers_row", lang, format="Q4_0", block=32, width=1)]
    assert [i.value for i in at.info] == [t("shell.last_good", lang)]


def test_strung_rows_and_left_over_values_are_named(upload: Any) -> None:
    scene = next(s for s in SCENES if s.id == "histogram")

    def said(what: str, form: str) -> str:
        return scene.build(context(scene, "en", **upload("w.npy", ODD[what]), format=form)).notice or ""

    strung = t("quant.strung", "en", width="100", block=32, format="Q4_0")
    assert strung in said("rows of 100", "Q4_0") and "left out" not in said("rows of 100", "Q4_0")
    assert t("quant.left_over", "en", n="5") in said("length 37", "Q4_0"), "37 = 32 + 5"
    assert said("length 37", "int8 row") == "" == said("rows of 100", "NF4")


@pytest.mark.parametrize("lang", LANGS)
def test_a_file_is_dropped_again(lang: Lang, upload: Any) -> None:
    """The built-in tensor comes back, the field is empty, and nothing of the file is left in the link."""
    at = opened("pages/quantization.py", lang=lang, scene="histogram")
    built_in = [m.value for m in at.metric]
    at.selectbox(key="scene.quantization.histogram.source").set_value("upload").run()
    at.get("file_uploader")[0].upload("mine.npy", npy(NORMAL), "application/octet-stream").run()
    assert [m.value for m in at.metric] != built_in and "file" in at.query_params
    next(b for b in at.button if b.label == t("shell.upload_drop", lang)).click().run()
    assert not at.exception and [m.value for m in at.metric] == built_in
    assert at.selectbox(key="scene.quantization.histogram.source").value == "ffn_in"
    assert not {"file", "source", "part"} & set(at.query_params)
    at.selectbox(key="scene.quantization.histogram.source").set_value("upload").run()
    assert not at.get("file_uploader")[0].value and t("quant.no_file", lang) in [i.value for i in at.info]


LARGE = np.random.default_rng(1).standard_normal((1024, 4096)).astype(np.float32)  # 4,194,304 values


@pytest.mark.parametrize("scene", SCENES, ids=lambda s: s.id)
@pytest.mark.parametrize("lang", LANGS)
def test_how_many_values_are_looked_at_is_said(scene: Scene, lang: Lang, upload: Any) -> None:
    values = upload("large.npy", npy(LARGE))
    view = scene.build(context(scene, lang, **values))
    few = scene.id in {"block", "groups", "table"}
    assert f"{FEW if few else LOOKED:,}" in (view.notice or "") and f"{LARGE.size:,}" in (view.notice or "")


def test_a_part_of_a_model_s_tensor_is_named_too() -> None:
    scene = next(s for s in SCENES if s.id == "histogram")
    name = "model.embed_tokens.weight"
    whole = tensors.tensor(load("bundled").llama, name)
    said = scene.build(context(scene, "en", source="model", tensor=name)).notice or ""
    assert whole.shape[0] * whole.shape[1] > LOOKED
    assert f"{LOOKED:,} of {whole.shape[0] * whole.shape[1]:,}" in said


def test_only_a_new_format_or_tensor_is_quantized(upload: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Log counts, the block and the view are drawn from what is there."""
    scene = next(s for s in SCENES if s.id == "histogram")
    values = upload("large.npy", npy(LARGE))
    scene.build(context(scene, "en", **values))
    monkeypatch.setattr(Format, "quantize", lambda *_: pytest.fail("quantized again"))
    for change in ({"log_counts": True}, {"block": 9}, {"view": "weights"}, {"view": "block", "block": 5}):
        sound(scene.build(context(scene, "en", **values, **change)))
    with pytest.raises(pytest.fail.Exception):
        scene.build(context(scene, "en", **values, format="Q5_1"))


def test_all_formats_are_one_switch_away(upload: Any) -> None:
    """Every format that the table compares, each as a line, on built-in data and on a large file."""
    scene = next(s for s in SCENES if s.id == "block")
    for values in ({}, upload("large.npy", npy(LARGE))):
        view = scene.build(context(scene, "en", **values, all_formats=True))
        sound(view)
        assert view.table is not None and len(view.table["format"]) > 35
        assert len(view.plates[0].figure.to_json()) < 500_000
        assert view.table["format"] == list(quantizing.COMPARED)
        drawn = view.plates[0].figure.data
        hollow, *solid = (trace for trace in drawn if trace.mode == "markers")
        assert len(hollow.x) == 12 * len(quantizing.COMPARED), "casts have no blocks to end at"
        assert sum(len(trace.x) for trace in solid) == len(hollow.x) and len(drawn) < 20
        data = quantizing_data.chosen(context(scene, "en", **values), few=True)
        exact = compare(quantizing.tensor(data), [FORMATS["MXFP4 (GGUF)"]])[0].errors.sqnr
        assert dict(zip(view.table["format"], view.table["SQNR dB"], strict=True))["MXFP4 (GGUF)"] == exact
        assert [form in view.plates[0].alt for form in ("Q2_K", "MXFP8 E5M2", "KIVI2 g32")] == [True] * 3


def test_rows_of_a_sample_lie_evenly() -> None:
    found = looked(LARGE)
    step = LARGE.size // LOOKED
    assert np.array_equal(found.values, LARGE[::step]) and found.cut and found.size == LARGE.size
    assert np.array_equal(found.fewer().values, LARGE[:: LARGE.size // FEW])
    assert np.array_equal(spread(7, 4, 8), [0, 3]) and np.array_equal(spread(3, 100, 8), [0])
    holed = LARGE.copy()
    holed[1, :5], holed[2, :3] = np.nan, -np.inf  # rows that are not in the sample
    assert looked(holed).strays == Strays(nan=5, infinite=3)


@pytest.mark.parametrize("width", [40_000, 200_000])
def test_rows_without_a_finite_value_are_passed_over(width: int) -> None:
    """Three of four rows are NaN; of the fourth both samples hold finite values only, and all is counted."""
    array = np.full((4, width), np.nan, np.float32)
    array[3] = np.arange(width)
    found = looked(array)
    assert found.strays == Strays(nan=3 * width) and found.size == 4 * width
    few = found.fewer()
    for values in (found.values[-1], few.values[-1]):
        assert np.array_equal(values, values[0] + np.arange(values.size)), "a stretch of the fourth row"
    assert few.values.min() < few.values.max()


def test_of_a_long_row_the_stretch_with_most_finite_values_is_taken() -> None:
    array = np.full(3 * LOOKED, np.nan)
    array[LOOKED + 7 : 2 * LOOKED + 7] = RNG.standard_normal(LOOKED)
    array[5] = 1
    found = looked(array)
    assert np.array_equal(found.values[0], array[LOOKED + 7 : 2 * LOOKED + 7].astype(np.float32))
    assert found.strays == Strays(nan=2 * LOOKED - 1)


def test_few_values_are_not_the_zeros_that_stand_for_nan() -> None:
    array = np.full((64, 512), np.nan)
    array[1::2] = NORMAL[1::2]
    found = looked(array)
    assert not found.cut and found.fewer().cut
    assert (np.abs(found.fewer().values).max(axis=1) > 0).all(), "no row of zeros"


def test_a_model_s_tensor_is_searched_where_its_sample_is_not_finite(monkeypatch: Any) -> None:
    rows = np.full((4096, 64), np.nan, np.float32)
    rows[1] = np.arange(64)
    whole = tensors.Tensor(rows.shape, rows.__getitem__)
    assert np.isnan(whole.read(spread(4096, 64, LOOKED))).all(), "the sample alone would be refused"
    monkeypatch.setattr(tensors, "tensor", lambda llama, name: whole)
    found = seen.__wrapped__(Data("model", "bundled", "w"))
    assert found.strays == Strays(nan=rows.size - 64) and np.array_equal(found.values[0], np.arange(64))


def test_the_notice_names_every_kind_of_stray(upload: Any) -> None:
    array = np.ones((4, 64)) * np.arange(64)
    array[0, :5] = [np.nan, np.inf, -np.inf, 1e300, -1e300]
    for lang in LANGS:
        said = notice(context(SCENES[0], lang, **upload("a.npy", npy(array)))) or ""
        parts = [t(f"quant.stray_{name}", lang, n=n) for name, n in (("nan", 1), ("infinite", 2), ("beyond", 2))]
        assert all(part in said for part in parts)
    array[0, :5] = 1
    array[1, 0] = np.nan
    said = notice(context(SCENES[0], "en", **upload("a.npy", npy(array)))) or ""
    assert "NaN: 1" in said and "infinite" not in said and "beyond" not in said


@pytest.mark.parametrize("lang", LANGS)
def test_formats_without_error_are_named_beside_the_chart(lang: Lang, upload: Any) -> None:
    """At ∞ dB they have no point: a sentence names them, the legend leaves their families out, a curve ends on top."""
    values = upload("w.npy", ODD["constant"])
    table, groups = (next(s for s in SCENES if s.id == name) for name in ("table", "groups"))
    view = table.build(context(table, lang, **values))
    assert view.table is not None
    endless = [name for name, sqnr in zip(view.table["format"], view.table["SQNR dB"], strict=True) if sqnr == np.inf]
    said = view.notice or ""
    assert "NF4" in endless and all(name in said for name in endless)
    figure = view.plates[0].figure
    keys = {trace.name for trace in figure.data if trace.showlegend is not False}
    assert t("option.family.bitsandbytes", lang) not in keys
    assert t("option.family.gguf", lang) in keys
    view = groups.build(context(groups, lang, **values))
    assert "NF4" in (view.notice or "") and "FP4" in (view.notice or "")
    notes = view.plates[0].figure.layout.annotations
    ends = {note.text: note.y for note in notes if "dB</b>" in (note.text or "")}
    endless_y = [y for text, y in ends.items() if "∞" in text]
    assert endless_y and min(endless_y) > max(y for text, y in ends.items() if "∞" not in text)


def test_a_table_writes_infinity_as_a_sign_and_still_sorts() -> None:
    frame = pd.DataFrame({"format": ["a", "b", "c"], "SQNR dB": [np.inf, 31.25, np.nan], "clipped": [0, 123456789, 2]})
    styled = written(frame)
    assert isinstance(styled, Styler) and styled.data is frame
    html = styled.to_html()
    assert "∞" in html and "31.25<" in html and "123456789" in html and "inf" not in html and "nan" not in html
    assert written(frame[1:2]) is not None and isinstance(written(frame[1:2]), pd.DataFrame)
