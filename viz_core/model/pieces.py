"""The bytes behind a token, and which tokens belong to one character.

Schemes: `byte-level` (GPT-2's printable stand-ins for bytes, openai/gpt-2 `encoder.py`), `sentencepiece` (▁ for a
space, <0xE6> for a byte), `plain` (the piece is the text).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

Scheme = Literal["byte-level", "sentencepiece", "plain"]
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


@cache
def byte_symbols() -> tuple[str, ...]:
    """The printable character that byte-level BPE writes for each of the 256 bytes."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (b for b in range(256) if b not in printable)
    moved = {b: 0x100 + i for i, b in enumerate(others)}
    return tuple(chr(moved.get(b, b)) for b in range(256))


@cache
def _symbol_bytes() -> dict[str, int]:
    return {symbol: byte for byte, symbol in enumerate(byte_symbols())}


def piece_bytes(piece: str, scheme: Scheme) -> bytes:
    """The UTF-8 bytes, perhaps part of a character, that a piece stands for."""
    if scheme == "byte-level":
        known = _symbol_bytes()
        if all(c in known for c in piece):
            return bytes(known[c] for c in piece)
    elif scheme == "sentencepiece":
        if byte := _BYTE.fullmatch(piece):
            return bytes([int(byte[1], 16)])
        piece = piece.replace("▁", " ")
    return piece.encode("utf-8", "replace")


def character_spans(pieces: Sequence[bytes]) -> list[tuple[int, int]]:
    """[start, stop) of the runs of pieces that share a character: cut wherever a character ends with a piece.

    Bytes that never become UTF-8 stand alone.
    """
    spans, start = [], 0
    while start < len(pieces):
        stop = _whole(pieces, start)
        spans.append((start, stop))
        start = stop
    return spans


def _whole(pieces: Sequence[bytes], start: int) -> int:
    """The end of the shortest run from `start` that is whole UTF-8; start + 1 where four pieces do not make it so."""
    for stop in range(start + 1, min(start + 4, len(pieces)) + 1):
        try:
            b"".join(pieces[start:stop]).decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                break
        else:
            return stop
    return start + 1
