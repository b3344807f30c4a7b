"""Two matrices together: side by side with one range, or their difference on the signed scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import plotly.graph_objects as go

from viz_core.figures.cells import Matrix, end_of
from viz_core.figures.heatmap import heatmap
from viz_core.figures.labels import Labels
from viz_core.figures.layout import Look
from viz_core.i18n import Problem


def side_by_side(look: Look, matrices: Sequence[Matrix], titles: Sequence[str], height: float = 400) -> list[go.Figure]:
    """One figure a matrix, all with the same colour range, laid out for equal shares of the look's width.

    The page puts them into columns, which a phone stacks: there each keeps the whole width.
    """
    share = look if look.phone else replace(look, width=look.width // max(len(matrices), 1))
    end = max((end_of(matrix.values) for matrix in matrices if matrix.values.size), default=1.0)
    return [
        heatmap(share, matrix, top=end, title=title, height=height)
        for matrix, title in zip(matrices, titles, strict=True)
    ]


def minus(one: Matrix, other: Matrix, name: str) -> Matrix:
    """one - other, cell by cell, for `heatmap(..., signed=True)`; masked where either is.

    Where the two have different tokens at a position, both are named. Raises Problem for different shapes.
    """
    if one.values.shape != other.values.shape:
        raise Problem("figure_difference", one=str(one.values.shape), other=str(other.values.shape))
    queries, keys = _both(one.queries, other.queries), _both(one.keys, other.keys)
    return Matrix(one.values - other.values, queries, keys, name=name)


def _both(one: Labels, other: Labels) -> Labels:
    """Labels of both, written once where they agree."""
    texts, hovers = (
        tuple(a if a == b else f"{a}{joint}{b}" for a, b in zip(left, right, strict=True))
        for left, right, joint in ((one.texts, other.texts, "/"), (one.hovers, other.hovers, " / "))
    )
    return Labels(texts, hovers)
