"""The cached calls about the bundled model in each format: its predictions, one of its layers, FP8 attention."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from viz_core.i18n import LANGS, Lang
from viz_core.model.fp8_attention import Compared, compare_fp8
from viz_core.model.held_out import held_out
from viz_core.model.layer_inputs import Matrix, layer_inputs
from viz_core.model.linear import Dense
from viz_core.model.quantized import Damage, Predictions, damage, predict, quantize_model
from viz_core.model.tokenizer import Tokenizer
from viz_core.quantizers.gptq import gptq, nearest
from viz_core.quantizers.registry import FORMATS
from viz_core.ui import cached
from viz_core.ui.params import Choice, Live

TEXT = Live("held_text", lambda bench: Choice("held_text", LANGS, bench.lang))
"""Which held-out text the bundled model reads: at first the one in the reader's language."""
LAYER = Choice("method_layer", ("0", "1", "2", "3"), "0")
MATRIX = Choice("matrix", ("qkv", "o", "gate_up", "down"), "down")
"""One matrix of the bundled model; the inputs of the first `down` have an outlier channel."""


@st.cache_data(max_entries=4, show_spinner=False)
def original(model: str, lang: Lang) -> Predictions:
    """What the model says of the held-out texts."""
    loaded = cached.model(model)
    return predict(loaded.llama, [loaded.encode(text) for text in held_out(lang)])


@dataclass(frozen=True)
class Changed:
    """A model in one format: bits a weight, the share of weights that a stand-in stores, what it says of the texts."""

    bits: float
    stand_in: float
    predictions: Predictions


@st.cache_resource(max_entries=4, show_spinner=False)
def changed(model: str, name: str, lang: Lang) -> Changed:
    """The model in that format on the held-out texts of one language."""
    loaded = cached.model(model)
    made = quantize_model(loaded.llama, FORMATS[name])
    said = predict(made.llama, [loaded.encode(text) for text in held_out(lang)])
    return Changed(made.bits_per_weight, made.stand_in, said)


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
    found = changed(model, name, lang)
    return ModelRow(name, found.bits, found.stand_in, damage(original(model, lang), found.predictions))


@dataclass(frozen=True)
class NextToken:
    """One place in the held-out texts: the likeliest tokens, (n,) each with p before and after, and the KL there.

    `so_far` is the text read up to there; `ids` come in the order of the original's p, the changed model's first among
    them.
    """

    so_far: str
    ids: tuple[int, ...]
    before: np.ndarray
    after: np.ndarray
    kl: float

    @property
    def flipped(self) -> bool:
        """Whether the first choice is another one."""
        return int(self.before.argmax()) != int(self.after.argmax())


def next_token(model: str, name: str, lang: Lang, place: int, count: int = 6) -> NextToken:
    """The next-token distribution at one place, before and after quantizing; `count` of the likeliest tokens."""
    tokenizer = cached.model(model).tokenizer
    first, second = (made.log[place] for made in (original(model, lang), changed(model, name, lang).predictions))
    likeliest = [*np.argsort(-first)[: count - 1].tolist(), int(second.argmax())]
    ids = list(dict.fromkeys([*likeliest, *np.argsort(-first)[:count].tolist()]))[:count]
    ids.sort(key=lambda i: -first[i])
    kl = float(np.exp(first) @ (first - second))
    return NextToken(_read(model, lang, place, tokenizer), tuple(ids), np.exp(first[ids]), np.exp(second[ids]), kl)


def _read(model: str, lang: Lang, place: int, tokenizer: Tokenizer) -> str:
    """The text that was read up to a place; places run on through the texts, each without its first token."""
    for text in held_out(lang):
        ids = cached.model(model).encode(text)
        if place < len(ids) - 1:
            return tokenizer.decode(ids[1 : place + 1])
        place -= len(ids) - 1
    return ""


@dataclass(frozen=True)
class Layer:
    """A real layer: its weight (in, out), and what goes into it (tokens, in) on text to fit with and on other text."""

    inputs: np.ndarray
    unseen: np.ndarray
    weight: np.ndarray


@st.cache_resource(max_entries=4, show_spinner=False)
def layer(lang: Lang, number: int, name: Matrix) -> Layer:
    """One matrix of the bundled model, on the held-out texts but the last, and on the last."""
    loaded = cached.model("bundled")
    texts = [loaded.encode(text) for text in held_out(lang)]
    fit, unseen = (layer_inputs(loaded.llama, number, name, some) for some in (texts[:-1], texts[-1:]))
    found = getattr(loaded.llama.blocks[number], name)
    assert isinstance(found, Dense)
    return Layer(fit, unseen, found.w)


@st.cache_data(max_entries=16, show_spinner=False)
def gptq_weights(lang: Lang, number: int, name: Matrix, bits: int, group: int | None) -> tuple[np.ndarray, np.ndarray]:
    """That matrix rounded to nearest and by GPTQ."""
    found = layer(lang, number, name)
    return nearest(found.weight, bits, group), gptq(found.weight, found.inputs, bits, group)


@st.cache_resource(max_entries=8, show_spinner=False)
def fp8(n: int, d: int, seed: int) -> Compared:
    """FP8 attention four ways on one draw of the paper's kind of data."""
    return compare_fp8(n, d, seed)
