"""The cached calls about one tensor: small frozen arguments in, arrays and frozen results out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from viz_core.proofs import Proof, quantizers
from viz_core.quantizers import compare
from viz_core.quantizers.compare import Row, quantize_any
from viz_core.quantizers.format import Format
from viz_core.quantizers.quantized import Quantized
from viz_core.quantizers.registry import FORMATS, bnb, symmetric
from viz_core.quantizers.samples import excess_kurtosis
from viz_core.quantizers.table import Table
from viz_core.ui.params import Choice, Whole
from viz_core.ui.quantizing_data import Data, seen

NAMES = tuple(FORMATS)
HALVES, CASTS = ("FP16", "BF16"), ("E2M1", "E2M3", "E3M2")
COMPARED = tuple(name for name in FORMATS if name not in HALVES + CASTS)
"""All formats but those of 16 bits and the short casts without a scale, which lie far off a chart of errors."""
FORMAT = Choice("format", NAMES, "Q4_0")
BLOCK = Whole("block", 0, 63, 3)


def tensor(data: Data) -> np.ndarray:
    """The chosen tensor, float32 (rows, columns)."""
    return seen(data).values


@dataclass(frozen=True)
class Pair:
    """A tensor as it was quantized (its rows strung together where they had to be), and the result.

    `name` is the format's in `FORMATS`, which tells ggml's MXFP4 and NVFP4 from the others.
    """

    before: np.ndarray
    after: Quantized
    name: str


@st.cache_resource(max_entries=48, show_spinner=False)
def pair(data: Data, name: str) -> Pair:
    """The chosen tensor in the format of that name."""
    return Pair(*quantize_any(tensor(data), FORMATS[name]), name)


@st.cache_data(max_entries=512, show_spinner=False)
def row(data: Data, name: str) -> Row:
    """Bits and errors of a format on the chosen tensor."""
    found = pair(data, name)
    return compare.row(tensor(data), found.before, found.after)


def rest(pair: Pair, at: int) -> int:
    """How many values from number `at` on have the same points: the rest of its block, or of all where none scales."""
    if pair.after.scale is None:
        return pair.before.size - at
    block, start = pair.after.layout.place(at)
    return int(pair.after.layout.lengths()[block]) - start


@st.cache_data(max_entries=512, show_spinner=False)
def points_proof(data: Data, name: str) -> Proof:
    """Every value of the chosen tensor is a point of its block."""
    return quantizers.on_points(pair(data, name).after)


@st.cache_data(max_entries=32, show_spinner=False)
def kurtosis(data: Data) -> float:
    """Excess kurtosis of the chosen tensor."""
    return excess_kurtosis(tensor(data))


def fits(data: Data, name: str) -> bool:
    """Whether the tensor has enough values for one block of that format."""
    form, x = FORMATS[name], tensor(data)
    return form.fits(x.shape) or x.size >= form.multiple


SIZES = (16, 32, 64, 128, 256, 512)
GROUPED: tuple[str, ...] = ("int4", "uint4", "NF4", "FP4")


def grouped(kind: str, size: int) -> Format:
    """A 4-bit format with blocks of `size`: integers with FP16 scales, tables with FP32 peaks as bitsandbytes."""
    found = FORMATS[kind if kind in ("NF4", "FP4") else f"{kind} g64"]
    if isinstance(found.grid, Table):
        return bnb(found.grid, size)
    return found.with_block(size) if kind != "int4" else symmetric(4, size, scale=found.scale or found)


@st.cache_data(max_entries=32, show_spinner=False)
def by_block(data: Data) -> dict[str, list[Row]]:
    """Each 4-bit kind at every block size."""
    x = tensor(data)
    return {kind: compare.compare(x, [grouped(kind, size) for size in SIZES]) for kind in GROUPED}


@st.cache_data(max_entries=4, show_spinner=False)
def ggml_proof() -> Proof:
    """Bytes equal to ggml's on the bundled weights, every type that has a digest."""
    return quantizers.ggml_bytes()
