"""Turns a Trace into the bytes that the player reads, and back.

Layout, little-endian: u32 length of the header; the header, JSON padded with blanks to a multiple of 4; then the typed
arrays one after the other, each of the narrowest type that holds it, as the header's `arrays` lists them; as one zlib
stream if the header says `packed`. The header names an array by its index. Sentences travel as their template and
columns of parameters; every number is rounded here, once, so that Python and the browser show the same digits.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz_core.i18n import Lang, catalogue, t
from viz_core.trace import Label, Lane, Messages, Plane, Series, Text, Trace
from viz_core.trace_numbers import drawn, shown, unit

PACKED_FROM = 16_384  # bytes; a smaller body is not worth the wait for the browser's inflater
LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: no UTF-8 holds it
NARROW = ("u1", "i1", "u2", "i2", "u4", "i4", "f8")
Json = dict[str, Any]


def said(label: Label, lang: Lang) -> str:
    """The words of a label in `lang`; a literal string stays as it is."""
    if isinstance(label, str):
        return label
    return t(label.key, lang, **{name: _plain(value, lang) for name, value in label.params.items()})


def _plain(value: object, lang: Lang) -> object:
    return said(value, lang) if isinstance(value, Text) else value


@dataclass(slots=True)
class _Arrays:
    """The body while it is written: the header's list of arrays, and their bytes."""

    index: list[tuple[str, int]] = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)

    def add(self, values: Iterable[float] | NDArray[Any]) -> int:
        """Store numbers in the narrowest type that holds them all and return the array's index."""
        wide = values if isinstance(values, np.ndarray) else np.array(list(values), np.float64)
        kind = next(k for k in NARROW if k == "f8" or _holds(k, wide))
        self.index.append((kind, len(wide)))
        self.parts.append(wide.astype("<" + kind).tobytes())
        return len(self.index) - 1


def _holds(kind: str, values: NDArray[Any]) -> bool:
    if not len(values):
        return True
    info, low, high = np.iinfo(kind), values.min(), values.max()
    return bool(info.min <= low and high <= info.max and (values.dtype.kind in "ui" or not (values % 1).any()))


def _template(key: str, lang: Lang, columns: Mapping[str, list[object]]) -> tuple[list[str | int], list[list[object]]]:
    """A text as literals and slot numbers, and for each slot its column; format specifications are applied here."""
    parts: list[str | int] = []
    slots: list[list[object]] = []
    for literal, name, spec, conversion in Formatter().parse(catalogue(lang)[key]):
        if literal:
            parts.append(literal)
        if name is not None:
            column = [_plain(value, lang) for value in columns[name]]
            if spec or conversion:
                whole = "{" + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}"
                column = [whole.format(value) for value in column]
            parts.append(len(slots))
            slots.append(column)
    return parts, slots


def _column(column: list[object], arrays: _Arrays) -> Json:
    """Whole numbers as an array; anything else as its distinct texts and an array of which."""
    whole = [int(value) for value in column if isinstance(value, int | np.integer) and not isinstance(value, bool)]
    if len(whole) == len(column) and all(abs(value) < 2**53 for value in whole):
        return {"ints": arrays.add(whole)}
    texts: dict[str, int] = {}
    at = [texts.setdefault(str(value), len(texts)) for value in column]
    return {"texts": list(texts), "at": arrays.add(at)}


def _messages(messages: Messages, lang: Lang, arrays: _Arrays) -> Json:
    parts, columns = [], []
    for key, named in zip(messages.keys, messages.columns, strict=True):
        template, slots = _template(key, lang, named)
        parts.append(template)
        columns.append([_column(slot, arrays) for slot in slots])
    return {"parts": parts, "columns": columns, "which": arrays.add(np.array(messages.which, np.uint32))}


def _lane(lane: Lane, lang: Lang) -> Json:
    return {
        "label": said(lane.label, lang), "first": lane.first, "count": lane.count, "labels": lane.labels,
        "under": lane.under, "keys": lane.keys, "columns": lane.columns, "full": lane.full,
        "rowNames": lane.row_names, "columnNames": lane.column_names, "history": lane.history,
    }  # fmt: skip


def _series(series: Series, lang: Lang, arrays: _Arrays) -> Json:
    power, places, name = unit(series)
    out: Json = {"label": said(series.label, lang), "unit": name, "share": series.share, "places": places}
    out["line"] = arrays.add(drawn(value, power, places) for value in series.values)
    if places is None:
        texts: dict[str, int] = {}
        out["at"] = arrays.add([texts.setdefault(shown(value), len(texts)) for value in series.values])
        out["texts"] = list(texts)
    return out


def encode(trace: Trace, lang: Lang, extra: Mapping[str, object] | None = None) -> bytes:
    """The whole animation in one language as one blob; `extra` adds the player's own entries to the header."""
    arrays = _Arrays()
    kinds = list(dict.fromkeys(event.kind for event in trace.events))
    header: Json = {
        "version": 1, "lang": lang, "steps": trace.steps, "cells": trace.cells, "title": said(trace.title, lang),
        "lanes": [_lane(lane, lang) for lane in trace.lanes],
        "planes": {
            name: [arrays.add(plane.counts), arrays.add(plane.cells), arrays.add(plane.values)]
            for name, plane in trace.planes.items()
        },
        "texts": trace.texts,
        "captions": _messages(trace.captions, lang, arrays), "details": _messages(trace.details, lang, arrays),
        "series": [_series(series, lang, arrays) for series in trace.series],
        "events": {
            "kinds": [t(kind, lang) for kind in kinds],
            "step": arrays.add(event.step for event in trace.events),
            "kind": arrays.add(kinds.index(event.kind) for event in trace.events),
        },
        "hues": [[hue.number, hue.letter, said(hue.name, lang)] for hue in trace.hues],
        "words": {str(int(state)): said(label, lang) for state, label in trace.words.items()},
    }  # fmt: skip
    body = b"".join(arrays.parts)
    header |= {"arrays": arrays.index, "packed": len(body) >= PACKED_FROM, **(extra or {})}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    raw = LONE_SURROGATE.sub("\ufffd", text).encode()
    raw += b" " * (-len(raw) % 4)
    return len(raw).to_bytes(4, "little") + raw + (zlib.compress(body) if header["packed"] else body)


@dataclass(frozen=True, slots=True)
class Decoded:
    """What the player sees: the header, and the planes; sentences and numbers as they are shown."""

    header: Json
    arrays: Sequence[NDArray[Any]]

    def plane(self, name: str) -> Plane:
        """The deltas of one plane."""
        counts, cells, values = (self.arrays[i].astype(np.uint32) for i in self.header["planes"][name])
        return Plane(counts, cells, values)

    def sentences(self, table: str) -> list[str]:
        """All `captions` or all `details`, filled in."""
        entry = self.header[table]
        out: list[str] = []
        seen: dict[int, int] = {}
        for which in self.arrays[entry["which"]].tolist():
            row = seen[which] = seen.get(which, -1) + 1
            filled = [self._cell(column, row) for column in entry["columns"][which]]
            out.append("".join(part if isinstance(part, str) else filled[part] for part in entry["parts"][which]))
        return out

    def _cell(self, column: Json, row: int) -> str:
        if "ints" in column:
            return str(int(self.arrays[column["ints"]][row]))
        return str(column["texts"][self.arrays[column["at"]][row]])


def decode(blob: bytes) -> Decoded:
    """Read what `encode` wrote."""
    start = 4 + int.from_bytes(blob[:4], "little")
    header, arrays, at = json.loads(blob[4:start]), [], 0
    body = zlib.decompress(blob[start:]) if header["packed"] else blob[start:]
    for kind, count in header["arrays"]:
        arrays.append(np.frombuffer(body, "<" + kind, count, at))
        at += arrays[-1].nbytes
    assert at == len(body), f"{len(body) - at} bytes are left"
    return Decoded(header, arrays)
