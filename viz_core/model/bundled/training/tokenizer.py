"""Build the bilingual tokenizer: byte-level BPE in which every common Hanzi is one token.

Scheme
------
The text's UTF-8 bytes are the alphabet (256 tokens, written with GPT-2's printable stand-ins), so any Unicode text
encodes and decodes back to itself: emoji, control characters, leading spaces and newlines. No space is put in front
of the text. On top of the bytes stand three groups of merges:

* English: ordinary BPE merges, learned from the King James training chapters;
* Hanzi prefixes: the first two bytes of a Hanzi (some 300), so that a rare Hanzi costs two tokens (prefix + byte),
  not three;
* Hanzi: the most frequent characters and punctuation marks of the training poems, one token each.

``<s>`` (id 0) is put first by the post-processor; ``</s>`` (id 1) ends a poem or a chapter. With the ``tokenizers``
library set ``tokenizer.encode_special_tokens = True`` to keep a literally typed ``<s>`` as text.

Usage: ``python viz_core/model/bundled/training/tokenizer.py --data data --out data/tokenizer.json``
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer

START, END = "<s>", "</s>"
SIZE, ENGLISH = 4096, 1250


def byte_symbols() -> list[str]:
    """GPT-2's printable character for each of the 256 bytes."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    moved = {b: 256 + i for i, b in enumerate(b for b in range(256) if b not in kept)}
    return [chr(moved.get(b, b)) for b in range(256)]


def english_merges(documents: list[list[str]], count: int) -> list[tuple[str, str]]:
    """The first ``count`` BPE merges of the English text."""
    model = Tokenizer(BPE())
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(vocab_size=256 + count, initial_alphabet=byte_symbols(), show_progress=False)
    model.train_from_iterator(("\n".join(d) for d in documents), trainer)
    return [tuple(m) for m in json.loads(model.to_str())["model"]["merges"]][:count]


def hanzi_merges(documents: list[list[str]], count: int) -> list[tuple[str, str]]:
    """Merges that build the ``count`` tokens left: byte pairs that start a character, then the commonest characters.

    Every character met in training lends its first two bytes as a prefix; what is left goes to whole characters.
    """
    symbol = byte_symbols()
    spelled = {c: [symbol[b] for b in c.encode()] for c in set("".join("".join(d) for d in documents))}
    counts = Counter("".join("".join(d) for d in documents))
    prefixes = sorted({(s[0], s[1]) for s in spelled.values()})
    common = [c for c, _ in counts.most_common(count - len(prefixes))]
    covered = sum(counts[c] for c in common) / counts.total()
    print(f"{len(prefixes)} prefixes, {len(common)} of {len(counts)} characters, {covered:.2%} of the text")
    return prefixes + [("".join(spelled[c][:2]), spelled[c][2]) for c in common]


def build(english: list[list[str]], chinese: list[list[str]]) -> Tokenizer:
    """The finished tokenizer, ``SIZE`` tokens."""
    merges = english_merges(english, ENGLISH)
    merges += hanzi_merges(chinese, SIZE - 2 - 256 - len(merges))
    names = [START, END, *byte_symbols(), *(a + b for a, b in merges)]
    vocabulary = {name: i for i, name in enumerate(names)}
    assert len(vocabulary) == SIZE, len(vocabulary)
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([START, END])
    tokenizer.post_processor = TemplateProcessing(single=f"{START} $A", special_tokens=[(START, 0)])
    return tokenizer


def main() -> None:
    """Read the arguments and do the work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder written by prepare_data.py")
    parser.add_argument("--out", type=Path, default=Path("data/tokenizer.json"))
    args = parser.parse_args()
    english, chinese = (json.loads((args.data / f"{lang}.train.json").read_text("utf-8")) for lang in ("en", "zh"))
    tokenizer = build(english, chinese)
    tokenizer.save(str(args.out), pretty=False)
    for text in (
        "In the beginning God created the heaven and the earth.",
        "床前明月光，疑是地上霜。",
        "\n  🙂 سلام \x00 龘",
    ):
        encoding = tokenizer.encode(text)
        assert tokenizer.decode(encoding.ids) == text
        print(len(encoding.ids), encoding.tokens[:16])


if __name__ == "__main__":
    main()
