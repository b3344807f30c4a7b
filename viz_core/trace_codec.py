"""Turns a Trace into the bytes that the player reads, and back.

Layout: u32 (little-endian) length of a front, JSON that is read first; then the film, one zlib stream if the front says
`packed`. A film is again a u32 length and a header, JSON; then the arrays one after the other, as the header's `arrays`
lists them (`trace_arrays`). The header names an array by its index. The planes' changes are one list (`trace_deltas`).
Sentences travel as their template and columns of parameters; every number is rounded here, once, so that Python and
the browser show the same digits.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz_core.i18n import Lang, catalogue, fill, t
from viz_core.trace import Bars, Event, Label, Lane, Messages, Plane, Series, Text, Trace
from viz_core.trace_arrays import Arrays, read
from viz_core.trace_deltas import unrolled, written
from viz_core.trace_numbers import drawn, shown, unit

PACKED_FROM = 16_384  # bytes; a smaller film is not worth the wait for the browser's inflater
LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: no UTF-8 holds it
Json = dict[str, Any]


def said(label: Label, lang: Lang) -> str:
    """The words of a label in `lang`; a literal string stays as it is."""
    if isinstance(label, str):
        return label
    return t(label.key, lang, **{name: _plain(value, lang) for name, value in label.params.items()})


def _plain(value: object, lang: Lang) -> object:
    return said(value, lang) if isinstance(value, Text) else value


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
                column = [fill(whole.replace("{", "{value", 1), value=value) for value in column]
            parts.append(len(slots))
            slots.append(column)
    return parts, slots


def _column(column: list[object], arrays: Arrays) -> Json:
    """Whole numbers as an array; anything else as its distinct texts and an array of which."""
    whole = [int(value) for value in column if isinstance(value, int | np.integer) and not isinstance(value, bool)]
    if len(whole) == len(column) and all(abs(value) < 2**53 for value in whole):
        return {"ints": arrays.add(whole)}
    texts: dict[str, int] = {}
    at = [texts.setdefault(str(value), len(texts)) for value in column]
    return {"texts": list(texts), "at": arrays.add(at)}


def _messages(messages: Messages, lang: Lang, arrays: Arrays) -> Json:
    parts, columns = [], []
    for key, named in zip(messages.keys, messages.columns, strict=True):
        template, slots = _template(key, lang, named)
        parts.append(template)
        columns.append([_column(slot, arrays) for slot in slots])
    return {"parts": parts, "columns": columns, "which": arrays.add(np.array(messages.which, np.uint32))}


def _bars(bars: Bars, lang: Lang, arrays: Arrays) -> Json:
    """Boxes as flat arrays, four numbers each."""
    boxes = {name: arrays.add(np.array(getattr(bars, name), np.int64).reshape(-1))
             for name in ("before", "after", "outline", "points")}
    return {**boxes, "across": bars.across, "up": bars.up, "title": said(bars.title, lang), "tall": bars.tall}


def _lane(lane: Lane, lang: Lang, arrays: Arrays) -> Json:
    return {
        "label": said(lane.label, lang), "first": lane.first, "count": lane.count, "labels": lane.labels,
        "under": lane.under, "keys": lane.keys, "columns": lane.columns, "full": lane.full,
        "rowNames": lane.row_names, "columnNames": lane.column_names, "history": lane.history,
        "folded": lane.folded, "bars": lane.bars and _bars(lane.bars, lang, arrays),
    }  # fmt: skip


def _series(series: Series, lang: Lang, arrays: Arrays) -> Json:
    power, places, name = unit(series)
    out: Json = {"label": said(series.label, lang), "unit": name, "share": series.share, "places": places}
    out["line"] = arrays.add(drawn(value, power, places) for value in series.values)
    if places is None:
        texts: dict[str, int] = {}
        out["at"] = arrays.add([texts.setdefault(shown(value), len(texts)) for value in series.values])
        out["texts"] = list(texts)
    return out


def _events(events: Sequence[Event], lang: Lang, arrays: Arrays) -> list[Json]:
    """The steps of each kind of event."""
    steps: dict[str, list[int]] = {}
    for event in events:
        steps.setdefault(event.kind, []).append(event.step)
    return [{"kind": t(kind, lang), "steps": arrays.add(at)} for kind, at in steps.items()]


def encode(trace: Trace, lang: Lang, extra: Mapping[str, object] | None = None, *, start: int = 0) -> bytes:
    """The whole animation in one language as one blob, opened at step `start`.

    `extra` adds the player's own entries to the header.
    """
    arrays = Arrays()
    header: Json = {
        "version": 2, "lang": lang, "steps": trace.steps, "cells": trace.cells, "title": said(trace.title, lang),
        "lanes": [_lane(lane, lang, arrays) for lane in trace.lanes], "texts": trace.texts,
        **written(trace.planes, trace.steps, trace.cells, arrays),
        "captions": _messages(trace.captions, lang, arrays), "details": _messages(trace.details, lang, arrays),
        "series": [_series(series, lang, arrays) for series in trace.series],
        "events": _events(trace.events, lang, arrays),
        "hues": [[hue.number, hue.letter, said(hue.name, lang)] for hue in trace.hues],
        "words": {str(int(state)): said(label, lang) for state, label in trace.words.items()},
    }  # fmt: skip
    film = _headed({**header, "arrays": arrays.index, **(extra or {})}) + b"".join(arrays.parts)
    pack = len(film) >= PACKED_FROM
    return _headed({"packed": pack, "start": start}) + (zlib.compress(film) if pack else film)


def _headed(header: Json) -> bytes:
    """JSON behind its length."""
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    raw = LONE_SURROGATE.sub("\ufffd", text).encode()
    return len(raw).to_bytes(4, "little") + raw


def _parted(blob: bytes) -> tuple[Json, bytes]:
    """What `_headed` wrote, and what follows it."""
    start = 4 + int.from_bytes(blob[:4], "little")
    return json.loads(blob[4:start]), blob[start:]


@dataclass(frozen=True, slots=True)
class Decoded:
    """What the player sees: the header with the front's entries, and the planes; sentences and numbers as shown."""

    header: Json
    arrays: Sequence[NDArray[Any]]
    planes: Mapping[str, Plane]

    def sentences(self, table: str) -> list[str]:
        """All `captions` or all `details`, filled in."""
        entry = self.header[table]
        out: list[str] = []
        seen: dict[int, int] = {}
        for which in self.arrays[entry["which"]].astype(int).tolist():
            row = seen[which] = seen.get(which, -1) + 1
            filled = [self._cell(column, row) for column in entry["columns"][which]]
            out.append("".join(part if isinstance(part, str) else filled[part] for part in entry["parts"][which]))
        return out

    def _cell(self, column: Json, row: int) -> str:
        if "ints" in column:
            return str(int(self.arrays[column["ints"]][row]))
        return str(column["texts"][int(self.arrays[column["at"]][row])])


def decode(blob: bytes) -> Decoded:
    """Read what `encode` wrote."""
    front, film = _parted(blob)
    header, body = _parted(zlib.decompress(film) if front["packed"] else film)
    arrays = list(read(header["arrays"], body))
    return Decoded(front | header, arrays, unrolled(header, arrays))
