"""What a bar of the snapping histogram says: its interval, its weights, the points they go to, their error."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import streamlit as st

from viz_core import units
from viz_core.figures.numbers import spoken
from viz_core.i18n import Lang, t
from viz_core.quantizers.quantized import Quantized
from viz_core.quantizers.snap import Snapped, snapped
from viz_core.ui import quantizing
from viz_core.ui.quantizing_data import Data

NAMED = 3  # points that one bar names; the rest are counted


@dataclass(frozen=True)
class Moved:
    """The values of a view, (n,) each: code and level of each, how far it moved, and the block where it is one."""

    codes: np.ndarray
    levels: np.ndarray
    moved: np.ndarray
    block: Snapped | None

    @staticmethod
    def of(data: Data, name: str, view: str, number: int) -> Moved:
        """Of one format; `number` is the block, which counts for that view alone."""
        found = quantizing.pair(data, name)
        if view == "block":
            block = snapped(found.before, found.after, number)
            return Moved(block.codes, block.levels, block.error, block)
        return Moved(*_whole(found.after), (found.after.values - found.before).reshape(-1), None)


def _whole(q: Quantized) -> tuple[np.ndarray, np.ndarray]:
    """Codes and levels of a tensor, padding left out."""
    return q.layout.join(q.codes).reshape(-1), q.levels


@st.cache_data(max_entries=64, show_spinner=False)
def bars_say(data: Data, name: str, view: str, number: int, lang: Lang) -> tuple[list[str], list[str]]:
    """Lines for each bin before and after, "" where it is empty."""
    edges, moved = quantizing.counts(data, name, view, number).edges, Moved.of(data, name, view, number)
    before, after = (_say(side.reshape(-1), edges, moved, view, lang)
                     for side in quantizing.sides(data, name, view, number))
    return before, after


def _say(side: np.ndarray, edges: np.ndarray, moved: Moved, view: str, lang: Lang) -> list[str]:
    """One line or more a bin: values lie in the bin whose left edge they reach, the last bin has both its edges."""
    values = side.astype(np.float64)
    where = np.searchsorted(edges, values, side="right") - 1
    where[values == edges[-1]] = len(edges) - 2
    out = [""] * (len(edges) - 1)
    order = np.argsort(where, kind="stable")
    starts = np.searchsorted(where[order], np.arange(len(edges)))
    for k, (start, stop) in enumerate(pairwise(starts)):
        if stop > start:
            held = order[start:stop]
            lines = [t("quant.bar", lang, low=spoken(float(edges[k])), high=spoken(float(edges[k + 1])),
                       n=units.count(len(held)))]
            lines += _points(held, moved, lang) if view != "weights" else []
            error = float(np.abs(moved.moved[held], dtype=np.float64).mean())
            out[k] = "\n".join([*lines, t("quant.bar_error", lang, error=f"{error:.3g}")])
    return out


def _points(held: np.ndarray, moved: Moved, lang: Lang) -> list[str]:
    """The points of the values in one bin, the commonest first."""
    _, first, counts = np.unique(moved.codes[held], return_index=True, return_counts=True)
    lines = []
    for k in np.argsort(-counts, kind="stable")[:NAMED]:
        i, n = int(held[first[k]]), units.count(int(counts[k]))
        code = str(moved.codes[i]).replace("-", "−")
        if moved.block is not None:
            lines.append(t("quant.bar_formula", lang, code=code, n=n, formula=moved.block.formula(i)))
        else:
            lines.append(t("quant.bar_point", lang, code=code, n=n, point=spoken(float(moved.levels[i]))))
    rest = len(counts) - NAMED
    return [*lines, t("quant.bar_more", lang, n=rest)] if rest > 0 else lines
