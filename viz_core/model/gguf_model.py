"""From a GGUF's metadata and tensors to the model's own terms: config, Hugging Face tensor names, rotate-half rows.

llama.cpp turns neighbouring channels (2i, 2i + 1) in its `llama` architecture, so its converter permutes the rows of
q and k; `unpermute` brings them back to the halves (i, i + d/2). Qwen files are not permuted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.config import FAMILY, Layer, LlamaConfig
from viz_core.model.fields import ids, real, whole
from viz_core.model.gguf import Gguf
from viz_core.model.notes import Note, shown
from viz_core.model.rope import Rope

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    **{f"self_attn.{x}_proj": f"attn_{x}" for x in "qkv"},
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    **{f"mlp.{x}_proj": f"ffn_{x}" for x in ("gate", "up", "down")},
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes that attention needs, from `{architecture}.*`."""

    architecture: str
    layers: int
    d_model: int
    heads: int
    kv_heads: int
    d_head: int


def shape_of(metadata: Mapping[str, Any]) -> Shape:
    """Layers, heads and widths; a Problem for another architecture or a field that cannot be used."""
    architecture = metadata.get("general.architecture")
    if not isinstance(architecture, str):
        raise Problem("model_config_missing", name="general.architecture")
    if architecture not in FAMILY:
        raise Problem("model_architecture", name=shown(architecture), known=", ".join(FAMILY))
    p = architecture + "."
    layers = whole(metadata, p + "block_count", most=1000)
    heads = whole(metadata, p + "attention.head_count", most=4096)
    d_model, kv_heads = whole(metadata, p + "embedding_length"), heads
    if (p + "attention.head_count_kv") in metadata:
        kv_heads = whole(metadata, p + "attention.head_count_kv", most=4096)
    if heads % kv_heads:
        raise Problem("model_config_kv_heads", heads=heads, kv_heads=kv_heads)
    if (p + "attention.key_length") not in metadata and d_model % heads:
        raise Problem("model_config_head_dim", hidden=d_model, heads=heads)
    d_head = whole(metadata, p + "attention.key_length", d_model // heads, most=4096)
    if whole(metadata, p + "attention.value_length", d_head) != d_head or d_head % 2:
        raise Problem("model_config_odd_head", d_head=d_head)
    return Shape(architecture, layers, d_model, heads, kv_heads, d_head)


def remarks(file: Gguf) -> list[Note]:
    """What a description says beside the file's own notes: that the model cannot run here, or nothing.

    A Problem where a field of a known architecture cannot be used.
    """
    if not file.tensors:
        return []
    if file.metadata["general.architecture"] not in FAMILY:
        return [Note("model_gguf_architecture", {"name": shown(file.metadata["general.architecture"])})]
    shape_of(file.metadata)
    return []


def config_of(file: Gguf) -> LlamaConfig:
    """The config; a Problem names the first field that is missing, absurd or not supported."""
    meta, s = file.metadata, shape_of(file.metadata)
    p = s.architecture + "."
    tokens = meta.get("tokenizer.ggml.tokens")
    ends = ("tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id")
    return LlamaConfig(
        s.architecture,
        vocab=len(tokens) if isinstance(tokens, list) and tokens else whole(meta, p + "vocab_size"),
        d_model=s.d_model,
        d_ff=whole(meta, p + "feed_forward_length"),
        heads=s.heads,
        layers=(Layer("full", s.kv_heads, s.d_head),) * s.layers,
        rope=_rope(file, p, s.d_head),
        eps=real(meta, p + "attention.layer_norm_rms_epsilon", 1e-6, most=1.0),
        context=min(whole(meta, p + "context_length", 2048, most=2**62), 2**20),
        tied="output.weight" not in file,
        qkv_bias="blk.0.attn_q.bias" in file,
        o_bias="blk.0.attn_output.bias" in file,
        mlp_bias="blk.0.ffn_down.bias" in file,
        qk_norm="blk.0.attn_q_norm.weight" in file,
        bos=next(iter(ids(meta, "tokenizer.ggml.bos_token_id")), None),
        eos=tuple(dict.fromkeys(i for name in ends for i in ids(meta, name))),
    )


def _rope(file: Gguf, p: str, d_head: int) -> Rope:
    """θ and scaling; the factors of Llama 3.1 lie in a tensor of their own."""
    theta, kind = real(file.metadata, p + "rope.freq_base", 10000.0), file.metadata.get(p + "rope.scaling.type", "none")
    if whole(file.metadata, p + "rope.dimension_count", d_head) != d_head or kind not in ("none", "linear"):
        raise Problem("model_rope_scaling", name=shown(kind))
    if "rope_freqs.weight" in file:
        divisors = file.read("rope_freqs.weight")
        if divisors.shape != (d_head // 2,) or not (np.isfinite(divisors).all() and (divisors > 0).all()):
            raise Problem("model_tensor_values", name="rope_freqs.weight")
        return Rope(theta, d_head, "divisors", divisors=tuple(divisors.tolist()))
    if kind == "linear":
        return Rope(theta, d_head, "linear", real(file.metadata, p + "rope.scaling.factor"))
    return Rope(theta, d_head)


@dataclass(frozen=True, slots=True)
class HfNames:
    """A GGUF's tensors under their Hugging Face names, q and k in rotate-half order."""

    file: Gguf
    sizes: Shape

    def __contains__(self, name: str) -> bool:
        return gguf_name(name) in self.file

    def shape(self, name: str) -> tuple[int, ...]:
        """A tensor's shape, slowest axis first."""
        return self.file.shape(gguf_name(name))

    def read(self, name: str) -> np.ndarray:
        """One tensor, float32."""
        values, heads = self.file.read(gguf_name(name)), self._permuted(name)
        return values if heads is None else unpermute(values, heads, name)

    def strips(self, name: str) -> Iterator[np.ndarray]:
        """`read`, in strips of whole rows; q and k, whose rows change places, in one."""
        return iter([self.read(name)]) if self._permuted(name) else self.file.strips(gguf_name(name))

    def _permuted(self, name: str) -> int | None:
        """Heads of a tensor whose rows are permuted, None for any other."""
        if self.sizes.architecture != "llama" or ".self_attn." not in name:
            return None
        return {"q_proj": self.sizes.heads, "k_proj": self.sizes.kv_heads}.get(name.split(".")[-2])


def gguf_name(name: str) -> str:
    """`model.layers.3.mlp.up_proj.weight` → `blk.3.ffn_up.weight`."""
    stem, _, kind = name.rpartition(".")
    prefix = ""
    if stem.startswith("model.layers."):
        _, _, number, stem = stem.split(".", 3)
        prefix = f"blk.{number}."
    return f"{prefix}{NAMES.get(stem, stem)}.{kind}"


def unpermute(rows: np.ndarray, heads: int, name: str) -> np.ndarray:
    """Rows (heads · d, …) of channel pairs (0, 1), (2, 3), … → halves: 0, 2, 4, … then 1, 3, 5, … in every head."""
    if len(rows) % (2 * heads):
        raise Problem("model_tensor_shape", name=shown(name), expected=f"{heads} × d", present=shown(rows.shape))
    pairs = rows.reshape(heads, len(rows) // heads // 2, 2, *rows.shape[1:])
    return pairs.swapaxes(1, 2).reshape(rows.shape)
