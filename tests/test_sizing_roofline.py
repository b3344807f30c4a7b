"""The roofline: ridges of the data sheets, and where work turns from memory- to compute-bound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_core.sizing.hardware import GPUS, Gpu, gpu
from viz_core.sizing.roofline import Load, bound, seconds, turning_point


def test_known_ridges() -> None:
    """FLOPs a byte, as the makers' sheets give them (dense 16-bit)."""
    ridges = {"a100": 153, "h100": 295, "h200": 206, "rtx4090": 164, "mi300x": 247, "b200": 281}
    assert {g.id: round(g.ridge) for g in GPUS} == ridges


@given(st.floats(1, 1e15), st.floats(1, 1e12))
def test_time_is_the_larger_of_two(flops: float, moved: float) -> None:
    load, card = Load(flops, moved), gpu("a100")
    arithmetic, memory = flops / card.flops, moved / card.bandwidth
    assert seconds(load, card) == max(arithmetic, memory)
    assert bound(load, card) == ("compute" if load.intensity > card.ridge else "memory")


@pytest.mark.parametrize("card", GPUS, ids=lambda g: g.id)
@given(slope=st.floats(0.2, 3), loss=st.floats(0, 0.002))
def test_turning_point_is_the_first(card: Gpu, slope: float, loss: float) -> None:
    def intensity(n: int) -> float:
        return slope * n / (1 + loss * n)

    brute = next((n for n in range(1, 513) if intensity(n) >= card.ridge), None)
    assert turning_point(intensity, card, 512) == brute


def test_turning_point_asks_seldom() -> None:
    asked: list[int] = []

    def intensity(n: int) -> float:
        asked.append(n)
        return 0.98 * n

    assert turning_point(intensity, gpu("a100"), 512) == 157
    assert len(asked) <= 8
