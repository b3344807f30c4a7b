"""How the heads of a model are laid out as tiles, and how many cells each tile may have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from viz_core.figures.colour_bar import ROOM
from viz_core.figures.layout import Look

CELLS: Final = 640_000  # bytes of cells: under 1 MB of base64
SHARP: Final = 1.5  # cells a pixel; finer is not seen
TITLED: Final = 64  # px a tile needs to carry its name
LARGEST: Final = 170  # px of a tile
Tiles = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Head:
    """Which head a tile shows, and what is said of it, such as the measure that the heads are sorted by."""

    layer: int
    head: int
    caption: str = ""

    @property
    def name(self) -> str:
        """L3 H2: layers and heads count from 0."""
        return f"L{self.layer} H{self.head}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Where tiles stand: columns, pixels of a tile and of the gutter under it, and whether tiles carry their names.

    `natural` means that columns are layers and rows heads (on a phone the reverse), which the axes then name.
    """

    columns: int
    tile: float
    titled: bool
    natural: bool

    @property
    def gutter(self) -> float:
        """The gutter over a tile and left of it, as a share of the tile."""
        return (20 if self.titled else 3) / self.tile


def cells_a_side(look: Look, heads: Sequence[Head], tokens: int, height: float = 460) -> int:
    """To how many cells a side each head is to be pooled: the mosaic stays under 1 MB and nothing seen is lost."""
    shape = plan(look, heads, height)
    slots = shape.columns * math.ceil(len(heads) / shape.columns)
    room = math.isqrt(CELLS // max(slots, 1))
    return max(1, min(tokens, math.ceil(SHARP * shape.tile), int(room / (1 + shape.gutter)) - 1))


def pool(weights: Tiles, side: int) -> NDArray[np.float32]:
    """Heads (…, n, m) as at most (side, side) cells each, a cell the largest weight of its square; NaN: all masked."""
    *lead, n, m = weights.shape
    step = math.ceil(max(n, m) / side)
    rows, columns = math.ceil(n / step), math.ceil(m / step)
    padded = np.full((*lead, rows * step, columns * step), -np.inf, np.float32)
    np.copyto(padded[..., :n, :m], weights, where=~np.isnan(weights), casting="same_kind")
    largest = padded.reshape(*lead, rows, step, columns, step).max(axis=(-3, -1))
    return np.where(np.isinf(largest), np.float32(np.nan), largest)


def plan(look: Look, heads: Sequence[Head], height: float) -> Plan:
    """The arrangement whose tiles are largest: layer × head where all heads are there in order, else rows in order."""
    layers, width = (len({getattr(h, field) for h in heads}) or 1 for field in ("layer", "head"))
    natural = [(h.layer, h.head) for h in heads] == [(i, j) for i in range(layers) for j in range(width)]
    room, high = look.width - look.px(56), look.px(height) - ROOM - look.px(40)
    if look.phone:
        columns = width if natural else min(6, len(heads) or 1)
        return _planned(columns, room / columns, natural)
    if natural:
        return _planned(layers, min(room / layers, high / width), natural)
    fits = ((min(room / c, high / math.ceil(len(heads) / c)), c) for c in range(1, len(heads) + 1))
    tile, columns = max(fits, default=(high, 1))
    return _planned(columns, tile, natural)


def _planned(columns: int, tile: float, natural: bool) -> Plan:
    return Plan(columns, min(tile, LARGEST), tile >= TITLED, natural)
