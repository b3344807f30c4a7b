"""What llama.cpp does with rows that are not whole blocks (`tensor_type_fallback`, llama-quant.cpp)."""

from __future__ import annotations

from viz_core.quantizers.format import Format
from viz_core.quantizers.ggml import GGML, HALF

INSTEAD = {
    "Q2_K": "IQ4_NL",
    "Q3_K": "IQ4_NL",
    "IQ4_XS": "IQ4_NL",
    "TQ1_0": "Q4_0",
    "TQ2_0": "Q4_0",
    "Q4_K": "Q5_0",
    "Q5_K": "Q5_1",
    "Q6_K": "Q8_0",
}
"""The 32-value type that stands in for a 256-value one."""


def storable(form: Format, width: int) -> Format:
    """`form` where rows of `width` are whole blocks of it, else the type that llama.cpp stores instead: a type of
    32-value blocks, or FP16 where even those do not fit."""
    if width % form.multiple == 0:
        return form
    instead = GGML.get(INSTEAD.get(form.name, ""), HALF)
    return instead if width % instead.multiple == 0 else HALF
