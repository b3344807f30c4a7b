"""A tokenizer from GGUF metadata, for the byte-level BPE vocabularies of the family and for SentencePiece's.

Pre-tokenizers are those that llama.cpp's names stand for (llama-vocab.cpp): `default` and `smollm` split digits, then
GPT-2's expression; `qwen2` and `llama-bpe` have expressions of their own. Left out: WordPiece, Unigram with scores only
(T5), RWKV; unknown names are refused, because a near miss gives other ids without a sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Inner

from viz_core.i18n import Problem
from viz_core.model.notes import shown
from viz_core.model.tokenizer import Tokenizer

_LETTERS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
EXPRESSIONS = {"qwen2": _LETTERS + r"\p{N}" + _REST, "llama-bpe": _LETTERS + r"\p{N}{1,3}" + _REST}
DIGITS_THEN_GPT2 = ("smollm", "starcoder", "refact", "command-r")
GPT2 = ("gpt-2", "gpt2", "default", "phi-2", "mpt", "olmo", "jina-es", "jina-de", "stablelm2")
CONTROL, USER_DEFINED = 3, 4


def tokenizer_of(metadata: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer; a Problem where the metadata hold none that can be built."""
    tokens = metadata.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, list) or len(set(tokens)) != len(tokens):
        raise Problem("model_gguf_tokenizer", name="tokenizer.ggml.tokens")
    kind = metadata.get("tokenizer.ggml.model")
    if kind not in ("gpt2", "llama"):
        raise Problem("model_gguf_tokenizer", name=shown(kind))
    inner = _byte_level(metadata, tokens) if kind == "gpt2" else _sentencepiece(metadata, tokens)
    types = metadata.get("tokenizer.ggml.token_type")
    if types is not None and len(types) == len(tokens):
        kinds = list(zip(tokens, types, strict=True))
        inner.add_special_tokens([AddedToken(t, special=True, normalized=False) for t, k in kinds if k == CONTROL])
        inner.add_tokens([AddedToken(t, normalized=False) for t, k in kinds if k == USER_DEFINED])
    starts = metadata.get("tokenizer.ggml.add_bos_token", kind == "llama")
    return Tokenizer(inner, metadata.get("tokenizer.ggml.bos_token_id") if starts else None)


def _byte_level(metadata: Mapping[str, Any], tokens: list[str]) -> Inner:
    merges = metadata.get("tokenizer.ggml.merges")
    pairs = [tuple(m.split(" ")) for m in merges] if isinstance(merges, list) else []
    vocab, name = {token: i for i, token in enumerate(tokens)}, str(metadata.get("tokenizer.ggml.pre", "default"))
    if not pairs or any(len(p) != 2 for p in pairs):
        raise Problem("model_gguf_tokenizer", name="tokenizer.ggml.merges")
    try:
        inner = Inner(models.BPE(vocab=vocab, merges=pairs, ignore_merges=name == "llama-bpe"))
    except Exception as error:  # the library raises bare Exceptions, e.g. for merges outside the vocabulary
        raise Problem("model_gguf_tokenizer", name="tokenizer.ggml.merges") from error
    inner.pre_tokenizer = _pre_tokenizer(name)
    inner.decoder = decoders.ByteLevel()
    return inner


def _pre_tokenizer(name: str) -> pre_tokenizers.PreTokenizer:
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    if name in GPT2:
        return gpt2
    if name in DIGITS_THEN_GPT2:
        return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), gpt2])
    if name not in EXPRESSIONS:
        raise Problem("model_gguf_tokenizer", name=shown(name))
    split = pre_tokenizers.Split(Regex(EXPRESSIONS[name]), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _sentencepiece(metadata: Mapping[str, Any], tokens: list[str]) -> Inner:
    """SentencePiece BPE: merges are rebuilt from the scores, the better score merging first."""
    scores = metadata.get("tokenizer.ggml.scores")
    if scores is None or len(scores) != len(tokens):
        raise Problem("model_gguf_tokenizer", name="tokenizer.ggml.scores")
    vocab = {token: i for i, token in enumerate(tokens)}
    found = [
        (-float(scores[i]), len(token[:cut]), token[:cut], token[cut:])
        for token, i in vocab.items()
        for cut in range(1, len(token))
        if token[:cut] in vocab and token[cut:] in vocab
    ]
    merges = [(a, b) for _, _, a, b in sorted(found)]
    inner = Inner(models.BPE(vocab=vocab, merges=merges, byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    prefix = bool(metadata.get("tokenizer.ggml.add_space_prefix", True))
    steps = [normalizers.Prepend("▁")] if prefix else []
    inner.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    tail = [decoders.Strip(" ", 1, 0)] if prefix else []
    inner.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *tail])
    return inner
