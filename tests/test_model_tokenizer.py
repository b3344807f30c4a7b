"""The tokenizer's wrapper: round trips, reserved tokens as text, and characters split over tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Inner
from tokenizers import decoders, models, pre_tokenizers, processors

from viz_core.i18n import Problem
from viz_core.model.pieces import byte_symbols, character_spans, piece_bytes
from viz_core.model.tokenizer import Tokenizer

MERGES = [("h", "e"), ("Ġ", "he"), ("æ", "Ī"), ("æĪ", "ĳ")]


def byte_level() -> Tokenizer:
    """Bytes, two English merges, and 我 (E6 88 91) by way of its first two bytes."""
    names = ["<s>", "</s>", *byte_symbols(), *(a + b for a, b in MERGES)]
    inner = Inner(models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=MERGES))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens(["<s>", "</s>"])
    inner.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return Tokenizer(inner)


TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_any_text_comes_back(text: str) -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode(text)
    assert ids[0] == 0
    assert tokenizer.decode(ids) == text
    assert b"".join(tokenizer.bytes_of(i) for i in ids[1:]) == text.encode()


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_character_spans_tile_the_tokens_and_hold_whole_characters(text: str) -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode(text)
    spans = tokenizer.character_spans(ids)
    assert [i for a, b in spans for i in range(a, b)] == list(range(len(ids)))
    assert "".join(b"".join(tokenizer.bytes_of(i) for i in ids[a:b]).decode() for a, b in spans) == "<s>" + text


def test_split_characters() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("我爱 he")
    assert tokenizer.pieces(ids) == ["<s>", "æĪĳ", "ç", "Ī", "±", "Ġhe"]
    assert tokenizer.character_spans(ids) == [(0, 1), (1, 2), (2, 5), (5, 6)]
    assert character_spans([b"\xe6\x9d", b"a", b"\x80", b"\xe6"]) == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_reserved_tokens_typed_by_a_reader_are_text() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("a</s><s>b")
    assert ids.count(0) == 1
    assert 1 not in ids
    assert tokenizer.decode([*ids, 1]) == "a</s><s>b"
    assert tokenizer.is_special(1)
    assert tokenizer.bytes_of(1) == b"</s>"


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800"])
def test_a_lone_surrogate_is_replaced(text: str) -> None:
    tokenizer = byte_level()
    assert tokenizer.decode(tokenizer.encode(text)) == "".join("�" if "\ud800" <= c <= "\udfff" else c for c in text)


def test_a_surrogate_pair_is_its_character() -> None:
    tokenizer = byte_level()
    assert tokenizer.decode(tokenizer.encode("\ud83d\ude42")) == "🙂"


def test_empty_is_a_problem_and_long_is_not() -> None:
    tokenizer = byte_level()
    with pytest.raises(Problem):
        tokenizer.encode("")
    assert len(tokenizer.encode("我" * 10_000)) == 10_001


def test_pieces_of_each_scheme() -> None:
    assert piece_bytes("æĿ", "byte-level") == b"\xe6\x9d"
    assert piece_bytes("<0xE4>", "sentencepiece") == b"\xe4"
    assert piece_bytes("▁the", "sentencepiece") == b" the"
    assert piece_bytes("é", "plain") == "é".encode()
    assert byte_level().scheme == "byte-level"
    assert Tokenizer(Inner(models.BPE(vocab={"a": 0}, merges=[]))).scheme == "plain"
    meta = Inner(models.BPE(vocab={"a": 0}, merges=[]))
    meta.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    assert Tokenizer(meta).scheme == "sentencepiece"


def test_no_tokenizer_file_is_a_problem(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "tokenizer.json"
    path.write_text('{"model": 3}')
    with pytest.raises(Problem, match="tokenizer"):
        Tokenizer.from_file(path)
