"""Text ↔ token ids, over the `tokenizers` library, with the raw pieces that labels are made of.

Reserved tokens such as <s> that a reader types are text, not commands. A lone surrogate, which no UTF-8 can hold, is
replaced by U+FFFD, as browsers do. Left out: chat templates, truncation, padding.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer as Inner

from viz_core.i18n import Problem
from viz_core.model.notes import shown
from viz_core.model.pieces import Scheme, character_spans, piece_bytes
from viz_core.model.tensorfile import length_of

MAX_BYTES = 100_000_000


class Tokenizer:
    """One model's tokenizer. `scheme` says how its pieces spell bytes; `start` is put first if the inner one does not.

    `vocab` counts all ids, reserved ones included.
    """

    def __init__(self, inner: Inner, start: int | None = None) -> None:
        inner.encode_special_tokens = True
        self.inner, self.start = inner, start
        self.scheme: Scheme = scheme_of(inner)
        self.special = frozenset(i for i, token in inner.get_added_tokens_decoder().items() if token.special)
        self.vocab = inner.get_vocab_size(with_added_tokens=True)

    @classmethod
    def from_file(cls, path: Path, start: int | None = None) -> Tokenizer:
        """From a `tokenizer.json`; a Problem where it is none."""
        if length_of(path) > MAX_BYTES:
            raise Problem("model_tokenizer", file=shown(path.name))
        data = path.read_bytes()
        try:
            inner = Inner.from_buffer(data)
        except Exception as error:  # the library raises bare Exceptions
            raise Problem("model_tokenizer", file=shown(path.name)) from error
        return cls(inner, start)

    def encode(self, text: str) -> list[int]:
        """Ids of a text, the start token first where the model has one. A Problem for an empty text."""
        if not text:
            raise Problem("model_empty_prompt")
        ids = self.inner.encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")).ids
        if self.start is not None and ids[:1] != [self.start]:
            ids = [self.start, *ids]
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, reserved tokens left out; bytes that are no UTF-8 become U+FFFD."""
        return self.inner.decode(list(ids), skip_special_tokens=True)

    def piece(self, token: int) -> str:
        """The raw piece of an id, as the vocabulary spells it."""
        return self.inner.id_to_token(token) or f"<{token}>"

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The raw pieces of ids; see `scheme` for how to read them, `is_special` for reserved ones."""
        return [self.piece(i) for i in ids]

    def is_special(self, token: int) -> bool:
        """Whether an id is reserved (start, end …): its piece is a name, not text."""
        return token in self.special

    def bytes_of(self, token: int) -> bytes:
        """The UTF-8 bytes an id stands for, perhaps part of a character."""
        return piece_bytes(self.piece(token), "plain" if self.is_special(token) else self.scheme)

    def character_spans(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """[start, stop) of the runs of tokens that share a character, in order and without gaps."""
        return character_spans([self.bytes_of(i) for i in ids])


def scheme_of(inner: Inner) -> Scheme:
    """How a tokenizer's pieces spell bytes, by its decoder and pre-tokenizer."""
    parts = [part.__getstate__().decode() for part in (inner.decoder, inner.pre_tokenizer) if part is not None]
    described = json.dumps([json.loads(part) for part in parts], ensure_ascii=False)
    if '"ByteLevel"' in described:
        return "byte-level"
    return "sentencepiece" if any(x in described for x in ("ByteFallback", "Metaspace", "▁")) else "plain"
