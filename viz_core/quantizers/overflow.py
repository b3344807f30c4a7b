"""Values that a format destroys: finite before, infinite or NaN after, and which of its parts left its range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz_core.quantizers.quantized import Quantized

Part = Literal["scale", "offset", "zero", "reciprocal", "value"]


@dataclass(frozen=True, slots=True)
class Lost:
    """How many values were lost, to which part of the format, and the grid whose range it left."""

    count: int
    part: Part
    grid: str


def lost(x: np.ndarray, q: Quantized) -> Lost | None:
    """What `q` lost of `x`; None where every finite value came back finite."""
    count = int((np.isfinite(x.reshape(-1)) & ~np.isfinite(q.values.reshape(-1))).sum())
    return Lost(count, *_cause(q)) if count else None


def _cause(q: Quantized) -> tuple[Part, str]:
    """The part that is not finite, the innermost of nested scales; else the value itself."""
    parts: tuple[tuple[Part, Quantized | None], ...] = (("scale", q.scale), ("offset", q.offset))
    for name, part in parts:
        if part is not None and not np.isfinite(part.values).all():
            while part.scale is not None and not np.isfinite(part.scale.values).all():
                part = part.scale
            return name, part.format.grid.name
    if q.zero is not None and q.format.zero is not None and not np.isfinite(q.zero).all():
        return "zero", q.format.zero.grid.name
    if q.scale is None:
        return "value", q.format.grid.name
    with np.errstate(over="ignore", divide="ignore"):
        small = bool(np.isinf(np.float32(1) / q.steps[q.steps != 0]).any())
    return "reciprocal" if small else "value", "FP32"
