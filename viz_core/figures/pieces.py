"""The bytes behind a token piece, by the scheme of its tokenizer.

Byte-level: GPT-2's printable alphabet for the 256 bytes (`encoder.py` of openai/gpt-2, `bytes_to_unicode`).
SentencePiece: `▁` for a space and `<0xE4>` for a byte that no piece covers. Plain: the piece is the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

Scheme = Literal["plain", "byte-level", "sentencepiece"]
BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


@cache
def _byte_alphabet() -> dict[str, int]:
    """GPT-2's character → byte: printable Latin-1 stands for itself, the other 68 bytes for U+0100 onwards."""
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [b for b in range(256) if b not in set(itself)]
    return {chr(b): b for b in itself} | {chr(0x100 + i): b for i, b in enumerate(moved)}


def piece_bytes(piece: str, scheme: Scheme) -> bytes:
    """The bytes that a piece stands for, as UTF-8; a lone surrogate keeps its three bytes (`surrogatepass`).

    A byte-level piece with a character outside the alphabet is an added token, stored as plain text.
    """
    if scheme == "byte-level":
        alphabet = _byte_alphabet()
        if all(c in alphabet for c in piece):
            return bytes(alphabet[c] for c in piece)
    if scheme == "sentencepiece":
        if found := BYTE_PIECE.fullmatch(piece):
            return bytes([int(found[1], 16)])
        piece = piece.replace("▁", " ")
    return piece.encode("utf-8", "surrogatepass")


def is_text(data: bytes) -> bool:
    """Whether the bytes are whole UTF-8 characters (a lone surrogate counts as one)."""
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def is_open(data: bytes) -> bool:
    """Whether the bytes end inside a character that a following byte could still finish."""
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        return "unexpected end" in error.reason
    return False
