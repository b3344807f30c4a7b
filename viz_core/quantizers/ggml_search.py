"""The searches of ggml's K-quants and IQ4: scales that minimise a weighted error over a block (ggml-quants.c, 0.13.1).

Blocks stand in columns, (values a block, blocks), so that one NumPy step serves every block and each sum runs over the
values one after the other in float32, as the C loops do. Left out: importance matrices (`*_impl` with weights).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from viz_core.quantizers.direct import ONE
from viz_core.quantizers.peaks import running_sum

SMALLEST = np.float32(1e-15)
"""GROUP_MAX_EPS: a block below it counts as zero."""
ZERO = np.float32(0)
MAGIC = np.float32(12582912)


def nearest(y: np.ndarray) -> np.ndarray:
    """`nearest_int`: ties to even by the float32 sum y + 1.5 · 2²³, whatever that leaves of huge numbers and NaN."""
    word = (y + MAGIC).view(np.int32)
    word &= 0x7FFFFF
    word -= 0x400000
    return word


def _clipped(y: np.ndarray, lo: int, hi: int) -> np.ndarray:
    return np.clip(nearest(y), lo, hi).astype(np.float32)


def _peak(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First value of largest magnitude in each column, and that magnitude."""
    magnitude = np.abs(x)
    magnitude[np.isnan(magnitude)] = -1
    at = magnitude.argmax(axis=0)
    most = np.maximum(np.take_along_axis(magnitude, at[None], axis=0)[0], ZERO)
    return np.where(most > 0, np.take_along_axis(x, at[None], axis=0)[0], ZERO), most


def best_scale(
    x: np.ndarray,
    weight: np.ndarray,
    tries: list[np.ndarray],
    code: Callable[[np.ndarray], np.ndarray],
    along: Callable[[np.ndarray], np.ndarray],
    unknown: float = np.nan,
) -> tuple[np.ndarray, np.ndarray]:
    """The scale of least weighted error over several reciprocal scales (the pattern of make_qx_quants and IQ4).

    Args:
        x: values (n, b).
        weight: their weights (n, b).
        tries: reciprocal scales, (b,) each, the first one unconditional.
        code: levels of values in units of the scale, float32.
        along: the terms weight · x · level, multiplied in the reference's order.
        unknown: the scale of a block that holds NaN.

    Returns:
        scale (b,) and the reciprocal it came from (b,).
    """
    scale = best = chosen = np.zeros(x.shape[1], np.float32)
    for i, inverse in enumerate(tries):
        level = code(inverse * x)
        product, square = running_sum(along(level)), running_sum(weight * level * level)
        if i == 0:
            scale = np.where(square > 0, product / square, np.where(np.isnan(square), np.float32(unknown), ZERO))
            best, chosen = scale * product, inverse
            continue
        better = (square > 0) & (product * product > best * square)
        scale = np.where(better, product / square, scale)
        best = np.where(better, scale * product, best)
        chosen = np.where(better, inverse, chosen)
    return scale, chosen


def make_qx(x: np.ndarray, half: int) -> tuple[np.ndarray, np.ndarray]:
    """make_qx_quants with weights x² (rmse_type 1): scales (b,) and codes 0..2·half−1 (n, b)."""
    extreme, most = _peak(x)
    steps = [0, *range(-9, 0), *range(1, 10)]
    tries = [-(np.float32(half) + np.float32(0.1) * np.float32(i)) / extreme if i else np.float32(-half) / extreme
             for i in steps]  # fmt: skip
    weight = x * x
    weighted = weight * x
    scale, inverse = best_scale(x, weight, tries, lambda y: _clipped(y, -half, half - 1), lambda q: weighted * q)
    codes = np.clip(nearest(inverse * x), -half, half - 1) + half
    blank = most < SMALLEST
    return np.where(blank, ZERO, scale), np.where(blank, 0, codes)


def make_q3(x: np.ndarray, half: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """make_q3_quants: rounding to the extreme, then up to five rounds that move single codes; scales, codes + half."""
    extreme, most = _peak(x)
    weight = x * x
    level = _clipped((np.float32(-half) / extreme) * x, -half, half - 1)
    along, square = running_sum(weight * x * level), running_sum(weight * level * level)
    for _ in range(5):
        changed = False
        for i in range(len(x)):
            w, v, old = weight[i], x[i], level[i]
            rest, rest2 = along - w * v * old, square - w * old * old
            new = _clipped(v * rest2 / rest, -half, half - 1)
            new_along, new_square = rest + w * v * new, rest2 + w * new * new
            better = (rest > 0) & (new != old) & (new_square > 0)
            better &= new_along * new_along * square > along * along * new_square
            level[i] = np.where(better, new, old)
            along, square = np.where(better, new_along, along), np.where(better, new_square, square)
            changed |= bool(better.any())
        if not changed:
            break
    blank = most < SMALLEST
    return np.where(blank, ZERO, along / square), np.where(blank, 0, level.astype(np.int32) + half)


def make_qkx2(
    x: np.ndarray, weight: np.ndarray, top: int, start: float, steps: int, absolute: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """make_qkx2_quants: scale and minimum by weighted least squares for `steps` + 1 trial ranges.

    Returns scales (b,), minima as non-negative numbers to subtract (b,), codes 0..top (n, b). The minimum found so far
    replaces the block's own in the trials that follow, as in the original.
    """
    first = np.isnan(x[0])  # a NaN that comes first is never replaced, a later one never taken
    low, high = np.fmin.reduce(x), np.fmax.reduce(x)
    low[first] = high[first] = np.nan
    weighted = weight * x
    sum_w, sum_x = running_sum(weight), running_sum(weighted)
    low = np.minimum(low, ZERO)
    flat = high == low
    inverse = np.float32(top) / (high - low)
    scale = ONE / inverse
    codes = _clipped(inverse * (x - low), 0, top)
    best = _loss(scale * codes + low - x, weight, absolute)
    for i in range(steps + 1):
        inverse = (np.float32(start) + np.float32(0.1) * np.float32(i) + np.float32(top)) / (high - low)
        level = _clipped(inverse * (x - low), 0, top)
        wl = weight * level
        sum_l, sum_l2, sum_xl = running_sum(wl), running_sum(wl * level), running_sum(wl * x)
        d = sum_w * sum_l2 - sum_l * sum_l
        new_scale, new_low = (sum_w * sum_xl - sum_x * sum_l) / d, (sum_l2 * sum_x - sum_l * sum_xl) / d
        positive = new_low > 0
        new_low = np.where(positive, ZERO, new_low)
        new_scale = np.where(positive, sum_xl / sum_l2, new_scale)
        loss = _loss(new_scale * level + new_low - x, weight, absolute)
        better = (d > 0) & (loss < best)
        codes = np.where(better, level, codes)
        best, scale, low = (
            np.where(better, loss, best),
            np.where(better, new_scale, scale),
            np.where(better, new_low, low),
        )
    return np.where(flat, ZERO, scale), -low, np.where(flat, 0, codes).astype(np.int32)


def _loss(error: np.ndarray, weight: np.ndarray, absolute: bool) -> np.ndarray:
    return running_sum(weight * (np.abs(error) if absolute else error * error))
