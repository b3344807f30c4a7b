"""JSON from files that nobody vouches for: bounded in size, depth and digits, with duplicate keys seen.

Python's own parser accepts duplicate keys silently, recurses until RecursionError and refuses integers of more than
4,300 digits with a bare ValueError. Encodings: UTF-8, with or without a byte-order mark, and UTF-16 with one.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from typing import Any

from viz_core.i18n import Problem
from viz_core.model.notes import Note, shown

DEEPEST = 64
DIGITS = 40
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


def parse(data: bytes, file: str, *, constants: bool = True, note: Callable[[Note], None] | None = None) -> Any:
    """The JSON value of `data`; `file` is its name in messages.

    constants: whether NaN and Infinity are let through (real config files hold them). note: called with a remark where
    a duplicate key or UTF-16 was met; without it both are a Problem, as is everything that is not JSON.
    """
    text = _decode(data, file, note)
    if not text.strip():
        raise Problem("model_json_empty", file=file)
    _check_depth(text, file)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in items:
            if key in out:
                if note is None:
                    raise Problem("model_json_duplicate", file=file, name=shown(key))
                note(Note("model_json_duplicate", {"file": file, "name": shown(key), "value": shown(value)}))
            out[key] = value
        return out

    def integer(digits: str) -> int:
        if len(digits) > DIGITS:
            raise Problem("model_json_number", file=file, number=shown(digits[:12] + "…"))
        return int(digits)

    def constant(name: str) -> float:
        if not constants:
            raise Problem("model_json_number", file=file, number=name)
        return float(name.replace("Infinity", "inf"))

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_int=integer, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise Problem("model_json_syntax", file=file, line=error.lineno, column=error.colno) from error


def _decode(data: bytes, file: str, note: Callable[[Note], None] | None) -> str:
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem("model_json_encoding", file=file) from error
    if wide:
        if note is None:
            raise Problem("model_json_encoding", file=file)
        note(Note("model_json_utf16", {"file": file}))
    return text


def _check_depth(text: str, file: str) -> None:
    """Refuse nesting deeper than DEEPEST, counted before the recursive parser runs."""
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if bracket.group() in "[{" else -1
        if depth > DEEPEST:
            raise Problem("model_json_deep", file=file, limit=DEEPEST)
