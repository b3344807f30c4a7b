"""The cached calls about methods around the formats: what a tensor looked like before and after each."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from viz_core.figures.snapping import Tally, tally
from viz_core.quantizers.errors import errors
from viz_core.quantizers.registry import symmetric
from viz_core.quantizers.remedies import Remedy, in_rows, treat
from viz_core.quantizers.samples import excess_kurtosis
from viz_core.ui import quantizing
from viz_core.ui.quantizing import SHARE
from viz_core.ui.quantizing_data import Data


@dataclass(frozen=True)
class Treatment:
    """What a remedy does: histograms of values and of errors, plain against treated; SQNR and kurtosis of both."""

    values: Tally
    errors: Tally
    sqnr: tuple[float, float]
    kurtosis: tuple[float, float]


@st.cache_data(max_entries=32, show_spinner=False)
def treatment(data: Data, remedy: Remedy, bits: int) -> Treatment:
    """The chosen tensor in rows of 128, plain and treated."""
    x = in_rows(quantizing.tensor(data))
    plain = symmetric(bits, "row").round(x)
    seen, after = treat(x, remedy, bits)
    return Treatment(
        tally(x, seen),
        tally(plain - x, after - x, share=SHARE),
        (errors(x, plain).sqnr, errors(x, after).sqnr),
        (excess_kurtosis(x), excess_kurtosis(seen)),
    )
