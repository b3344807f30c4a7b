"""Every cached call of the quantization page: small frozen arguments in, arrays and frozen results out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from viz_core.i18n import LANGS, Lang
from viz_core.model.fp8_attention import rmse
from viz_core.model.held_out import held_out
from viz_core.model.linear import Dense
from viz_core.model.llama import rms_norm
from viz_core.model.quantized import Damage, Predictions, damage, predict, quantize_model
from viz_core.proofs import Proof, quantizers
from viz_core.quantizers.compare import Row, compare, quantize_any
from viz_core.quantizers.format import Format
from viz_core.quantizers.gptq import gptq, nearest
from viz_core.quantizers.quantized import Quantized
from viz_core.quantizers.registry import FORMATS, bnb, symmetric
from viz_core.quantizers.samples import SAMPLES, sample
from viz_core.quantizers.table import Table
from viz_core.ui import cached
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Bench

OWN = ("model_embed", "model_down")
"""Tensors of the loaded model: its embedding and the last layer's down projection."""
SOURCE = Choice("source", (*SAMPLES, *OWN), "ffn_in")
NAMES = tuple(FORMATS)
FORMAT = Choice("format", NAMES, "Q4_0")
BLOCK = Whole("block", 0, 63, 3)
TEXT = Choice("held_text", LANGS, "en")
"""Which held-out text the bundled model reads."""
ROWS = 512  # rows of a model's tensor that are looked at


@st.cache_data(max_entries=16, show_spinner=False)
def tensor(source: str, model: str) -> np.ndarray:
    """The chosen tensor, float32 (rows, columns)."""
    if source not in OWN:
        return sample(source)
    llama = cached.model(model).llama
    layer = llama.head if source == "model_embed" else llama.blocks[-1].down
    width = layer.w.shape[1] if isinstance(layer, Dense) else llama.config.d_model
    return layer.columns(np.arange(min(ROWS, width)))


@dataclass(frozen=True)
class Pair:
    """A tensor as it was quantized (its rows strung together where they had to be), and the result."""

    before: np.ndarray
    after: Quantized

    @property
    def name(self) -> str:
        """The format's name."""
        return self.after.format.name


@st.cache_resource(max_entries=48, show_spinner=False)
def pair(source: str, model: str, name: str) -> Pair:
    """The chosen tensor in the format of that name."""
    return Pair(*quantize_any(tensor(source, model), FORMATS[name]))


@st.cache_data(max_entries=32, show_spinner=False)
def rows(source: str, model: str, names: tuple[str, ...]) -> list[Row]:
    """Bits and errors of these formats on the chosen tensor."""
    return compare(tensor(source, model), [FORMATS[name] for name in names])


def requantized(source: str, bench: Bench) -> bool:
    """Whether the tensor comes from a file that was quantized to 4 bits already."""
    return source in OWN and bench.model.startswith("smollm2")


SIZES = (16, 32, 64, 128, 256, 512)
GROUPED: tuple[str, ...] = ("int4", "uint4", "NF4", "FP4")


def grouped(kind: str, size: int) -> Format:
    """A 4-bit format with blocks of `size`: integers with FP16 scales, tables with FP32 peaks as bitsandbytes."""
    found = FORMATS[kind if kind in ("NF4", "FP4") else f"{kind} g64"]
    if isinstance(found.grid, Table):
        return bnb(found.grid, size)
    return found.with_block(size) if kind != "int4" else symmetric(4, size, scale=found.scale or found)


@st.cache_data(max_entries=32, show_spinner=False)
def by_block(source: str, model: str) -> dict[str, list[Row]]:
    """Each 4-bit kind at every block size."""
    x = tensor(source, model)
    return {kind: compare(x, [grouped(kind, size) for size in SIZES]) for kind in GROUPED}


@st.cache_data(max_entries=4, show_spinner=False)
def original(model: str, lang: Lang) -> Predictions:
    """What the model says of the held-out texts."""
    loaded = cached.model(model)
    return predict(loaded.llama, [loaded.encode(text) for text in held_out(lang)])


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A format's effect on the model: bits, the share of weights that a stand-in stores, the damage."""

    name: str
    bits: float
    stand_in: float
    damage: Damage


@st.cache_data(max_entries=128, show_spinner=False)
def model_row(model: str, name: str, lang: Lang) -> ModelRow:
    """The model in one format, on the held-out texts of one language."""
    loaded = cached.model(model)
    made = quantize_model(loaded.llama, FORMATS[name])
    changed = predict(made.llama, [loaded.encode(text) for text in held_out(lang)])
    return ModelRow(name, made.bits_per_weight, made.stand_in, damage(original(model, lang), changed))


@st.cache_data(max_entries=4, show_spinner=False)
def ggml_proof() -> Proof:
    """Bytes equal to ggml's on the bundled weights, all 17 types."""
    return quantizers.ggml_bytes()


@dataclass(frozen=True)
class Layer:
    """A real layer: what went into it (tokens, in) and its weight (in, out)."""

    inputs: np.ndarray
    weight: np.ndarray


@st.cache_resource(max_entries=2, show_spinner=False)
def first_layer(lang: Lang) -> Layer:
    """The bundled model's first q, k, v projection on the held-out texts."""
    loaded = cached.model("bundled")
    block, eps = loaded.llama.blocks[0], loaded.llama.config.eps
    assert isinstance(block.qkv, Dense)
    ids = np.concatenate([np.asarray(loaded.encode(text)) for text in held_out(lang)])
    return Layer(rms_norm(loaded.llama.head.columns(ids), block.norm, eps), block.qkv.w)


@st.cache_data(max_entries=32, show_spinner=False)
def gptq_weights(lang: Lang, bits: int, group: int | None) -> tuple[np.ndarray, np.ndarray]:
    """That layer's weight rounded to nearest and by GPTQ."""
    layer = first_layer(lang)
    return nearest(layer.weight, bits, group), gptq(layer.weight, layer.inputs, bits, group)


@st.cache_data(max_entries=4, show_spinner=False)
def fp8_errors(n: int) -> dict[str, float]:
    """Errors of FP8 attention in four ways, on the paper's kind of data."""
    return rmse(n)
