"""In which order a walk visits its tiles: every one gives the same output, and moves other bytes.

FA1 and FA2 are the same walk with the loops exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from viz_core.i18n import Problem

Tile = tuple[int, int]
Order = Callable[[int, int], Iterable[Tile]]
NAMED = 12  # so many tiles are named in a sentence; the rest are counted


def fa1(row_tiles: int, col_tiles: int) -> Iterator[Tile]:
    """Key tiles outside, query tiles inside: K and V are loaded once, the state of every row again and again."""
    return ((i, j) for j in range(col_tiles) for i in range(row_tiles))


def fa2(row_tiles: int, col_tiles: int) -> Iterator[Tile]:
    """Query tiles outside, key tiles inside: a row's state never leaves before it is done."""
    return ((i, j) for i in range(row_tiles) for j in range(col_tiles))


def snake(row_tiles: int, col_tiles: int) -> Iterator[Tile]:
    """As FA2, every other row backwards: the last key tile of a row is the first of the next."""
    return ((i, j if i % 2 == 0 else col_tiles - 1 - j) for i in range(row_tiles) for j in range(col_tiles))


def shuffled(seed: int) -> Order:
    """Any order at all, drawn from a seed."""

    def order(row_tiles: int, col_tiles: int) -> Iterator[Tile]:
        drawn = np.random.default_rng(seed).permutation(row_tiles * col_tiles)
        return (divmod(int(t), col_tiles) for t in drawn)

    return order


def own(tiles: Iterable[Tile], masked: Iterable[Tile] = ()) -> Order:
    """The reader's own order; wholly masked tiles may be left out.

    The order raises Problem, naming the tiles, when it leaves the grid, repeats a tile (its keys would count twice) or
    misses one.
    """
    drawn, free = [(int(i), int(j)) for i, j in tiles], set(masked)

    def order(row_tiles: int, col_tiles: int) -> Iterable[Tile]:
        grid = set(fa2(row_tiles, col_tiles))
        if outside := [t for t in drawn if t not in grid]:
            raise Problem("attention_order_outside", tiles=named(outside), rows=row_tiles, cols=col_tiles)
        if twice := sorted({t for t in drawn if drawn.count(t) > 1}):
            raise Problem("attention_order_repeats", tiles=named(twice))
        if missing := sorted(grid - set(drawn) - free):
            raise Problem("attention_order_misses", tiles=named(missing), count=len(missing))
        return drawn

    return order


def parse(text: str) -> list[Tile]:
    """Tiles typed as `row,column` pairs: "0,0 0,1 1,0". Raises Problem at the first thing that is not such a pair."""
    words = [w for w in re.split(r"[\s;，；、()（）]+", text.replace(", ", ",")) if w]
    tiles = []
    for word in words:
        if not (pair := re.fullmatch(r"(\d{1,6}),(\d{1,6})", word)):
            raise Problem("attention_order_word", word=word[:40])
        tiles.append((int(pair[1]), int(pair[2])))
    return tiles


def named(tiles: Iterable[Tile]) -> str:
    """Tiles as a reader says them: (0, 1), (2, 3) …"""
    known = list(tiles)
    return ", ".join(f"({i}, {j})" for i, j in known[:NAMED]) + (" …" if len(known) > NAMED else "")


ORDERS: dict[str, Order] = {"fa2": fa2, "snake": snake, "fa1": fa1, "random": shuffled(0)}
