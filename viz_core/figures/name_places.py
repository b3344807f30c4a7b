"""Where the names of points stand: beside them, or at a free place nearby with a thin line to the point.

All lengths are px, y downwards. A name touches no point, no other name and no edge; a line crosses names, lines and
other points only where that is cheaper than a longer one. Earlier points choose first; then each name may move once
more, one beside its point too if lines cross it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, radians, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIDES = ("middle right", "top center", "bottom center", "middle left",
         "top right", "bottom right", "top left", "bottom left")  # fmt: skip
NEAR, STEP, TURN = 14, 8, 20  # the shortest line, what the next is longer, degrees between directions
AIR = 2.0  # between a name at the end of a line and what is near it
ROUNDS = 2  # a name may move again once the others stand
REACH = 240  # the longest line, but where no place is free so near
NAME_HIT, LINE_HIT, DOT_HIT = 200.0, 60.0, 12.0  # px of line that crossing a name, a line or a point is worth
LED = 40.0  # and that a line is worth at all


class Box(NamedTuple):
    """A rectangle in px."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: Box) -> bool:
        """Whether the two overlap."""
        return not (
            self.right <= other.left or other.right <= self.left or self.bottom <= other.top or other.bottom <= self.top
        )

    def holds(self, other: Box) -> bool:
        """Whether the other lies within."""
        return (self.left <= other.left and other.right <= self.right and self.top <= other.top
                and other.bottom <= self.bottom)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Name:
    """A point's name to be placed: the point, and how wide and high the name is drawn."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Spot:
    """A name's place: the side of its point, or from the point to the middle of the name where a line leads there.

    Neither where there is no free place at all.
    """

    side: str = ""
    away: tuple[float, float] | None = None


def box_of(name: Name, spot: Spot, radius: float) -> Box | None:
    """The rectangle that the name takes, None where it has no place."""
    if spot.away is not None:
        x, y = name.x + spot.away[0], name.y + spot.away[1]
        return Box(x - name.width / 2, y - name.height / 2, x + name.width / 2, y + name.height / 2)
    return _beside(name, spot.side, radius) if spot.side else None


def _beside(name: Name, side: str, r: float) -> Box:
    vertical, horizontal = side.split()
    left = {"right": name.x + r, "center": name.x - name.width / 2, "left": name.x - r - name.width}[horizontal]
    top = {"middle": name.y - name.height / 2, "top": name.y - r - name.height, "bottom": name.y + r}[vertical]
    return Box(left, top, left + name.width, top + name.height)


def dot(name: Name, radius: float) -> Box:
    """The rectangle of the point itself."""
    return Box(name.x - radius, name.y - radius, name.x + radius, name.y + radius)


def places(names: Sequence[Name], room: Box, radius: float, lines: bool = True) -> list[Spot]:
    """A spot for each name within `room`; `radius` is that of a point; without `lines` beside the points alone."""
    taken = [dot(name, radius) for name in names]
    out = [Spot()] * len(names)
    for i, name in enumerate(names):
        out[i] = Spot(next(iter(_free_sides(name, taken, room, radius)), ""))
        box = box_of(name, out[i], radius)
        taken += [] if box is None else [box]
    for _ in range(ROUNDS if lines else 0):
        for i in range(len(names)):
            out[i] = _better(i, names, out, room, radius)
    return out


def _better(i: int, names: Sequence[Name], stand: Sequence[Spot], room: Box, radius: float) -> Spot:
    """The best spot for one name as the others stand: beside its point if no line crosses it there, or the cheaper."""
    name, others = names[i], [(n, spot) for k, (n, spot) in enumerate(zip(names, stand, strict=True)) if k != i]
    texts = [box for n, spot in others if (box := box_of(n, spot, radius)) is not None]
    lines = _rows([line_of(n, spot.away) for n, spot in others if spot.away is not None])
    dots = [dot(n, radius) for n, _ in others]
    sides = _free_sides(name, [*dots, *texts], room, radius)
    hits = _crossed(lines, _rows([_beside(name, side, radius) for side in sides])).sum(axis=0)
    side = min(range(len(sides)), key=lambda k: hits[k], default=None)
    if side is not None and not hits[side]:
        return Spot(sides[side])
    spot, cost = _at_a_line(name, _rows(texts), lines, _rows(dots), room, radius)
    return Spot(sides[side]) if side is not None and NAME_HIT * hits[side] <= LED + cost else spot


def _free_sides(name: Name, taken: Sequence[Box], room: Box, radius: float) -> list[str]:
    """The sides where the name touches nothing but its own point, the best first."""
    own, boxes = dot(name, radius), {side: _beside(name, side, radius) for side in SIDES}
    return [side for side, box in boxes.items()
            if room.holds(box) and not any(box.touches(other) for other in taken if other != own)]


def line_of(name: Name, away: tuple[float, float]) -> tuple[float, float, float, float]:
    """The line from a point to the edge of its name, (x0, y0, x1, y1)."""
    across, up = (abs(reach) / abs(part) if part else np.inf
                  for reach, part in zip((name.width / 2, name.height / 2), away, strict=True))
    share = max(0.0, 1 - min(across, up))
    return name.x, name.y, name.x + away[0] * share, name.y + away[1] * share


def _at_a_line(
    name: Name,
    texts: NDArray[np.float64],
    lines: NDArray[np.float64],
    dots: NDArray[np.float64],
    room: Box,
    radius: float,
) -> tuple[Spot, float]:
    """The best free place at the end of a line and what it costs; none where all are taken."""
    far = hypot(room.right - room.left, room.bottom - room.top)
    for reach in (REACH, far):
        ends = _free_ends(name, room, np.concatenate([texts, dots, _rows([dot(name, radius)])]), reach)
        if len(ends):
            break
    else:
        return Spot(), np.inf
    strokes = _rows([line_of(name, (x - name.x, y - name.y)) for x, y in ends])
    wide = texts + np.array([-AIR, -AIR, AIR, AIR])
    cost = NAME_HIT * (_crossed(strokes, wide).sum(axis=1) + _crossed(lines, _padded(name, ends)).sum(axis=0))
    cost += LINE_HIT * _meeting(strokes, lines) + DOT_HIT * _crossed(strokes, dots).sum(axis=1)
    cost += np.hypot(*(strokes[:, 2:] - strokes[:, :2]).T)
    best = int(cost.argmin())
    return Spot("", (float(ends[best, 0] - name.x), float(ends[best, 1] - name.y))), float(cost[best])


def _rows(of: Sequence[tuple[float, ...]]) -> NDArray[np.float64]:
    """Boxes or lines as an array, (n, 4)."""
    return np.array(of, np.float64).reshape(-1, 4)


def _touching(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each box overlaps any of the others."""
    one, other = boxes[:, None], others[None]
    apart = (one[..., 2:] <= other[..., :2]) | (other[..., 2:] <= one[..., :2])
    return np.asarray((~apart.any(axis=-1)).any(axis=-1))


def _free_ends(name: Name, room: Box, around: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """Middles of the name on rays around its point, at most `reach` long, where it touches nothing: (places, 2)."""
    out = []
    for angle in range(0, 360, TURN):
        x, y = cos(radians(angle)), sin(radians(angle))
        inner = min(name.width / 2 / max(abs(x), 1e-9), name.height / 2 / max(abs(y), 1e-9))
        lengths = np.arange(inner + NEAR, inner + reach, STEP)
        out.append(np.stack([name.x + x * lengths, name.y + y * lengths], axis=1))
    ends = np.concatenate(out)
    boxes = _padded(name, ends)
    inside = (boxes[:, :2] >= room[:2]).all(axis=1) & (boxes[:, 2:] <= room[2:]).all(axis=1)
    ends, boxes = ends[inside], boxes[inside]
    return ends[~_touching(boxes, around)]


def _padded(name: Name, ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rectangles of the name at these middles, with air around, (places, 4)."""
    half = np.array([name.width / 2 + AIR, name.height / 2 + AIR])
    return np.hstack([ends - half, ends + half])


def _crossed(strokes: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each line passes through each box: by the share of the line that is within both pairs of edges."""
    start, run = strokes[:, None, :2], (strokes[:, 2:] - strokes[:, :2])[:, None]
    run = np.where(np.abs(run) < 1e-9, 1e-9, run)
    one, other = (boxes[None, :, :2] - start) / run, (boxes[None, :, 2:] - start) / run
    enter, leave = np.minimum(one, other).max(axis=-1), np.maximum(one, other).min(axis=-1)
    return (enter < leave) & (enter < 1) & (leave > 0)


def _meeting(strokes: NDArray[np.float64], lines: NDArray[np.float64]) -> NDArray[np.int_]:
    """How many of the lines each stroke crosses."""
    a, b = strokes[:, None, :2], strokes[:, None, 2:]
    c, d = lines[None, :, :2], lines[None, :, 2:]
    return ((_turn(a, b, c) * _turn(a, b, d) < 0) & (_turn(c, d, a) * _turn(c, d, b) < 0)).sum(axis=1)


def _turn(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """On which side of the line a–b the point c lies, by its sign."""
    return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
