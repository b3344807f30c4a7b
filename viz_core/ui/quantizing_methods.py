"""The cached calls about methods around the formats: what a tensor looked like before and after each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from viz_core.figures.mirrored import Tally, tally
from viz_core.i18n import Lang
from viz_core.model.layer_inputs import Matrix
from viz_core.quantizers.errors import errors
from viz_core.quantizers.layerwise import by_awq, by_hqq, by_smoothing
from viz_core.quantizers.registry import symmetric
from viz_core.quantizers.remedies import Remedy, in_rows, outliers, treat
from viz_core.quantizers.samples import excess_kurtosis
from viz_core.ui import quantizing, quantizing_model
from viz_core.ui.quantizing_data import Data
from viz_core.ui.quantizing_flow import SHARE


@dataclass(frozen=True)
class Treatment:
    """What a remedy does: histograms of values and of errors, plain against treated; SQNR and kurtosis of both.

    Of the tensor in rows: how many there are, how many rows and columns hold an outlier; of splitting, how many values
    of the columns kept apart FP16 lost by overflow (`lost`), or turned to zero (`sunk`).
    """

    values: Tally
    errors: Tally
    sqnr: tuple[float, float]
    kurtosis: tuple[float, float]
    size: int
    rows: int
    columns: int
    lost: int
    sunk: int


@dataclass(frozen=True)
class Eased:
    """What a method does to a layer: histograms of what the grid sees and of the output's errors, plain against eased.

    Mean squared errors (plain, eased) of the weights, of outputs on the text it was fitted to and on other text.
    """

    seen: Tally
    errors: Tally
    weight: tuple[float, float]
    output: tuple[float, float]
    unseen: tuple[float, float]
    detail: float


@st.cache_data(max_entries=32, show_spinner=False)
def eased(lang: Lang, number: int, name: Matrix, method: str, bits: int, alpha: float) -> Eased:
    """One matrix of the bundled model, rounded plainly and by "awq", "smooth" (with this exponent) or "hqq"."""
    layer = quantizing_model.layer(lang, number, name)
    if method == "smooth":
        found = by_smoothing(layer.inputs, layer.weight, bits, alpha)
    else:
        found = (by_awq if method == "awq" else by_hqq)(layer.inputs, layer.weight, bits)
    off = [answer(layer.inputs) - layer.inputs @ layer.weight for answer in found.outputs]
    new = [answer(layer.unseen) - layer.unseen @ layer.weight for answer in found.outputs]
    return Eased(
        tally(*found.seen),
        tally(off[0], off[1], share=SHARE),
        _power([w - layer.weight for w in found.weights]),
        _power(off),
        _power(new),
        found.detail,
    )


def _power(errors: list[np.ndarray]) -> tuple[float, float]:
    """Mean squares of two errors."""
    first, second = (float(np.mean(error**2, dtype=np.float64)) for error in errors)
    return first, second


@st.cache_data(max_entries=32, show_spinner=False)
def treatment(data: Data, remedy: Remedy, bits: int) -> Treatment:
    """The chosen tensor in rows of 128, plain and treated."""
    x = in_rows(quantizing.tensor(data))
    plain = symmetric(bits, "row").round(x)
    seen, after = treat(x, remedy, bits)
    far = outliers(x)
    apart = x[:, far.any(axis=0)] if remedy == "split" else x[:, :0]
    kept = after[:, far.any(axis=0)] if remedy == "split" else apart
    return Treatment(
        tally(x, seen),
        tally(plain - x, after - x, share=SHARE),
        (errors(x, plain).sqnr, errors(x, after).sqnr),
        (excess_kurtosis(x), excess_kurtosis(seen)),
        len(x),
        int(far.any(axis=1).sum()),
        int(far.any(axis=0).sum()),
        int((~np.isfinite(kept)).sum()),
        int(((apart != 0) & (kept == 0)).sum()),
    )
