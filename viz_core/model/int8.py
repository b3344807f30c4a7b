"""Linear layers kept in 8 bits for small hosts: one scale an output channel, expanded one panel at a time.

Weights are rounded to w ≈ q · scale with scale = max|w| / 127 over the channel's inputs (absmax, symmetric); arithmetic
stays in float32. A panel of columns is expanded into a scratch buffer that stays in the cache and is multiplied from
there, so memory is read at a quarter of the bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from viz_core.model.arena import empty
from viz_core.model.counts import Tally

PANEL = 1 << 17  # values of a panel: 640 KiB in both widths, which a second-level cache of 1 MiB holds
_scratch = threading.local()


@dataclass(frozen=True, slots=True)
class Int8:
    """W ≈ q · scale: `panels` int8 (in, w) side by side, w columns each; scale float32 (out,); bias (out,) or none.

    size: in · out.
    """

    panels: tuple[np.ndarray, ...]
    scale: np.ndarray
    bias: np.ndarray | None
    size: int

    @classmethod
    def of(cls, strips: Iterable[np.ndarray], shape: tuple[int, int], bias: np.ndarray | None = None) -> Int8:
        """From strips float32 (·, in) of a matrix, or of several stacked along their outputs: (out, in) in all."""
        out, width = shape[0], max(16, PANEL // shape[1] // 16 * 16)
        q, scale, at = np.empty(shape, np.int8), np.empty(out, np.float32), 0
        for strip in strips:
            for i in range(0, len(strip), width):
                rows = strip[i : i + width]
                q[at : at + len(rows)], scale[at : at + len(rows)] = quantize(rows)
                at += len(rows)
        return cls(tuple(_panel(q[i : i + width]) for i in range(0, out, width)), scale, bias, q.size)

    @property
    def nbytes(self) -> int:
        """Bytes of codes and scales."""
        return self.size + self.scale.nbytes

    def __call__(self, x: np.ndarray, tally: Tally) -> np.ndarray:
        """x (n, in) → (n, out)."""
        tally.product(len(x), self.size, self.nbytes)
        y, at = np.empty((len(x), len(self.scale)), np.float32), 0
        codes, buffer = _scratch_for(self.panels[0].size)
        for panel in self.panels:
            near, w = (b[: panel.size].reshape(panel.shape) for b in (codes, buffer))
            np.copyto(near, panel)  # a plain copy streams from memory at full speed; a widening one does not
            np.copyto(w, near)
            np.matmul(x, w, out=y[:, at : at + panel.shape[1]])
            at += panel.shape[1]
        y *= self.scale
        if self.bias is not None:
            y += self.bias
        return y

    def columns(self, index: np.ndarray) -> np.ndarray:
        """W[:, index] as rows, float32 (len(index), in)."""
        width = self.panels[0].shape[1]
        rows = np.stack([self.panels[i // width][:, i % width] for i in index.tolist()])
        return rows * self.scale[index, None]


def _panel(rows: np.ndarray) -> np.ndarray:
    """Codes (w, in) as a panel (in, w)."""
    panel = empty(rows.shape[::-1], np.int8)
    panel[:] = rows.T
    return panel


def quantize(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float32 (n, in) → codes int8 (n, in) and scales float32 (n,); a row of zeros has scale 0 and codes 0."""
    scale = np.abs(rows).max(1) / np.float32(127)
    codes = rows / np.where(scale == 0, 1, scale)[:, None]
    return np.rint(codes, out=codes).astype(np.int8), scale


def _scratch_for(size: int) -> tuple[np.ndarray, np.ndarray]:
    """This thread's scratch, int8 and float32, each at least `size` long: fresh ones would fault in every page."""
    held: tuple[np.ndarray, np.ndarray] | None = getattr(_scratch, "held", None)
    if held is None or held[0].size < size:
        most = max(size, PANEL)
        held = _scratch.held = np.empty(most, np.int8), np.empty(most, np.float32)
    return held
