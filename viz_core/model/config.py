"""The shape of a Llama-family decoder, resolved from a Hugging Face `config.json`.

Reproduces what transformers 5.x reads for llama, mistral, qwen2 and qwen3 (dense). Each layer is resolved by itself:
its kind, KV heads, head width and window, so that the KV calculator and the model read the same list. Left out: other
architectures (named and refused), RoPE scalings other than linear and llama3, activations other than SiLU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from viz_core.i18n import Problem
from viz_core.model.fields import flag, ids, real, whole
from viz_core.model.notes import shown
from viz_core.model.rope import Rope

Kind = Literal["full", "sliding"]
FAMILY = ("llama", "mistral", "qwen2", "qwen3")


@dataclass(frozen=True, slots=True)
class Layer:
    """What one layer keeps: K and V of `kv_heads` heads of `d_head` numbers a token, of the last `window` tokens."""

    kind: Kind
    kv_heads: int
    d_head: int
    window: int | None = None


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    """Sizes and constants of one model; lengths are in tokens."""

    architecture: str
    vocab: int
    d_model: int
    d_ff: int
    heads: int
    layers: tuple[Layer, ...]
    rope: Rope
    eps: float
    context: int
    tied: bool
    qkv_bias: bool = False
    o_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    bos: int | None = None
    eos: tuple[int, ...] = ()

    @property
    def kv_heads(self) -> int:
        """KV heads a layer (the same in every layer of this family)."""
        return self.layers[0].kv_heads

    @property
    def d_head(self) -> int:
        """Numbers of one head's q, k or v vector."""
        return self.layers[0].d_head

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes that one more token adds to a float32 KV cache."""
        return sum(2 * layer.kv_heads * layer.d_head * 4 for layer in self.layers)


def from_hf(table: Mapping[str, Any]) -> LlamaConfig:
    """The config of a parsed `config.json`; a Problem names the first field that cannot be used."""
    architecture = family(table)
    n_layers, d_model = whole(table, "num_hidden_layers", most=1000), whole(table, "hidden_size")
    heads = whole(table, "num_attention_heads", most=4096)
    kv_heads, d_head = _heads(table, heads, d_model)
    qwen2 = architecture == "qwen2"
    biased = flag(table, "attention_bias", False)
    bos = ids(table, "bos_token_id")
    return LlamaConfig(
        architecture,
        vocab=whole(table, "vocab_size"),
        d_model=d_model,
        d_ff=whole(table, "intermediate_size"),
        heads=heads,
        layers=tuple(_layer(w, kv_heads, d_head) for w in windows(table, n_layers, architecture)),
        rope=Rope.from_hf(table, d_head),
        eps=real(table, "rms_norm_eps", 1e-6, most=1.0),
        context=min(whole(table, "max_position_embeddings", 2048, most=10**40), 2**20),
        tied=flag(table, "tie_word_embeddings", False),
        qkv_bias=qwen2 or biased,
        o_bias=biased and not qwen2,
        mlp_bias=flag(table, "mlp_bias", False),
        qk_norm=architecture == "qwen3",
        bos=bos[0] if bos else None,
        eos=ids(table, "eos_token_id"),
    )


def family(table: Mapping[str, Any]) -> str:
    """The architecture's name, if it belongs to the family; a Problem that names it if not."""
    if not isinstance(table, Mapping):
        raise Problem("model_config_not_object")
    name = table.get("model_type")
    if name is None:
        raise Problem("model_config_missing", name="model_type")
    if name not in FAMILY:
        raise Problem("model_architecture", name=shown(name), known=", ".join(FAMILY))
    if table.get("hidden_act", "silu") != "silu":
        raise Problem("model_activation", name=shown(table["hidden_act"]))
    return str(name)


def _heads(table: Mapping[str, Any], heads: int, d_model: int) -> tuple[int, int]:
    """(KV heads, head width), which must divide what they share."""
    kv_heads = whole(table, "num_key_value_heads", heads, most=4096)
    if heads % kv_heads:
        raise Problem("model_config_kv_heads", heads=heads, kv_heads=kv_heads)
    if table.get("head_dim") is None and d_model % heads:
        raise Problem("model_config_head_dim", hidden=d_model, heads=heads)
    d_head = whole(table, "head_dim", d_model // heads, most=4096)
    if d_head % 2:
        raise Problem("model_config_odd_head", d_head=d_head)
    return kv_heads, d_head


def _layer(window: int | None, kv_heads: int, d_head: int) -> Layer:
    return Layer("full" if window is None else "sliding", kv_heads, d_head, window)


def windows(table: Mapping[str, Any], n_layers: int, architecture: str) -> list[int | None]:
    """Each layer's attention window in tokens, None where it sees everything.

    Qwen2 and Qwen3 switch windows on by `use_sliding_window` and use them from layer `max_window_layers` on;
    `layer_types`, where given, decides layer by layer.
    """
    if table.get("sliding_window") is None or architecture == "llama" or not table.get("use_sliding_window", True):
        return [None] * n_layers
    window, qwen = whole(table, "sliding_window", most=2**40), architecture.startswith("qwen")
    if qwen and table.get("use_sliding_window") is None:
        return [None] * n_layers
    types = table.get("layer_types")
    if types is None:
        first = whole(table, "max_window_layers", 28, least=0) if qwen else 0
        return [window if i >= first else None for i in range(n_layers)]
    if not isinstance(types, list) or len(types) != n_layers:
        raise Problem("model_config_layer_types", layers=n_layers, given=len(types) if isinstance(types, list) else 0)
    unknown = [x for x in types if x not in ("full_attention", "sliding_attention")]
    if unknown:
        raise Problem("model_config_layer_type", name=shown(unknown[0]))
    return [window if x == "sliding_attention" else None for x in types]
