"""The roofline: how long a GPU needs at least for so many FLOPs and bytes, and which of the two decides.

Williams, Waterman and Patterson, "Roofline: an insightful visual performance model" (2009). Left out: latency, launch
costs, caches, and that no kernel reaches either limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from viz_core.sizing.hardware import Gpu

Bound = Literal["compute", "memory"]


@dataclass(frozen=True, slots=True)
class Load:
    """A piece of work: floating-point operations and bytes moved from or to memory."""

    flops: float
    bytes: float

    @property
    def intensity(self) -> float:
        """FLOPs a byte; 0 where nothing is moved."""
        return self.flops / self.bytes if self.bytes else 0.0


def bound(load: Load, gpu: Gpu) -> Bound:
    """What limits this work on this GPU: its arithmetic, or its memory."""
    return "compute" if load.intensity > gpu.ridge else "memory"


def seconds(load: Load, gpu: Gpu) -> float:
    """The least time, when both limits are reached at once."""
    return max(load.flops / gpu.flops, load.bytes / gpu.bandwidth)


def turning_point(intensity: Callable[[int], float], gpu: Gpu, most: int) -> int | None:
    """The fewest tokens n ≤ most whose prefill `intensity(n)` reaches the GPU's ridge; None where none does.

    Needs an intensity that grows with n; asks for few values, because each is a real forward pass.
    """
    low, high = 0, most + 1  # low: below the ridge; high: at or above it, or beyond `most`
    guess = min(most, max(1, round(gpu.ridge)))
    while high - low > 1:
        reached = intensity(guess)
        low, high = (low, guess) if reached >= gpu.ridge else (guess, high)
        guess = min(high - 1, max(low + 1, round(guess * gpu.ridge / reached)))
    return None if high > most else high
