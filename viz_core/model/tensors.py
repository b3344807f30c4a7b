"""A loaded model's tensors by the names that checkpoints use (transformers 5.x, `modeling_llama`).

Fused matrices are cut into the parts they were made of, and some rows of a part are read without the rest. Left out:
biases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.int8 import Int8
from viz_core.model.linear import Linear
from viz_core.model.llama import Block, Llama
from viz_core.model.notes import shown


@dataclass(frozen=True, slots=True)
class Tensor:
    """A weight (rows, in) as a checkpoint stores it; `read(numbers)` gives the rows of these numbers, float32.

    `small` where it is kept in int8.
    """

    shape: tuple[int, int]
    read: Callable[[np.ndarray], np.ndarray]
    small: bool = False


def tensors(llama: Llama) -> dict[str, Tensor]:
    """Every weight of the model by name, in the order of the network; a vector is one row."""
    embed, last = llama.embed, _part(llama.head, 0, llama.config.vocab, llama.config.d_model)
    out = {"model.embed_tokens.weight": last if embed is None else _matrix(embed)}
    for i, block in enumerate(llama.blocks):
        out |= {f"model.layers.{i}.{name}.weight": found for name, found in _block(block, llama).items()}
    out["model.norm.weight"] = _matrix(llama.norm[None])
    return out if embed is None else out | {"lm_head.weight": last}


def tensor(llama: Llama, name: str) -> Tensor:
    """The tensor of that name; a Problem where the model has none."""
    found = tensors(llama)
    if name not in found:
        raise Problem("model_tensor_missing", name=shown(name))
    return found[name]


def _block(block: Block, llama: Llama) -> dict[str, Tensor]:
    """One layer's tensors by name within the layer."""
    c, d = llama.config, block.layer.d_head
    wide, narrow = c.heads * d, block.layer.kv_heads * d
    norms = {"input_layernorm": block.norm, "self_attn.q_norm": block.q_norm, "self_attn.k_norm": block.k_norm,
             "post_attention_layernorm": block.mlp_norm}
    out = {
        "self_attn.q_proj": _part(block.qkv, 0, wide, c.d_model),
        "self_attn.k_proj": _part(block.qkv, wide, narrow, c.d_model),
        "self_attn.v_proj": _part(block.qkv, wide + narrow, narrow, c.d_model),
        "self_attn.o_proj": _part(block.o, 0, c.d_model, wide),
        "mlp.gate_proj": _part(block.gate_up, 0, c.d_ff, c.d_model),
        "mlp.up_proj": _part(block.gate_up, c.d_ff, c.d_ff, c.d_model),
        "mlp.down_proj": _part(block.down, 0, c.d_model, c.d_ff),
    }
    return out | {name: _matrix(norm[None]) for name, norm in norms.items() if norm is not None}


def _part(layer: Linear, start: int, outputs: int, inputs: int) -> Tensor:
    """A part of a fused matrix: its outputs from `start` on."""
    return Tensor((outputs, inputs), partial(_rows, layer, start), isinstance(layer, Int8))


def _rows(layer: Linear, start: int, numbers: np.ndarray) -> np.ndarray:
    return layer.columns(start + numbers)


def _matrix(values: np.ndarray) -> Tensor:
    """An array (rows, in) as it is."""
    return Tensor((values.shape[0], values.shape[1]), lambda numbers: np.array(values[numbers], np.float32))
