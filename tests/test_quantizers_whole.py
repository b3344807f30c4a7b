"""All values of a large tensor: measured as one small tensor is, only where there are more than are looked at."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import streamlit as st

from tests.scenes import context
from tests.test_pages import opened
from tests.test_quantizers_uploads import npy
from viz_core.i18n import LANGS, Lang, t
from viz_core.model import tensors
from viz_core.model.library import load
from viz_core.quantizers import errors as measures
from viz_core.quantizers.compare import compare, quantize_any, row
from viz_core.quantizers.errors import Errors, errors
from viz_core.quantizers.readable import FEW
from viz_core.quantizers.registry import FORMATS
from viz_core.ui import controls, quantizing, quantizing_whole, uploads
from viz_core.ui.params import Choice
from viz_core.ui.quantizing_files import check
from viz_core.ui.scene import Bench
from viz_core.ui.scenes import quant_table

X = (0.02 * np.random.default_rng(3).standard_t(4, (48, 512))).astype(np.float32)  # 24,576 values, more than FEW
BENCH = Bench("bundled", "a", 0)


@pytest.fixture
def file() -> Iterator[dict[str, str]]:
    """The controls' values for `X` as a reader's file, as the control leaves them in the session."""
    kept = uploads.checked(check, "x.npy", npy(X))
    st.session_state[uploads.KEPT + "file"] = kept
    yield {"source": "upload", "file": kept.digest, "part": ""}
    st.session_state.pop(uploads.KEPT + "file", None)


@pytest.mark.parametrize("lang", LANGS)
def test_every_format_is_measured_on_all_values(file: dict[str, str], lang: Lang) -> None:
    few = quant_table.SCENE.build(context(quant_table.SCENE, lang, **file))
    whole = quant_table.SCENE.build(context(quant_table.SCENE, lang, **file, measured_on=f"{X.size:,}"))
    assert f"{FEW:,}" in (few.notice or "") and whole.notice == t("quant.measured_all", lang, size=f"{X.size:,}")
    assert whole.table is not None and few.table is not None and set(whole.table["format"]) == set(quantizing.COMPARED)
    for i, name in enumerate(whole.table["format"]):
        direct = compare(X, [FORMATS[name]])[0]
        assert whole.table["SQNR dB"][i] == round(direct.errors.sqnr, 2)
        assert whole.table["RMSE"][i] == direct.errors.rmse and whole.table["cosine"][i] == direct.errors.cosine
        assert whole.table["clipped"][i] == direct.clipped and whole.table["zeroed"][i] == direct.zeroed
        assert whole.table["bits"][i] == round(direct.bits, 4)
    assert whole.table["RMSE"] != few.table["RMSE"]


def test_a_model_s_tensor_is_read_whole() -> None:
    name = "model.embed_tokens.weight"
    found = tensors.tensor(load("bundled").llama, name)
    x = found.read(np.arange(found.shape[0]))
    values = {"source": "model", "tensor": name, "measured_on": f"{x.size:,}"}
    view = quant_table.SCENE.build(context(quant_table.SCENE, "en", **values))
    assert view.table is not None and view.notice == t("quant.measured_all", "en", size=f"{x.size:,}")
    at = view.table["format"].index("NF4 double")
    assert view.table["RMSE"][at] == row(x, *quantize_any(x, FORMATS["NF4 double"])).errors.rmse


def choice() -> Choice:
    found = next(p for p in controls.fixed(quant_table.SCENE.params, BENCH) if p.name == "measured_on")
    assert isinstance(found, Choice)
    return found


def test_a_tensor_that_is_looked_at_whole_leaves_no_choice() -> None:
    found = choice()
    assert len(found.options) == 1 and found.default == found.options[0] == "98,304"
    values = {"source": "ffn_in", "measured_on": found.default}
    assert not controls._asked(found, values)
    assert not quantizing_whole.measures_all(context(quant_table.SCENE, "en", measured_on="4,194,304"))


def test_the_page_measures_a_large_file_whole_and_forgets_it_with_the_file() -> None:
    at = opened("pages/quantization.py", lang="en", scene="table", source="upload", measured_on=f"{X.size:,}")
    at.get("file_uploader")[0].upload("x.npy", npy(X), "application/octet-stream").run()
    assert not at.exception
    at.query_params["measured_on"] = f"{X.size:,}"
    at.run()
    assert t("quant.measured_all", "en", size=f"{X.size:,}") in [info.value for info in at.info]
    next(b for b in at.button if b.label == t("shell.upload_drop", "en")).click().run()
    assert not at.exception and "measured_on" not in at.query_params
    assert not [info for info in at.info if "Measured" in info.value]


def test_what_is_too_large_is_not_offered(file: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantizing_whole, "LARGEST", X.size - 1)
    assert not quantizing_whole.measures_all(context(quant_table.SCENE, "en", **file, measured_on=f"{X.size:,}"))


def test_progress_is_told_format_by_format(file: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []

    class Place:
        def progress(self, share: float, text: str) -> None:
            said.append((share, text))

        def empty(self) -> None:
            said.append(None)

    monkeypatch.setattr(st, "empty", Place)
    names = ("Q4_0", "NF4")
    data = quantizing_whole.chosen(context(quant_table.SCENE, "en", **file), few=True)
    monkeypatch.setattr(quantizing_whole, "SILENT", 1e9)
    assert list(quantizing_whole.rows_of(data, names, "en")) == list(names)
    assert said == [None], "quick work says nothing"
    monkeypatch.setattr(quantizing_whole, "SILENT", -1)
    quantizing_whole.rows_of(data, names, "en")
    assert said[1:] == [(0.0, "Q4_0: 0 of 2 formats measured"), (0.5, "NF4: 1 of 2 formats measured"), None]


@pytest.mark.parametrize("holes", [(), (np.nan, np.inf)])
def test_errors_add_up_over_pieces(holes: tuple[float, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    x, values = X.copy(), FORMATS["Q4_0"].quantize(X).values
    x.reshape(-1)[[*range(300, 300 + len(holes))]] = holes
    whole = errors(x, values)
    monkeypatch.setattr(measures, "PIECE", 100)
    pieces = errors(x, values)
    assert np.allclose([*vars_of(pieces)], [*vars_of(whole)], rtol=1e-12)
    known = np.isfinite(x)
    noise = values[known].astype(np.float64) - x[known]
    assert np.isclose(pieces.rmse, np.sqrt((noise**2).mean()), rtol=1e-12) and pieces.maximum == np.abs(noise).max()
    lost = values.copy()
    lost.reshape(-1)[-1] = np.inf
    assert errors(x, lost) == Errors(np.inf, np.inf, -np.inf, 0.0)
    assert errors(np.full(300, np.nan, np.float32), lost.reshape(-1)[:300]) == Errors(0.0, 0.0, np.inf, 1.0)


def vars_of(found: Errors) -> tuple[float, ...]:
    return found.rmse, found.maximum, found.sqnr, found.cosine


@pytest.mark.parametrize("name", ["E4M3", "int8 row", "Q4_0", "NF4 double", "NVFP4"])
def test_no_float64_copy_of_a_large_tensor_is_made(name: str) -> None:
    """Beside the tensor: codes, float32 values, masks; two float64 copies would take 16 bytes a value more."""
    x = np.resize(X, (1024, 2048))
    tracemalloc.start()
    try:
        row(x, *quantize_any(x, FORMATS[name]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 14 * x.size
