"""llama.cpp's mixes: which type each tensor of a model gets under a name such as Q4_K_M (llama-quant.cpp).

Reproduces bits per weight as its quantize tool's README prints them for Llama-3.1-8B. Left out: mixture-of-experts and
grouped-query exceptions for 70B, importance matrices, the IQ mixes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from viz_core.quantizers.fallback import storable
from viz_core.quantizers.format import FP32, Format
from viz_core.quantizers.ggml import GGML, HALF

MIXES = ("F16", "Q8_0", "Q6_K", "Q5_K_M", "Q5_K_S", "Q4_K_M", "Q4_K_S")
"""The mixes that are known here."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a Llama model that decide its tensors."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    hidden: int
    rope_factors: int = 0

    def tensors(self) -> dict[str, tuple[int, ...]]:
        """Every tensor's shape by its GGUF name, rows first."""
        d, kv = self.width, self.width // self.heads * self.kv_heads
        out: dict[str, tuple[int, ...]] = {"token_embd": (self.vocabulary, d), "output": (self.vocabulary, d)}
        out["output_norm"] = (d,)
        if self.rope_factors:
            out["rope_freqs"] = (self.rope_factors,)
        layer = {"attn_norm": (d,), "ffn_norm": (d,), "attn_q": (d, d), "attn_k": (kv, d), "attn_v": (kv, d)}
        layer |= {"attn_output": (d, d), "ffn_gate": (self.hidden, d), "ffn_up": (self.hidden, d)}
        layer["ffn_down"] = (d, self.hidden)
        return out | {f"blk.{i}.{name}": shape for i in range(self.layers) for name, shape in layer.items()}


LLAMA_3_1_8B = Shape(vocabulary=128256, width=4096, layers=32, heads=32, kv_heads=8, hidden=14336, rope_factors=64)


def more_bits(layer: int, layers: int) -> bool:
    """`use_more_bits`: the first and the last eighth of the layers, and every third one between."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def type_of(mix: str, tensor: str, shape: tuple[int, ...], layers: int) -> Format:
    """The format that `mix` gives a tensor by its GGUF name: vectors stay FP32, matrices follow the mix."""
    if len(shape) == 1:
        return FP32
    if mix == "F16":
        return HALF
    base, _, size = mix.partition("_K_")
    name = mix if not size else f"{base}_K"
    if tensor == "output" and name != "Q8_0":
        name = "Q6_K"
    elif tensor.startswith("blk."):
        layer, part = int(tensor.split(".")[1]), tensor.split(".")[2]
        if size == "M" and part in ("attn_v", "ffn_down") and more_bits(layer, layers):
            name = "Q6_K"
        elif mix == "Q4_K_S" and ((part == "attn_v" and layer < 4) or (part == "ffn_down" and layer < layers // 8)):
            name = "Q5_K"
    return storable(GGML[name], shape[-1])


def bits(mix: str, shape: Shape) -> float:
    """Bits of the whole model under `mix`."""
    tensors = shape.tensors().items()
    return sum(type_of(mix, name, dims, shape.layers).bits(dims) for name, dims in tensors)


def bits_per_weight(mix: str, shape: Shape = LLAMA_3_1_8B) -> float:
    """Average bits for one weight under `mix`, norms in FP32 included."""
    return bits(mix, shape) / sum(prod(dims) for dims in shape.tensors().values())
