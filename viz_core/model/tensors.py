"""A loaded model's tensors by the names that checkpoints use (transformers 5.x, `modeling_llama`).

Fused matrices are cut into the parts they were made of, and a part's leading rows are read without the rest. Left out:
biases.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.linear import Linear
from viz_core.model.llama import Block, Llama
from viz_core.model.notes import shown


class Read(Protocol):
    """Reads the first `count` rows of a tensor, float32 (rows, in)."""

    def __call__(self, count: int) -> np.ndarray:
        """At most `count` rows."""
        ...


def tensors(llama: Llama) -> dict[str, Read]:
    """Every weight of the model by name, in the order of the network; a vector is one row."""
    embed, last = llama.embed, partial(_rows, llama.head, 0, llama.config.vocab)
    out: dict[str, Read] = {"model.embed_tokens.weight": last if embed is None else partial(_matrix, embed)}
    for i, block in enumerate(llama.blocks):
        out |= {f"model.layers.{i}.{name}.weight": read for name, read in _block(block, llama).items()}
    out["model.norm.weight"] = partial(_matrix, llama.norm[None])
    return out if embed is None else out | {"lm_head.weight": last}


def tensor(llama: Llama, name: str, count: int) -> np.ndarray:
    """The first `count` rows of the tensor of that name, float32 (rows, in) as a checkpoint stores it."""
    found = tensors(llama)
    if name not in found:
        raise Problem("model_tensor_missing", name=shown(name))
    return found[name](count)


def _block(block: Block, llama: Llama) -> dict[str, Read]:
    """One layer's tensors by name within the layer."""
    c, d = llama.config, block.layer.d_head
    wide, narrow = c.heads * d, block.layer.kv_heads * d
    norms = {"input_layernorm": block.norm, "self_attn.q_norm": block.q_norm, "self_attn.k_norm": block.k_norm,
             "post_attention_layernorm": block.mlp_norm}
    out: dict[str, Read] = {
        "self_attn.q_proj": partial(_rows, block.qkv, 0, wide),
        "self_attn.k_proj": partial(_rows, block.qkv, wide, narrow),
        "self_attn.v_proj": partial(_rows, block.qkv, wide + narrow, narrow),
        "self_attn.o_proj": partial(_rows, block.o, 0, c.d_model),
        "mlp.gate_proj": partial(_rows, block.gate_up, 0, c.d_ff),
        "mlp.up_proj": partial(_rows, block.gate_up, c.d_ff, c.d_ff),
        "mlp.down_proj": partial(_rows, block.down, 0, c.d_model),
    }
    return out | {name: partial(_matrix, norm[None]) for name, norm in norms.items() if norm is not None}


def _rows(layer: Linear, start: int, outputs: int, count: int) -> np.ndarray:
    """Rows of a part of a fused matrix: its outputs from `start` on."""
    return layer.columns(np.arange(start, start + min(count, outputs)))


def _matrix(values: np.ndarray, count: int) -> np.ndarray:
    """Rows of an array (rows, in)."""
    return np.array(values[:count], np.float32)
