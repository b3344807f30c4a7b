"""Numbers of ggml's tensor types in a GGUF file (ggml.h, ggml 0.13.1) and how many bytes their blocks take."""

from __future__ import annotations

from viz_core.i18n import Problem
from viz_core.quantizers.ggml_blocks import BLOCKS

_NUMBERS = """F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS IQ3_XXS
IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 TQ1_0 TQ2_0 IQ4_NL_4_4
IQ4_NL_4_8 IQ4_NL_8_8 MXFP4 NVFP4 Q1_0"""
_NUMBERED = _NUMBERS.split()
REMOVED = {"Q4_2", "Q4_3", "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8"}
_UNDECODED = """Q8_1 32 36, Q8_K 256 292, IQ2_XXS 256 66, IQ2_XS 256 74, IQ3_XXS 256 98, IQ1_S 256 50, IQ3_S 256 110,
IQ2_S 256 82, IQ1_M 256 56, I8 1 1, I16 1 2, I32 1 4, I64 1 8, F64 1 8"""
UNDECODED = {name: (int(values), int(size)) for name, values, size in (x.split() for x in _UNDECODED.split(","))}
"""(values, bytes) of a block of the types that can be measured but not decoded here."""


def type_name(number: int, file: str, tensor: str) -> str:
    """ggml's name of a type number; a Problem for one that was removed from ggml or never was."""
    if number >= len(_NUMBERED):
        raise Problem("model_gguf_type", file=file, name=tensor, type=number)
    if _NUMBERED[number] in REMOVED:
        raise Problem("model_gguf_type_removed", file=file, name=tensor, type=_NUMBERED[number])
    return _NUMBERED[number]


def block_size(name: str) -> tuple[int, int]:
    """(values, bytes) of one block."""
    return (BLOCKS[name].values, BLOCKS[name].bytes) if name in BLOCKS else UNDECODED[name]
