"""A random Llama small enough for any test, and the same network written a second time, plainly, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from viz_core.model.config import LlamaConfig, from_hf
from viz_core.model.llama import Llama
from viz_core.model.weights import build

BASE = {
    "model_type": "llama",
    "vocab_size": 61,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "max_position_embeddings": 64,
    "tie_word_embeddings": True,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
VARIANTS = {
    "llama": {},
    "untied": {"tie_word_embeddings": False},
    "all_heads": {"num_key_value_heads": 6},
    "one_kv_head": {"num_key_value_heads": 1, "head_dim": 8},
    "qwen2": {"model_type": "qwen2"},
    "qwen3": {"model_type": "qwen3", "head_dim": 8, "tie_word_embeddings": False},
    "mistral": {"model_type": "mistral", "sliding_window": 4},
    "biased": {"attention_bias": True, "mlp_bias": True},
    "llama3": {
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32,
        }
    },
}


@dataclass(frozen=True)
class Arrays:
    """A checkpoint in memory."""

    tensors: dict[str, np.ndarray]

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def shape(self, name: str) -> tuple[int, ...]:
        return self.tensors[name].shape

    def read(self, name: str) -> np.ndarray:
        return self.tensors[name]

    def strips(self, name: str) -> Iterator[np.ndarray]:
        """Uneven strips, as a file gives them."""
        yield self.tensors[name][:5]
        yield self.tensors[name][5:]


def random_tensors(c: LlamaConfig, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights under their Hugging Face names, matrices (out, in)."""
    rng = np.random.default_rng(seed)

    def matrix(n: int, m: int) -> np.ndarray:
        return (rng.standard_normal((n, m)) * 1.5 / np.sqrt(m)).astype(np.float32)

    def vector(n: int, around: float = 1.0) -> np.ndarray:
        return (around + 0.3 * rng.standard_normal(n)).astype(np.float32)

    rows, kv = c.heads * c.d_head, c.kv_heads * c.d_head
    t = {"model.embed_tokens.weight": matrix(c.vocab, c.d_model) * 3, "model.norm.weight": vector(c.d_model)}
    if not c.tied:
        t["lm_head.weight"] = matrix(c.vocab, c.d_model)
    for i in range(len(c.layers)):
        p = f"model.layers.{i}."
        for name, n, m in (("q", rows, c.d_model), ("k", kv, c.d_model), ("v", kv, c.d_model), ("o", c.d_model, rows)):
            t[f"{p}self_attn.{name}_proj.weight"] = matrix(n, m)
            if c.o_bias or (c.qkv_bias and name != "o"):
                t[f"{p}self_attn.{name}_proj.bias"] = vector(n, 0)
        for name, n, m in (("gate", c.d_ff, c.d_model), ("up", c.d_ff, c.d_model), ("down", c.d_model, c.d_ff)):
            t[f"{p}mlp.{name}_proj.weight"] = matrix(n, m)
            if c.mlp_bias:
                t[f"{p}mlp.{name}_proj.bias"] = vector(n, 0)
        if c.qk_norm:
            t |= {f"{p}self_attn.{name}_norm.weight": vector(c.d_head) for name in "qk"}
        t |= {f"{p}{name}_layernorm.weight": vector(c.d_model) for name in ("input", "post_attention")}
    return t


def tiny(variant: str = "llama", seed: int = 0, **changes: object) -> tuple[Llama, dict[str, np.ndarray]]:
    """A model of one of VARIANTS, and its tensors."""
    config = from_hf(BASE | VARIANTS[variant] | changes)
    tensors = random_tensors(config, seed)
    return build(config, Arrays(tensors)), tensors


def reference(c: LlamaConfig, t: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """Logits (n, V) in float64: loops over heads and positions, complex rotation, masks by comparison."""
    w = {name: value.astype(np.float64) for name, value in t.items()}
    n, d = len(ids), c.d_head

    def norm(x: np.ndarray, g: np.ndarray) -> np.ndarray:
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + c.eps) * g

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[name + ".weight"].T + w.get(name + ".bias", 0)

    def turned(x: np.ndarray) -> np.ndarray:
        z = x[:, : d // 2] + 1j * x[:, d // 2 :]
        z = z * np.exp(1j * np.outer(np.arange(n), frequencies(c)))
        return np.concatenate([z.real, z.imag], 1)

    x = w["model.embed_tokens.weight"][ids]
    for i, layer in enumerate(c.layers):
        p = f"model.layers.{i}."
        a = norm(x, w[p + "input_layernorm.weight"])
        q, k, v = (linear(a, f"{p}self_attn.{name}_proj") for name in "qkv")
        outs = []
        for h in range(c.heads):
            g = h // (c.heads // layer.kv_heads)
            qh, kh, vh = q[:, h * d : (h + 1) * d], k[:, g * d : (g + 1) * d], v[:, g * d : (g + 1) * d]
            if c.qk_norm:
                qh, kh = (norm(z, w[f"{p}self_attn.{m}_norm.weight"]) for z, m in ((qh, "q"), (kh, "k")))
            qh, kh, out = turned(qh), turned(kh), np.zeros((n, d))
            for row in range(n):
                first = 0 if layer.window is None else max(0, row - layer.window + 1)
                s = kh[first : row + 1] @ qh[row] / np.sqrt(d)
                e = np.exp(s - s.max())
                out[row] = e @ vh[first : row + 1] / e.sum()
            outs.append(out)
        x = x + linear(np.concatenate(outs, 1), p + "self_attn.o_proj")
        a = norm(x, w[p + "post_attention_layernorm.weight"])
        gate = linear(a, p + "mlp.gate_proj")
        x = x + linear(gate / (1 + np.exp(-gate)) * linear(a, p + "mlp.up_proj"), p + "mlp.down_proj")
    return norm(x, w["model.norm.weight"]) @ w["model.embed_tokens.weight" if c.tied else "lm_head.weight"].T


def frequencies(c: LlamaConfig) -> list[float]:
    """Radians a token of each pair, with Llama 3.1's stretch written as its three cases."""
    rope, out = c.rope, []
    for i in range(c.d_head // 2):
        f = rope.theta ** (-2 * i / c.d_head)
        length = 2 * np.pi / f
        if rope.scaling == "llama3" and length > rope.trained / rope.low:
            f /= rope.factor
        elif rope.scaling == "llama3" and length > rope.trained / rope.high:
            smooth = (rope.trained / length - rope.low) / (rope.high - rope.low)
            f = (1 - smooth) * f / rope.factor + smooth * f
        out.append(f)
    return out
