"""vLLM's own block hashes, for comparing our chain with events of a real server.

`hash_block_tokens` of vLLM 0.33.0 (v1/core/kv_cache_utils.py) with `sha256_cbor`: h_i = sha256(cbor((h_{i-1},
tokens_i, extra))), and the first parent is the hash of the text "vllm-none-hash". Left out: the default `sha256`,
which hashes a Python pickle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

NONE_TEXT = "vllm-none-hash"


def cbor(value: object) -> bytes:
    """Canonical CBOR (RFC 8949, section 4.2) of None, non-negative ints, bytes, texts and sequences of them."""
    if value is None:
        return b"\xf6"
    if isinstance(value, int):
        return _head(0, value)
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        raw = value.encode()
        return _head(3, len(raw)) + raw
    assert isinstance(value, list | tuple), f"no CBOR for {type(value)}"
    return _head(4, len(value)) + b"".join(map(cbor, value))


def _head(major: int, number: int) -> bytes:
    """Major type and its number in the fewest bytes."""
    if number < 24:
        return bytes([major << 5 | number])
    width = 0 if number < 1 << 8 else 1 if number < 1 << 16 else 2 if number < 1 << 32 else 3
    return bytes([major << 5 | 24 + width]) + number.to_bytes(1 << width, "big")


def block_hashes(tokens: Sequence[int], size: int, salt: str | None = None) -> list[bytes]:
    """The 32-byte hash of every full block of `size` tokens; a cache salt enters the first block only."""
    parent = hashlib.sha256(cbor(NONE_TEXT)).digest()
    hashes = []
    for start in range(0, len(tokens) - size + 1, size):
        extra = (("cache_salt", salt),) if salt and not start else None
        parent = hashlib.sha256(cbor((parent, tuple(tokens[start : start + size]), extra))).digest()
        hashes.append(parent)
    return hashes
