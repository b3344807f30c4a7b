"""Switches where references differ: what they turn, what the references gave, and what the page says of it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.conftest import DATA
from tests.scenes import context
from viz_core.figures.layout import Look
from viz_core.figures.scales import Scale
from viz_core.figures.slides import Line, slides
from viz_core.i18n import LANGS, Lang
from viz_core.proofs.quantizers import as_references
from viz_core.quantizers.errors import errors
from viz_core.quantizers.references import (
    MX,
    NAMES,
    SETTINGS,
    WHO,
    elsewhere,
    own,
    saturated,
    stored,
    turned,
    who,
)
from viz_core.quantizers.registry import FORMATS
from viz_core.quantizers.samples import sample
from viz_core.ui import quantizing_references
from viz_core.ui.quantizing_data import Before, Data
from viz_core.ui.scenes import quant_references as scene

X = sample("ffn_in")
HALVED = FORMATS["BF16"].round(X)
both = pytest.mark.parametrize("lang", LANGS)


@pytest.mark.parametrize("name", NAMES)
def test_turning_a_switch_to_where_it_stands_changes_nothing(name: str) -> None:
    form = FORMATS[name]
    mine = own(form)
    assert mine and turned(form, tuple(mine.items())) == form
    for of, setting in mine.items():
        assert setting in SETTINGS[of] or of == "ties"
        other = next(s for s in SETTINGS[of] if s != setting)
        assert own(turned(form, ((of, other),))) == {**mine, of: other}
    absent = next(of for of in SETTINGS if of not in mine)
    assert turned(form, ((absent, SETTINGS[absent][0]),)) == form


@pytest.mark.parametrize("name", NAMES)
def test_the_codes_are_those_of_the_references(name: str) -> None:
    proof = as_references(name)
    assert proof.holds and proof.measured == 0 and stored(name)
    for case in stored(name):
        refs = {ref for of, s in (own(turned(FORMATS[name], case.settings)).items()) for ref in who(name, of, s)}
        assert case.reference in refs, "the table names who gave the codes"


@pytest.mark.parametrize("name", [n for n in NAMES if len(stored(n)) > 1 and n != "E5M2"])
def test_codes_of_another_setting_are_told_apart(name: str) -> None:
    one, *_ = stored(name)
    for other in stored(name):
        if other.settings != one.settings:
            assert replace(other, settings=one.settings).differ() > 0


def test_what_is_stored_is_what_the_conformance_vectors_hold() -> None:
    """Rows and numbers among their inputs, and torchao's MX codes, ml_dtypes' and torch's casts at their places."""
    files = ("inputs.npz", "floats.npz", "torchao_mx.npz")
    inputs, floats, mx = (dict(np.load(DATA / "quantizers" / file)) for file in files)
    for name in MX[:4]:
        key = name.lower().replace(" ", "_")
        for case in stored(name):
            rule = dict(case.settings).get("rule", "floor").upper()
            rows = [next(i for i, row in enumerate(inputs["x"]) if np.array_equal(row, x)) for x in case.x]
            assert np.array_equal(case.codes, mx[f"{key}_{rule}__q"][rows])
    for name, key in {"E4M3": "float8_e4m3fn", "E5M2": "float8_e5m2", "E2M1": "float4_e2m1fn"}.items():
        for case in stored(name):
            theirs = floats[("torch_" if case.reference == "torch" else "") + key + "__code"]
            known = ~np.isnan(floats["x"])
            assert np.array_equal(case.x, floats["x"][known][: case.x.size], equal_nan=True)
            assert np.array_equal(case.codes, theirs[known][: case.x.size])


def test_ties_towards_zero_are_ggml_s_first_minimum() -> None:
    """On weights of BF16, where one in two hundred ties; on float32 weights no rule makes a difference."""
    form = FORMATS["MXFP4"]
    zero = turned(form, (("ties", "zero"),))
    assert elsewhere(zero.quantize(HALVED).values, FORMATS["MXFP4 (GGUF)"].quantize(HALVED).values) == 0
    assert 0.003 < elsewhere(zero.quantize(HALVED).values, form.quantize(HALVED).values) / X.size < 0.007
    assert elsewhere(zero.quantize(X).values, form.quantize(X).values) == 0


@pytest.mark.parametrize("name", MX)
def test_what_lies_beyond_the_largest_number(name: str) -> None:
    """Counted value by value, and by none under ceil and rceil."""
    q = FORMATS[name].quantize(X)
    top, scale = float(q.format.grid.levels[-1]), np.repeat(q.steps.astype(np.float64), 32).reshape(X.shape)
    assert saturated(X, q) == int((np.abs(X.astype(np.float64)) > top * scale).sum()) > 0
    for rule in ("ceil", "rceil"):
        assert saturated(X, turned(FORMATS[name], (("rule", rule),)).quantize(X)) == 0


def test_elsewhere_takes_nan_for_nan_and_the_zeros_for_one() -> None:
    one, other = np.array([0.0, np.nan, 1, np.nan, np.inf]), np.array([-0.0, np.nan, 2, 0, np.inf])
    assert elsewhere(one, other) == 2


def test_every_line_of_the_table_of_references_is_about_a_switch_that_is_there() -> None:
    for _, of, settings, names in WHO:
        for name, setting in product(names, settings):
            assert of in own(FORMATS[name]) and (setting in SETTINGS[of] or setting == own(FORMATS[name])[of])


@both
@pytest.mark.parametrize("name", NAMES)
def test_the_message_is_short_and_computed(name: str, lang: Lang) -> None:
    """Whatever is turned, and with several at once; and a picture for each switch."""
    picked = [{}, *({f"turn_{of}": s} for of in own(FORMATS[name]) for s in SETTINGS[of])]
    picked.append({f"turn_{of}": SETTINGS[of][1] for of in own(FORMATS[name])})
    for i, values in enumerate(picked):
        ctx = context(scene.SCENE, lang, reference_format=name, rounded_input=bool(i % 2), **values)
        view = scene.SCENE.build(ctx)
        said = str(view.facts["said"])
        assert len(said) <= 90 if lang == "en" else len(re.findall(r"[\u4e00-\u9fff]", said)) <= 40
        assert len(view.plates) == len(own(FORMATS[name])) and all(proof.holds for proof in view.proofs)
        size = X.size
        moved = scene.measured(ctx, scene.asked(ctx) or scene.strongest(ctx)).elsewhere
        assert view.numbers[1].value == f"{moved:,} / {size:,}"


def test_rows_that_are_no_whole_blocks_are_strung_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 100 in blocks of 32: the 800 values are measured as 25 blocks."""
    x = X.reshape(-1)[:800]
    monkeypatch.setattr(quantizing_references, "tensor", lambda data: x.reshape(8, 100))
    found = quantizing_references.under.__wrapped__(Data("ffn_in"), "Q4_0", (("seen", "stored"),), False)
    ours = turned(FORMATS["Q4_0"], (("seen", "stored"),)).quantize(x)
    assert found.sqnr == errors(x, ours.values).sqnr


def test_the_table_holds_every_setting() -> None:
    view = scene.SCENE.build(context(scene.SCENE, "en"))
    assert view.table is not None
    row = dict(zip(view.table["setting"], zip(*view.table.values(), strict=True), strict=True))
    assert set(row) == {"floor", "ceil", "even", "rceil", "to even", "away from 0", "to 0"}
    assert row["floor"][2] == "torchao, microxcaling and ggml" and row["to 0"][2] == "ggml"
    assert row["floor"][4] == row["to even"][5] == 0 < row["to 0"][5] < row["away from 0"][5]
    assert row["ceil"][3] < row["rceil"][3] < row["floor"][3] < row["even"][3], "MXFP4 on weights"


def test_a_format_that_made_the_weights_has_no_sqnr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene, "stored_as", lambda data: (Before("Q4_1", 4),))
    view = scene.SCENE.build(context(scene.SCENE, "en"))
    assert view.table is not None and "SQNR dB" not in view.table and "dB" not in str(view.facts["said"])
    assert "dB" not in view.plates[0].figure.to_json()


@pytest.mark.parametrize(("name", "last"), [("E4M3", "448"), ("E5M2", "57344")])
def test_beyond_the_largest_number_a_value_stays_or_is_lost(name: str, last: str) -> None:
    figure = scene.SCENE.build(context(scene.SCENE, "en", reference_format=name)).plates[1].figure
    crosses = [trace for trace in figure.data if trace.marker.symbol == "x-thin"]
    assert len(crosses) == 1 and all("→ NaN" in text or "→ ∞" in text for text in crosses[0].customdata)
    assert f"∞ → {last}" in figure.layout.annotations[0].text


def test_lost_values_are_crosses() -> None:
    figure = slides(Look(), [1.0, 2.0, 3.0], [Line("f", [1.0], [1.0, np.nan, np.inf])], Scale())
    crosses = next(trace for trace in figure.data if trace.marker.symbol == "x-thin")
    assert list(crosses.x) == [2, 3] and list(crosses.customdata) == ["<b>2 → NaN</b>", "<b>3 → ∞</b>"]
    assert all(trace.marker.symbol != "x-thin" for trace in slides(Look(), [1.0], [Line("f", [1], [1])], Scale()).data)
