"""What is said of values that a format destroys, and of formats that are left out, on every scene about one tensor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from viz_core import units
from viz_core.quantizers.compare import Row
from viz_core.ui import quantizing
from viz_core.ui.quantizing_data import Data
from viz_core.ui.scene import Context

ONE_BY_ONE = 2
"""Formats that are spoken of one by one; of more, those that lose values are listed."""


def losses(context: Context, rows: Mapping[str, Row]) -> list[str]:
    """What overflowed, then what was too small: a sentence for each format, or one that names them all."""
    return [*_overflowed(context, rows), *_sunk(context, rows)]


def exact(context: Context, rows: Mapping[str, Row]) -> list[str]:
    """A sentence that names the formats without any error, which have no place on an axis of decibels."""
    found = [name for name, row in rows.items() if row.whole and math.isinf(row.errors.sqnr)]
    return [context.t("quant.exact", names=context.listed(found))] if found else []


def _overflowed(context: Context, rows: Mapping[str, Row]) -> list[str]:
    found = {name: row.lost for name, row in rows.items() if row.lost is not None}
    if len(found) > ONE_BY_ONE:
        return [context.t("quant.lost_formats", names=context.listed(found))]
    return [context.t(f"quant.lost_{one.part}", name=name, grid=one.grid, n=units.count(one.count))
            for name, one in found.items()]


def _sunk(context: Context, rows: Mapping[str, Row]) -> list[str]:
    found = {name: row.sunk for name, row in rows.items() if row.sunk is not None}
    if len(found) <= ONE_BY_ONE:
        return [context.t(f"quant.sunk_{one.became}", name=name, grid=one.grid, n=units.count(one.count))
                for name, one in found.items()]
    under = [name for name, one in found.items() if one.became != "all"]
    gone = [name for name, one in found.items() if one.became == "all"]
    return [context.t(f"quant.{key}", names=context.listed(names))
            for key, names in (("sunk_formats", under), ("sunk_formats_all", gone)) if names]


def too_small(context: Context, data: Data, names: Sequence[str]) -> list[str]:
    """Which of these formats are left out, as one of their blocks holds more values than the tensor has."""
    out = [name for name in names if not quantizing.fits(data, name)]
    size = units.count(quantizing.tensor(data).size)
    return [context.t("quant.too_small", n=size, names=context.listed(out))] if out else []


def cell(row: Row, value: float, digits: int | None = None) -> float | None:
    """A measure for a table; empty where values were lost, which then sorts last."""
    if row.lost is not None:
        return None
    return value if digits is None else round(value, digits)
