"""What is said of rows that are no whole blocks: for which of the formats shown they were strung together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viz_core import units
from viz_core.quantizers.compare import regrouped
from viz_core.quantizers.registry import FORMATS
from viz_core.ui.scene import Context

BY_NAME = 4
"""So many formats are named; of more it is said for how many rows are strung together."""


def strung(context: Context, x: np.ndarray, names: Sequence[str]) -> list[str]:
    """That the rows of `x` (rows, columns) were strung together for some of these formats, and what was left over."""
    names = tuple(dict.fromkeys(names))
    shaped = {name: regrouped(x, FORMATS[name]) for name in names}
    some = [name for name in names if shaped[name].shape != x.shape]
    if not some:
        return []
    left = {name: x.size - shaped[name].size for name in some if x.size != shaped[name].size}
    return [_rows(context, x.shape[-1], names, some), *([_left(context, left, len(names))] if left else [])]


def _rows(context: Context, width: int, names: Sequence[str], some: Sequence[str]) -> str:
    """Of one format alone, of all, of some by name, or of how many."""
    kept, row = [name for name in names if name not in some], units.count(width)
    if len(names) == 1:
        form = FORMATS[names[0]]
        return context.t("quant.strung", width=row, block=form.multiple, format=names[0])
    if len(names) > BY_NAME:
        return context.t("quant.strung_count", width=row, n=len(some), of=len(names))
    said = context.listed(context.t("quant.strung_format", format=name, block=FORMATS[name].multiple) for name in some)
    key = "quant.strung_some" if kept else "quant.strung_all"
    return context.t(key, width=row, formats=said, kept=context.listed(kept))


def _left(context: Context, left: dict[str, int], shown: int) -> str:
    """How many values at the end were left out: once where it is the same number or of few formats, else the most."""
    counts = sorted(set(left.values()))
    if shown == 1 or len(counts) == len(left) == 1:
        return context.t("quant.left_over", n=units.count(counts[0]))
    if len(left) > BY_NAME:
        return context.t("quant.left_over_most", n=units.count(counts[-1]))
    said = (context.t("quant.left_over_of", format=name, n=units.count(n)) for name, n in left.items())
    return context.t("quant.left_over_in", counts=context.listed(said))
