"""The loss curve of a training run, and under it what the model can copy: a jump there is a dip above.

Read from the run's own log, a CSV with a header; columns that are named are drawn, all others ignored.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from viz_core.figures.curves import Curve, Panel, panels
from viz_core.figures.layout import Look
from viz_core.figures.numbers import spoken
from viz_core.figures.scales import Scale
from viz_core.figures.theme import Hue
from viz_core.i18n import Problem

MOST = 100_000  # rows of a log
Log = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the log: its header, what the figure calls it, its hue, and the unit after its last value."""

    header: str
    name: str
    hue: Hue
    unit: str = ""


def read_log(path: Path, headers: Sequence[str]) -> Log:
    """The named columns of a CSV log, equally long; a field that is no finite number is NaN, which leaves a gap.

    Raises Problem where the file cannot be read, a column is missing, or there are more than MOST rows.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row, _ in zip(csv.DictReader(file), range(MOST + 1), strict=False)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Problem("figure_log_unreadable", file=path.name) from error
    if len(rows) > MOST:
        raise Problem("figure_log_long", file=path.name, most=MOST)
    missing = [header for header in headers if not rows or header not in rows[0]]
    if missing:
        raise Problem("figure_log_columns", file=path.name, columns=", ".join(missing))
    return {header: np.array([_number(row[header]) for row in rows]) for header in headers}


def _number(text: str | None) -> float:
    try:
        value = float(text or "nan")
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def training(
    look: Look, log: Log, x: Scale, loss: Scale, losses: Sequence[Column], share: Scale, shares: Sequence[Column]
) -> go.Figure:
    """Two panels over the log's column `step`: losses above, shares (such as percent copied) below.

    Each curve is named at its end with its last value.
    """
    upper = Panel(_lines(log, losses), loss, (0.3, 1.0))
    lower = Panel(_lines(log, shares), share, (0.0, 0.3))
    return panels(look, [upper, lower], x, height=380)


def _lines(log: Log, columns: Sequence[Column]) -> list[Curve]:
    return [
        Curve(column.name, log["step"], log[column.header], column.hue, end=_last(log[column.header]) + column.unit)
        for column in columns
    ]


def _last(values: NDArray[np.float64]) -> str:
    seen = values[np.isfinite(values)]
    return spoken(round(float(seen[-1]), 3)) if seen.size else ""
