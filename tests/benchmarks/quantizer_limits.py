"""The passes that quantizing is made of, each alone: what the machine and NumPy allow, whatever the format."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from viz_core.quantizers.pieces import scratch, spans, steady

Step = Callable[[slice, np.ndarray], object]


def limits(x: np.ndarray) -> dict[str, Callable[[], object]]:
    """Walks over all of `x` (rows, columns) in pieces that stay in the cache, by name."""
    codes, half = np.empty(x.shape, np.int8), np.float32(0.5)

    def walk(step: Step) -> None:
        with steady(x.shape[1]):
            for part in spans(*x.shape):
                step(part, scratch(x[part].shape))

    def written() -> None:
        out = np.empty_like(x)
        walk(lambda part, y: np.copyto(out[part], half))

    def channels(part: slice, y: np.ndarray) -> None:
        column = np.full((len(y), 1), x[part].max())
        np.rint(np.multiply(x[part], column, out=y), out=codes[part], casting="unsafe")

    return {
        "read all values once": lambda: walk(lambda part, y: x[part].max()),
        "write as many float32 into new memory": written,
        "one product in the cache": lambda: walk(lambda part, y: np.multiply(y, half, out=y)),
        "what int8 cannot do without: a maximum, a product, a rounding cast": lambda: walk(channels),
    }
