"""What goes into one linear layer of a model: the calibration data of GPTQ, AWQ and SmoothQuant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from viz_core.model.counts import Tally
from viz_core.model.linear import Linear
from viz_core.model.llama import Llama

Matrix = Literal["qkv", "o", "gate_up", "down"]
"""The four matrices of a block: q, k, v at once; attention's output; gate and up at once; down."""


@dataclass
class Recorder:
    """A linear layer that keeps what it was given, (tokens, in) a call."""

    inner: Linear
    seen: list[np.ndarray] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """Bytes of the layer's weights."""
        return self.inner.nbytes

    def __call__(self, x: np.ndarray, tally: Tally) -> np.ndarray:
        """The layer's own answer."""
        self.seen.append(x.copy())
        return self.inner(x, tally)

    def columns(self, index: np.ndarray) -> np.ndarray:
        """The layer's own columns."""
        return self.inner.columns(index)


def layer_inputs(llama: Llama, number: int, name: Matrix, texts: Sequence[Sequence[int]]) -> np.ndarray:
    """Inputs of one matrix of block `number` while the model reads the texts, float32 (tokens, in)."""
    recorder = Recorder(getattr(llama.blocks[number], name))
    part: dict[str, Any] = {name: recorder}
    block = replace(llama.blocks[number], **part)
    heard = replace(llama, blocks=tuple(block if i == number else b for i, b in enumerate(llama.blocks)))
    for ids in texts:
        heard.forward(ids, last_only=True)
    return np.concatenate(recorder.seen)
