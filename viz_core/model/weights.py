"""From a checkpoint's tensors, under their Hugging Face names, to a `Llama`, one tensor at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.config import Layer, LlamaConfig
from viz_core.model.linear import Dense, Linear
from viz_core.model.llama import Block, Llama
from viz_core.model.notes import shown

MakeLinear = Callable[[Iterable[np.ndarray], tuple[int, int], np.ndarray | None], Linear]
"""Strips of rows (·, in), one after another; the shape (out, in) of all; the bias (out,)."""


class Tensors(Protocol):
    """A checkpoint: its tensors by Hugging Face name, matrices (out, in)."""

    def __contains__(self, name: str) -> bool: ...

    def shape(self, name: str) -> tuple[int, ...]:
        """A tensor's shape."""
        ...

    def read(self, name: str) -> np.ndarray:
        """One tensor in its own shape."""
        ...

    def strips(self, name: str) -> Iterator[np.ndarray]:
        """The same values; a matrix in strips of whole rows."""
        ...


def build(config: LlamaConfig, tensors: Tensors, linear: MakeLinear = Dense.of) -> Llama:
    """The model; `linear` makes its linear layers (float32 unless given).

    A Problem names the first tensor that is missing, misshapen or not finite.
    """
    source = _Source(tensors)
    embed, head = _ends(config, source, linear)  # first, while little else is in memory: they are the largest
    blocks = tuple(_block(config, layer, f"model.layers.{i}.", source, linear) for i, layer in enumerate(config.layers))
    return Llama(config, embed, blocks, source.take("model.norm.weight", config.d_model), head)


def _ends(config: LlamaConfig, source: _Source, linear: MakeLinear) -> tuple[np.ndarray | None, Linear]:
    """The embedding (None where the head serves as one) and the head."""
    name, shape = "model.embed_tokens.weight", (config.vocab, config.d_model)
    if config.tied or "lm_head.weight" not in source.tensors:
        return None, linear(source.rows({name: shape[0]}, shape[1]), shape, None)
    return source.take(name, *shape), linear(source.rows({"lm_head.weight": shape[0]}, shape[1]), shape, None)


class _Source:
    """Tensors checked as they are taken."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors

    def take(self, name: str, *shape: int) -> np.ndarray:
        """The tensor as float32, if it has that shape and only finite values."""
        self._check(name, shape)
        return _finite(name, self.tensors.read(name))

    def rows(self, names: dict[str, int], width: int) -> Iterator[np.ndarray]:
        """The same of matrices (rows, width), one after another, in strips of whole rows."""
        for name, rows in names.items():
            self._check(name, (rows, width))
            yield from (_finite(name, strip) for strip in self.tensors.strips(name))

    def _check(self, name: str, shape: tuple[int, ...]) -> None:
        if name not in self.tensors:
            raise Problem("model_tensor_missing", name=shown(name))
        present = self.tensors.shape(name)
        if present != shape:
            raise Problem("model_tensor_shape", name=shown(name), expected=shown(shape), present=shown(present))

    def optional(self, wanted: bool, *names: str, size: int) -> np.ndarray | None:
        """Vectors of `size` numbers in all, end to end; None where the architecture has none."""
        if not wanted:
            return None
        parts = [self.tensors.read(name) for name in names if name in self.tensors]
        vector = np.concatenate(parts).astype(np.float32) if parts else np.zeros(size, np.float32)
        if vector.shape != (size,):
            raise Problem("model_tensor_shape", name=shown(names[0]), expected=size, present=shown(vector.shape))
        return vector


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    """The values as float32; a Problem where one of them is not finite."""
    values = values.astype(np.float32, copy=False)
    if not np.isfinite(values.sum(dtype=np.float64)):
        raise Problem("model_tensor_values", name=shown(name))
    return values


def _block(config: LlamaConfig, layer: Layer, prefix: str, source: _Source, linear: MakeLinear) -> Block:
    width, f, d = config.d_model, config.d_ff, layer.d_head
    rows, kv_rows = config.heads * d, layer.kv_heads * d
    attn, mlp = prefix + "self_attn.", prefix + "mlp."
    qkv = {f"{attn}{x}_proj.weight": n for x, n in (("q", rows), ("k", kv_rows), ("v", kv_rows))}
    biases = [f"{attn}{x}_proj.bias" for x in "qkv"]
    up = {f"{mlp}{x}_proj.weight": f for x in ("gate", "up")}
    up_bias = source.optional(config.mlp_bias, f"{mlp}gate_proj.bias", f"{mlp}up_proj.bias", size=2 * f)
    return Block(
        layer,
        norm=source.take(prefix + "input_layernorm.weight", width),
        qkv=linear(
            source.rows(qkv, width),
            (rows + 2 * kv_rows, width),
            source.optional(config.qkv_bias, *biases, size=rows + 2 * kv_rows),
        ),
        q_norm=source.take(attn + "q_norm.weight", d) if config.qk_norm else None,
        k_norm=source.take(attn + "k_norm.weight", d) if config.qk_norm else None,
        o=linear(
            source.rows({attn + "o_proj.weight": width}, rows),
            (width, rows),
            source.optional(config.o_bias, attn + "o_proj.bias", size=width),
        ),
        mlp_norm=source.take(prefix + "post_attention_layernorm.weight", width),
        gate_up=linear(source.rows(up, width), (2 * f, width), up_bias),
        down=linear(
            source.rows({mlp + "down_proj.weight": width}, f),
            (width, f),
            source.optional(config.mlp_bias, mlp + "down_proj.bias", size=width),
        ),
    )
