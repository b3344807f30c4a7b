"""The bundled model's architecture in PyTorch: a plain Llama decoder, small enough to train on one CPU core.

RMSNorm (eps 1e-5), rotate-half RoPE (theta 10,000), grouped-query attention, SwiGLU, tied embedding. Module names
are those of Hugging Face's ``LlamaForCausalLM``, so ``state_dict`` needs no renaming. Shapes: B rows, T tokens, D
hidden, H query heads, K key/value heads, d = D / H."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Config:
    """Sizes of the model; ``hf()`` writes them the way Hugging Face's config.json does."""

    vocab: int = 4096
    dim: int = 128
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    hidden: int = 512
    context: int = 512
    theta: float = 10000.0
    eps: float = 1e-5

    def hf(self) -> dict:
        """The content of config.json."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": self.vocab,
            "hidden_size": self.dim,
            "intermediate_size": self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.dim // self.heads,
            "hidden_act": "silu",
            "max_position_embeddings": self.context,
            "rms_norm_eps": self.eps,
            "rope_theta": self.theta,
            "rope_scaling": None,
            "attention_bias": False,
            "mlp_bias": False,
            "tie_word_embeddings": True,
            "bos_token_id": 0,
            "eos_token_id": 1,
            "torch_dtype": "float16",
        }


class RMSNorm(nn.Module):
    """Divide by the root mean square, multiply by a learned weight."""

    def __init__(self, dim: int, eps: float) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x: Tensor) -> Tensor:
        """x / rms(x) * weight over the last axis, in float32."""
        x = x.float()
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def rope_tables(config: Config) -> tuple[Tensor, Tensor]:
    """cos and sin of shape (context, d): channel i and i + d/2 turn together at frequency theta^(-2i/d)."""
    d = config.dim // config.heads
    angle = torch.outer(torch.arange(config.context), config.theta ** (-torch.arange(0, d, 2) / d))
    return torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate-half RoPE of x (B, heads, T, d)."""
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat((-right, left), -1) * sin


def causal(T: int, documents: Tensor | None) -> Tensor:
    """What is added to the scores, (1 or B, 1, T, T): −∞ on later tokens, and on those of another document."""
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)[None, None]
    if documents is not None:
        hidden = hidden | (documents[:, None, :, None] != documents[:, None, None, :])
    return torch.zeros(hidden.shape).masked_fill(hidden, float("-inf"))


class Attention(nn.Module):
    """Causal attention in which H query heads share K key/value heads."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.d = c.heads, c.kv_heads, c.dim // c.heads
        self.q_proj = nn.Linear(c.dim, c.heads * self.d, bias=False)
        self.k_proj = nn.Linear(c.dim, c.kv_heads * self.d, bias=False)
        self.v_proj = nn.Linear(c.dim, c.kv_heads * self.d, bias=False)
        self.o_proj = nn.Linear(c.heads * self.d, c.dim, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, maps: list[Tensor] | None) -> Tensor:
        """x (B, T, D) → (B, T, D); appends the weights (B, H, T, T) to ``maps`` where a list is given."""
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, self.heads, self.d).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.kv_heads, self.d).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.kv_heads, self.d).transpose(1, 2)
        q, k = rotate(q, cos, sin).to(v.dtype), rotate(k, cos, sin).to(v.dtype)
        group = self.heads // self.kv_heads
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        if maps is None and T > 256:
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.to(q.dtype))
        else:  # written out: faster than the fused kernel for short rows on a CPU, and the weights can be looked at
            scores = (q * self.d**-0.5 @ k.mT).float() + mask
            weights = scores.softmax(-1)
            out = weights.to(v.dtype) @ v
            if maps is not None:
                maps.append(weights)
        return self.o_proj(out.transpose(1, 2).reshape(B, T, -1))


class MLP(nn.Module):
    """SwiGLU: down(silu(gate(x)) * up(x))."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(c.dim, c.hidden, bias=False)
        self.up_proj = nn.Linear(c.dim, c.hidden, bias=False)
        self.down_proj = nn.Linear(c.hidden, c.dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """X (B, T, D) → (B, T, D)."""
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    """One layer: attention, then the MLP, each added to the residual stream."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(c.dim, c.eps)
        self.self_attn = Attention(c)
        self.post_attention_layernorm = RMSNorm(c.dim, c.eps)
        self.mlp = MLP(c)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, maps: list[Tensor] | None) -> Tensor:
        """X (B, T, D) → (B, T, D)."""
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask, maps)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    """Embedding, layers, final norm: what Hugging Face calls ``model``."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(c.vocab, c.dim)
        self.layers = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = RMSNorm(c.dim, c.eps)


class Llama(nn.Module):
    """``forward`` gives logits (B, T, V); ``loss`` gives the mean cross entropy of the targets that are not −100."""

    def __init__(self, config: Config = Config()) -> None:
        super().__init__()
        self.config = config
        self.model = Decoder(config)
        cos, sin = rope_tables(config)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        for name, p in self.named_parameters():  # the two matrices that write into the residual stream start at zero
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                nn.init.zeros_(p)
            elif p.ndim == 2:
                nn.init.normal_(p, std=0.05 if "embed" in name else p.shape[1] ** -0.5)

    def forward(self, ids: Tensor, maps: list[Tensor] | None = None, documents: Tensor | None = None) -> Tensor:
        """Logits (B, T, V) of ids (B, T); tokens with other numbers in ``documents`` (B, T) do not see each other."""
        T = ids.shape[1]
        x, mask = self.model.embed_tokens(ids), causal(T, documents)
        for block in self.model.layers:
            x = block(x, self.cos[:T], self.sin[:T], mask, maps)
        return F.linear(self.model.norm(x), self.model.embed_tokens.weight)

    def token_losses(self, ids: Tensor, targets: Tensor) -> Tensor:
        """Cross entropy in nats of every target, (B, T); 0 where the target is −100."""
        logits = self(ids).float()
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view_as(targets)

    def loss(self, ids: Tensor, targets: Tensor, documents: Tensor) -> Tensor:
        """Mean cross entropy in nats over the targets that are not −100."""
        return F.cross_entropy(self(ids, documents=documents).float().flatten(0, 1), targets.flatten())
