"""GGUF's metadata: typed values, each measured against the bytes that are left before it is read.

After the specification in ggml's docs/gguf.md (version 3). A claimed length is never allocated: a string is at most
what remains, an array of strings takes 8 bytes an entry at least, nested arrays are refused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from mmap import mmap
from typing import Any

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.notes import Note, shown

MAX_ENTRIES = 2**23
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY, _BOOL = 8, 9, 7


class Cursor:
    """A place in a memory-mapped file that only moves forward and never past the end."""

    def __init__(self, data: mmap | bytes, file: str, order: str = "<") -> None:
        self.data, self.size, self.file, self.order, self.at = data, len(data), file, order, 0

    @property
    def left(self) -> int:
        """Bytes not yet read."""
        return self.size - self.at

    def skip(self, n: int) -> int:
        """Move over n bytes; → where they begin. A Problem where fewer are left."""
        if n > self.left:
            raise Problem("model_file_cut", file=self.file)
        self.at += n
        return self.at - n

    def number(self, code: str) -> Any:
        """One number of a struct code."""
        at = self.skip(struct.calcsize(code))
        return struct.unpack_from(self.order + code, self.data, at)[0]

    def raw_string(self) -> bytes:
        """A length and that many bytes."""
        at = self.skip(int(self.number("Q")))
        return self.data[at : self.at]

    def key(self) -> str:
        """A string that must be UTF-8: a metadata key or a tensor name."""
        raw = self.raw_string()
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise Problem("model_gguf_key", file=self.file) from error


def value(cursor: Cursor, key: str, note: Callable[[Note], None]) -> Any:
    """The value of one metadata entry: a number, a bool, a string, a list of strings, or a NumPy array of numbers."""
    kind = cursor.number("I")
    if kind != _ARRAY:
        return _scalar(cursor, kind, key, note)
    kind, count = cursor.number("I"), cursor.number("Q")
    if kind == _ARRAY:
        raise Problem("model_gguf_nested", file=cursor.file, name=shown(key))
    width = 8 if kind == _STRING else struct.calcsize(_code(kind, cursor, key))
    if count > cursor.left // width or count > MAX_ENTRIES:
        raise Problem("model_gguf_array", file=cursor.file, name=shown(key), count=count)
    if kind == _STRING:
        return _strings(cursor, count, key, note)
    dtype = np.dtype(cursor.order + _code(kind, cursor, key))
    at = cursor.skip(count * width)
    return np.frombuffer(cursor.data, dtype, count, at).copy()


def _scalar(cursor: Cursor, kind: int, key: str, note: Callable[[Note], None]) -> Any:
    if kind == _STRING:
        return text(cursor.raw_string(), cursor.file, key, note)
    number = cursor.number(_code(kind, cursor, key))
    if kind != _BOOL:
        return number
    if number > 1:
        note(Note("model_gguf_bool", {"file": cursor.file, "name": shown(key), "value": number}))
    return bool(number)


def _code(kind: int, cursor: Cursor, key: str) -> str:
    if kind not in _NUMBERS:
        raise Problem("model_gguf_value_type", file=cursor.file, name=shown(key), type=kind)
    return _NUMBERS[kind]


def _strings(cursor: Cursor, count: int, key: str, note: Callable[[Note], None]) -> list[str]:
    """`count` strings; written out because a vocabulary and its merges are 10⁵ of them."""
    data, at, size, length = cursor.data, cursor.at, cursor.size, struct.Struct(cursor.order + "Q").unpack_from
    out, odd = [], False
    for _ in range(count):
        if size - at < 8:
            raise Problem("model_file_cut", file=cursor.file)
        end = at + 8 + length(data, at)[0]
        if end > size:
            raise Problem("model_file_cut", file=cursor.file)
        raw = data[at + 8 : end]
        try:
            out.append(raw.decode())
        except UnicodeDecodeError:
            out.append(spelled(raw))
            odd = True
        at = end
    cursor.at = at
    if odd:
        note(Note("model_gguf_not_utf8", {"file": cursor.file, "name": shown(key)}))
    return out


def text(raw: bytes, file: str, key: str, note: Callable[[Note], None]) -> str:
    """A string value; bytes that are no UTF-8 are spelled <E4> and remarked on."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        note(Note("model_gguf_not_utf8", {"file": file, "name": shown(key)}))
        return spelled(raw)


def spelled(raw: bytes) -> str:
    """Bytes as text, those that are no UTF-8 as <E4>."""
    return "".join(
        f"<{ord(c) - 0xDC00:02X}>" if "\udc80" <= c <= "\udcff" else c for c in raw.decode(errors="surrogateescape")
    )
