"""The cached calls on switches where references differ: a tensor under one setting, and what becomes of ties."""

from __future__ import annotations

import numpy as np
import streamlit as st

from viz_core.quantizers.compare import regrouped
from viz_core.quantizers.errors import errors
from viz_core.quantizers.format import Format
from viz_core.quantizers.minifloat import Minifloat
from viz_core.quantizers.references import Settings, Turned, elsewhere, saturated, turned
from viz_core.quantizers.registry import FORMATS
from viz_core.ui.quantizing import tensor
from viz_core.ui.quantizing_data import Data

TIES = 8
"""So many half-way values are shown, those next to zero."""


@st.cache_data(max_entries=512, show_spinner=False)
def under(data: Data, name: str, settings: Settings, rounded: bool) -> Turned:
    """The chosen tensor, with `rounded` rounded to BF16 before, in the format with these switches turned."""
    x = regrouped(tensor(data), FORMATS[name])
    x = FORMATS["BF16"].round(x) if rounded else x
    before, after = FORMATS[name].quantize(x), turned(FORMATS[name], settings).quantize(x)
    return Turned(errors(x, after.values).sqnr, elsewhere(before.values, after.values), saturated(x, after))


def cast(name: str, settings: Settings, values: np.ndarray) -> np.ndarray:
    """Values (n,) in the grid of a format with these switches turned, without its scale."""
    return Format(name=name, grid=turned(FORMATS[name], settings).grid).quantize(values).values


def ties(name: str) -> np.ndarray:
    """Values half-way between neighbouring points of a format's grid, those next to zero, ascending float32."""
    levels = FORMATS[name].grid.levels
    halves = (levels[1:] + levels[:-1]) / np.float32(2)
    return np.sort(halves[np.argsort(np.abs(halves), kind="stable")[:TIES]])


def beyond(name: str) -> np.ndarray:
    """Values from the largest number of a float format on to the place where its next number would be."""
    grid = FORMATS[name].grid
    assert isinstance(grid, Minifloat)
    gap = grid.top - float(grid.levels[-2])
    return np.array([grid.top + gap * part for part in (0, 1 / 32, 1 / 2, 17 / 32, 1)], np.float32)
