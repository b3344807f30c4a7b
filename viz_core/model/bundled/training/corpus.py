"""Rows of tokens for training, and the held-out rows.

Every row starts with ``<s>``. There are three kinds:

* a *text row* starts at the beginning of a random verse and runs on from there, over the ends of chapters;
* a *packed row* holds whole poems, each with its own ``<s>`` and ``</s>``, and a poem attends to itself alone. RoPE
  knows only distances, so a poem in the middle of a row is trained exactly as one that stands alone, which is how
  poems are held out and how a reader's prompt arrives. (The first run had Chinese text rows instead, in which
  most poems followed another one.);
* a *repeat row* says one piece of 3–64 tokens over and over (70 % of the pieces are random tokens, the rest text):
  that is what makes an induction head appear. Short pieces are as frequent as long ones on a logarithmic scale: the
  fewer tokens there are to choose from, the stronger the gradient towards the right one. Random tokens cannot be
  predicted the first time they are seen, so their first occurrence carries no loss.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

START, END, IGNORE = 0, 1, -100


@dataclass(slots=True)
class Stream:
    """Documents as one token array, each ended by ``</s>``; where lines begin and where documents begin."""

    tokens: np.ndarray
    lines: np.ndarray
    documents: np.ndarray

    @classmethod
    def encode(cls, tokenizer: Tokenizer, documents: list[list[str]], separator: str) -> Stream:
        """Tokenise documents, given as lists of lines."""
        tokens: list[int] = []
        lines, begins = [], []
        for document in documents:
            begins.append(len(tokens))
            for i, line in enumerate(document):
                lines.append(len(tokens))
                text = line if i + 1 == len(document) else line + separator
                tokens += tokenizer.encode(text, add_special_tokens=False).ids
            tokens.append(END)
        return cls(np.array(tokens, np.int64), np.array(lines), np.array([*begins, len(tokens)]))

    def text(self, rng: np.random.Generator, length: int) -> np.ndarray:
        """``length`` tokens from the start of a random line."""
        at = self.lines[rng.integers(len(self.lines))]
        return np.take(self.tokens, np.arange(at, at + length), mode="wrap")

    def packed(self, rng: np.random.Generator, length: int) -> tuple[np.ndarray, np.ndarray]:
        """``length`` tokens of whole random documents, each after its ``<s>`` (the last one cut), and their numbers."""
        ids, document = np.empty(length, np.int64), np.empty(length, np.int64)
        filled = number = 0
        while filled < length:
            i = rng.integers(len(self.documents) - 1)
            piece = self.tokens[self.documents[i] : self.documents[i + 1]][: length - filled - 1]
            ids[filled] = START
            ids[filled + 1 : filled + 1 + len(piece)] = piece
            document[filled : filled + 1 + len(piece)] = number
            filled, number = filled + 1 + len(piece), number + 1
        return ids, document


@dataclass(slots=True)
class Batch:
    """ids, targets (−100 where nothing is to be predicted) and document numbers, all (rows, length)."""

    ids: Tensor
    targets: Tensor
    documents: Tensor


@dataclass(slots=True)
class Corpus:
    """The English stream, and poems both as running text and with a couplet a line."""

    english: Stream
    poems: list[Stream]
    rng: np.random.Generator
    english_share: float
    running_share: float = 0.7  # of the Chinese rows: poems without line feeds, as they are held out

    @classmethod
    def load(cls, data: Path, tokenizer: Tokenizer, seed: int, english_share: float) -> Corpus:
        """The training documents of a folder written by prepare_data.py, tokenised."""
        docs = {lang: json.loads((data / f"{lang}.train.json").read_text("utf-8")) for lang in ("en", "zh")}
        poems = [Stream.encode(tokenizer, docs["zh"], separator) for separator in ("", "\n")]
        english = Stream.encode(tokenizer, docs["en"], "\n")
        return cls(english, poems, np.random.default_rng(seed), english_share)

    def _poems(self) -> Stream:
        return self.poems[int(self.rng.random() >= self.running_share)]

    def text_row(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        """A text row in English or a packed row in Chinese: ids and document numbers."""
        if self.rng.random() >= self.english_share:
            return self._poems().packed(self.rng, length)
        return np.concatenate([[START], self.english.text(self.rng, length - 1)]), np.zeros(length, np.int64)

    def repeat_row(self, length: int) -> tuple[np.ndarray, int]:
        """``<s>`` and one piece over and over; how many of the first tokens cannot be predicted."""
        size = int(np.exp(self.rng.uniform(np.log(3), np.log(65))))  # short pieces teach first
        random = self.rng.random() < 0.7
        stream = self.english if self.rng.random() < self.english_share else self._poems()
        piece = self.rng.integers(2, 4096, size) if random else stream.text(self.rng, size)
        return np.concatenate([[START], np.resize(piece, length - 1)]), size if random else 0

    def batch(self, rows: int, length: int, repeat_share: float) -> Batch:
        """Rows of the three kinds."""
        x = np.empty((rows, length + 1), np.int64)
        y = np.ones((rows, length), bool)
        documents = np.zeros((rows, length + 1), np.int64)
        for r in range(rows):
            if self.rng.random() >= repeat_share:
                x[r], documents[r] = self.text_row(length + 1)
                y[r] = x[r, 1:] != START  # nothing announces the next poem
            else:
                x[r], unseen = self.repeat_row(length + 1)
                y[r, :unseen] = False
        targets = np.where(y, x[:, 1:], IGNORE)
        return Batch(*(torch.from_numpy(a.copy()) for a in (x[:, :-1], targets, documents[:, :-1])))


def validation_rows(data: Path, tokenizer: Tokenizer, lang: str, length: int) -> tuple[Tensor, Tensor, int]:
    """Held-out documents in rows of ``length`` that each start with ``<s>``: ids, targets, UTF-8 bytes of the text.

    Nothing is left out: every token of a document and its ``</s>`` is predicted once; ``</s>`` counts no bytes.
    """
    rows, size = [], 0
    for document in json.loads((data / f"{lang}.val.json").read_text("utf-8")):
        text = ("\n" if lang == "en" else "").join(document)
        size += len(text.encode())
        ids = [*tokenizer.encode(text, add_special_tokens=False).ids, END]
        rows += [[START, *ids[i : i + length]] for i in range(0, len(ids), length)]
    x = np.full((len(rows), length + 1), IGNORE, np.int64)
    for r, row in enumerate(rows):
        x[r, : len(row)] = row
    return torch.from_numpy(np.where(x[:, :-1] < 0, END, x[:, :-1])), torch.from_numpy(x[:, 1:].copy()), size
