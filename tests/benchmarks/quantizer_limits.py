"""The passes that quantizing is made of, each alone: what the machine and NumPy allow, whatever the format.

A floor walks through a tensor as a format does, in pieces that stay in the cache, but takes only the passes that the
format's arithmetic cannot do without, over long plain arrays: no cost per block, no scales stored, no care for NaN. No
order of these NumPy calls is faster, so what lies beyond a floor is out of NumPy's reach.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from viz_core.quantizers.bitsandbytes import NF4
from viz_core.quantizers.nibbles import pack_nibbles
from viz_core.quantizers.pieces import scratch, spans, steady
from viz_core.quantizers.table import look_up

Work = Callable[[], object]
HALF = np.float32(0.5)


def _walk(x: np.ndarray, step: Callable[[slice, np.ndarray], object]) -> None:
    with steady(x.shape[1]):
        for part in spans(*x.shape):
            step(part, scratch(x[part].shape))


def limits(x: np.ndarray) -> dict[str, Work]:
    """Single passes over all of `x` (rows, columns), by name."""

    def written() -> None:
        out = np.empty_like(x)
        _walk(x, lambda part, y: np.copyto(out[part], HALF))

    return {
        "read all values once": lambda: _walk(x, lambda part, y: x[part].max()),
        "write as many float32 into new memory": written,
        "one product in the cache": lambda: _walk(x, lambda part, y: np.multiply(y, HALF, out=y)),
    }


def _encoded(x: np.ndarray, extremes: int, four_bits: bool) -> None:
    """Extremes, a product, a rounding cast into new memory; codes of four bits are clipped and packed."""
    codes = np.empty(x.shape, np.int8)

    def step(part: slice, y: np.ndarray) -> None:
        for look in (np.max, np.min)[:extremes]:
            look(x[part])
        np.multiply(x[part], HALF, out=y)
        np.rint(y, out=codes[part], casting="unsafe")
        if four_bits:
            np.clip(codes[part], 0, 15, out=codes[part])

    _walk(x, step)
    if four_bits:
        pack_nibbles(codes.view(np.uint8), high_first=False)


def _decoded(codes: np.ndarray, zero: bool, table: np.ndarray | None = None) -> None:
    """A cast or a look into a table, into new memory, less a zero point where there is one, and a product."""
    out = np.empty(codes.shape, np.float32)

    def step(part: slice, y: np.ndarray) -> None:
        if table is None:
            np.copyto(out[part], codes[part])
        else:
            look_up(table, codes[part], out[part])
        if zero:
            np.subtract(out[part], HALF, out=out[part])
        np.multiply(out[part], HALF, out=out[part])

    _walk(out, step)


def floors(x: np.ndarray) -> dict[str, tuple[Work | None, Work]]:
    """What quantizing and dequantizing `x` cannot do without, by format."""
    codes = (np.arange(x.size, dtype=np.uint32) & 15).astype(np.uint8).reshape(x.shape)
    plain = lambda: _decoded(codes, zero=False)  # noqa: E731
    return {
        "int8 channel": (lambda: _encoded(x, 1, four_bits=False), plain),
        "int4 g128": (lambda: _encoded(x, 2, four_bits=True), lambda: _decoded(codes, zero=True)),
        "Q4_0": (lambda: _encoded(x, 2, four_bits=True), plain),
        "Q8_0": (lambda: _encoded(x, 1, four_bits=False), plain),
        "NF4 b64": (None, lambda: _decoded(codes, False, NF4.by_code)),
    }
