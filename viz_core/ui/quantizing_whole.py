"""All values of a tensor that is otherwise looked at through some of them: the choice, and formats measured on it.

One format is measured after another on the float32 values; what is computed in float64 is so piece by piece (see
`quantizers.errors`), and nothing but the tensor and each format's row is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import numpy as np
import streamlit as st

from viz_core import units
from viz_core.figures.layout import Look
from viz_core.i18n import Lang, Problem, t
from viz_core.model import tensors
from viz_core.quantizers import compare
from viz_core.quantizers.compare import Row, quantize_any
from viz_core.quantizers.readable import Looked
from viz_core.quantizers.registry import FORMATS
from viz_core.quantizers.tensor import LARGEST, prepare
from viz_core.ui import cached, controls, uploads
from viz_core.ui.params import Choice, Live
from viz_core.ui.quantizing_data import DATA, FILE, SOURCE, Data, chosen, seen
from viz_core.ui.quantizing_files import part
from viz_core.ui.scene import Bench, Context

SILENT = 0.4
"""Seconds of work before its progress is shown."""


def _counts(found: Looked) -> tuple[str, ...]:
    """How many values may be measured: those that are looked at, and all where there are more."""
    some = units.count(found.values.size)
    return (some, units.count(found.size)) if found.cut and found.size <= LARGEST else (some,)


def _measured(bench: Bench) -> Choice:
    """The two numbers for the tensor that the other controls name; one alone is not asked for."""
    values = {param.name: controls.value_of(param) for param in controls.fixed(DATA, bench)}
    try:
        counts = _counts(seen(chosen(Context(Look(), bench, values), few=True)))
    except Problem:  # the scene says it
        counts = ("",)
    return Choice("measured_on", counts, counts[0], when=(SOURCE.name, SOURCE.options))


MEASURED = Live("measured_on", _measured)


def measures_all(context: Context) -> bool:
    """Whether all values are to be measured, of a tensor that has more than are looked at."""
    counts = _counts(seen(chosen(context, few=True)))
    return len(counts) > 1 and context.values["measured_on"] == counts[1]


@st.cache_resource(max_entries=1, show_spinner=False)
def _whole(data: Data) -> np.ndarray:
    """Every value of a tensor, float32 (rows, columns), finite."""
    if data.source == "model":
        found = tensors.tensor(cached.model(data.where).llama, data.part)
        return prepare(found.read(np.arange(found.shape[0]))).values
    kept = uploads.kept(FILE.name, data.where)
    if kept is None:
        raise Problem("quantizers_file_gone")
    return part(kept.name, kept.data, data.part, whole=True).values


@st.cache_data(max_entries=512, show_spinner=False)
def row(data: Data, name: str) -> Row:
    """Bits and errors of a format on all values."""
    x = _whole(data)
    return compare.row(x, *quantize_any(x, FORMATS[name]))


def rows_of(data: Data, names: Sequence[str], lang: Lang) -> dict[str, Row]:
    """The formats one after another, with a bar that tells how far it is where that takes a while."""
    started, place, out = monotonic(), st.empty(), {}
    for k, name in enumerate(names):
        if monotonic() - started > SILENT:
            place.progress(k / len(names), t("quant.measuring", lang, format=name, k=k, n=len(names)))
        out[name] = row(data, name)
    place.empty()
    return out
