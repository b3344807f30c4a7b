"""Which weights the quantization page looks at: samples, a tensor of the loaded model, or a reader's own file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import streamlit as st

from viz_core import units
from viz_core.i18n import Problem
from viz_core.model import get, tensors
from viz_core.model.sources import SOURCES
from viz_core.model.stored import stored_types, type_of
from viz_core.quantizers.format import Format
from viz_core.quantizers.ggml import GGML
from viz_core.quantizers.readable import LOOKED, Looked, looked, spread
from viz_core.quantizers.registry import FORMATS
from viz_core.quantizers.samples import SAMPLES, sample
from viz_core.ui import cached, uploads
from viz_core.ui.params import Choice, Live, Upload
from viz_core.ui.quantizing_files import check, part, parts
from viz_core.ui.quantizing_strung import strung
from viz_core.ui.scene import Bench, Context


@dataclass(frozen=True, slots=True)
class Data:
    """A tensor to look at: a sample by its name, or a part of a model (by its spec) or of a file (by its digest).

    `few` looks at fewer values, for scenes that try many formats at once; a sample is always looked at whole.
    """

    source: str
    where: str = ""
    part: str = ""
    few: bool = False


@dataclass(frozen=True, slots=True)
class Before:
    """What a tensor was stored as before it came here, where that was a format of few bits."""

    name: str
    bits: float


def _tensor_choice(bench: Bench) -> Choice:
    names = tuple(tensors.tensors(cached.model(bench.model).llama))
    return Choice("tensor", names, names[0], listed=True, when=("source", "model"))


def _part_choice(bench: Bench) -> Choice:
    kept = uploads.kept(FILE.name)
    names = ("",) if kept is None else _parts(kept.digest)
    return Choice("part", names, names[0], listed=True, when=("source", "upload"))


STRAYS = ("nan", "infinite", "beyond")
SOURCE = Choice("source", (*SAMPLES, "model", "upload"), "ffn_in")
FILE = Upload("file", ("npy", "safetensors"), check, when=("source", "upload"))
DATA = (SOURCE, Live("tensor", _tensor_choice), FILE, Live("part", _part_choice))
"""The controls that choose the weights; `chosen` reads them."""


@st.cache_data(max_entries=4, show_spinner=False)
def _parts(digest: str) -> tuple[str, ...]:
    kept = uploads.kept(FILE.name, digest)
    return ("",) if kept is None else parts(kept.name, kept.data)


def chosen(context: Context, few: bool = False) -> Data:
    """The tensor that the controls name; the first sample while there is no file."""
    values, source = context.values, context.values["source"]
    if source == "model":
        return Data(source, context.bench.model, values["tensor"], few)
    if source == "upload":
        kept = uploads.kept(FILE.name, values["file"])
        return Data(SOURCE.default) if kept is None else Data(source, kept.digest, values["part"], few)
    return Data(source)


@st.cache_resource(max_entries=16, show_spinner=False)
def seen(data: Data) -> Looked:
    """The chosen tensor as it is looked at."""
    if data.few:
        found = seen(replace(data, few=False)).fewer()
    elif data.source == "model":
        whole = tensors.tensor(cached.model(data.where).llama, data.part)
        values = whole.read(spread(*whole.shape, LOOKED))
        if not np.isfinite(values).all():  # then all of it is counted, and rows are looked for that have finite values
            values = whole.read(np.arange(whole.shape[0]))
        found = looked(values, "float32", whole.shape)
    elif data.source == "upload":
        kept = uploads.kept(FILE.name, data.where)
        if kept is None:
            raise Problem("quantizers_file_gone")
        found = part(kept.name, kept.data, data.part)
    else:
        found = looked(sample(data.source))
    found.values.flags.writeable = False
    return found


def stored_as(data: Data) -> tuple[Before, ...]:
    """The formats of few bits that the tensor was in before, in turn: its file's, and int8 where it is kept so."""
    if data.source != "model":
        return _few_bits(seen(data).dtype)
    small = tensors.tensor(cached.model(data.where).llama, data.part).small
    return (*_few_bits(type_of(_stored(data.where), data.part)), *([Before("int8", 8)] if small else []))


def _few_bits(dtype: str) -> tuple[Before, ...]:
    """The type of a file's tensor, where it has few bits."""
    if dtype.startswith("F8_"):
        return (Before(dtype, 8),)
    return (Before(dtype, GGML[dtype].code_bits),) if dtype in GGML and GGML[dtype].code_bits < 16 else ()


@st.cache_data(max_entries=8, show_spinner=False)
def _stored(spec: str) -> dict[str, str]:
    """What the tensors of a model's file are stored as; nothing of the bundled one, which is float32."""
    head, _, where = spec.partition(":")
    option = head.partition("@")[0]
    path = get.held(option) if option in SOURCES else Path(where.strip()).expanduser() if where else None
    return {} if path is None else stored_types(path)


def ranked(form: str | Format, stored: Sequence[Before]) -> bool:
    """Whether a format may be ranked: not beside one that made the tensor's values, whose error would be near 0."""
    bits = (FORMATS[form] if isinstance(form, str) else form).code_bits
    return all(abs(bits - before.bits) >= 1 for before in stored)


def notice(
    context: Context,
    instead: bool = False,
    few: bool = False,
    name: str | Sequence[str] = (),
    also: Iterable[str] = (),
    whole: bool = False,
) -> str | None:
    """What is to be said of the tensor: that it was quantized before, what was not finite, left out or converted.

    `instead` says that a sample is drawn in its place; `name` is the format that is shown, or several, whose blocks may
    need the rows strung together; `also` are further sentences; `whole` says that all values were measured.
    """
    data, out = chosen(context, few), []
    found, stored = seen(data), stored_as(data)
    if context.values["source"] == "upload" and data.source != "upload":
        out.append(context.t("quant.no_file"))
    if stored:
        types = (context.t("quant.requantized_type", type=one.name, bits=f"{one.bits:g}") for one in stored)
        out.append(context.t("quant.requantized", types=context.listed(types)))
    if instead:
        out.append(context.t("quant.instead"))
    if found.strays:
        counts = {name: getattr(found.strays, name) for name in STRAYS}
        named = (context.t(f"quant.stray_{name}", n=units.count(n)) for name, n in counts.items() if n)
        out.append(context.t("quant.not_finite", strays=context.listed(named)))
    if found.dtype.lower() not in ("float32", "f32") and not stored:
        out.append(context.t("quant.read_as", dtype=found.dtype))
    if found.cut and whole:
        out.append(context.t("quant.measured_all", size=units.count(found.size)))
    elif found.cut and not instead:
        key = "quant.looked_at" if found.values.shape[-1] == found.shape[-1] else "quant.looked_at_first"
        out.append(context.t(key, n=units.count(found.values.size), size=units.count(found.size),
                             rows=units.count(len(found.values))))
    out += strung(context, found.values, [name] if isinstance(name, str) else name)
    if found.values.size > 1 and found.values.min() == found.values.max():
        out.append(context.t("quant.constant"))
    out += also
    return (" " if context.lang == "en" else "").join(out) or None
