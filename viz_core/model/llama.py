"""A Llama-family decoder in NumPy, float32 (Touvron et al. 2023, arXiv 2302.13971; transformers 5.x `modeling_llama`).

RMSNorm, rotate-half RoPE, grouped-query attention with optional windows, SwiGLU, tied or untied head; the q/k/v biases
of Qwen2 and the q/k norms of Qwen3. Shapes: n new tokens, m tokens seen, D = d_model, H heads, d = d_head, V = vocab.
Left out: dropout, training, mixture of experts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from viz_core.attention.bias import Bias
from viz_core.attention.fast import attend
from viz_core.i18n import Problem
from viz_core.model.cache import KVCache
from viz_core.model.capture import Capture
from viz_core.model.config import Layer, LlamaConfig
from viz_core.model.counts import Tally
from viz_core.model.linear import Linear
from viz_core.model.rope import rotate


@dataclass(frozen=True, slots=True)
class Block:
    """One layer's weights: qkv (D, (H + 2 H_kv) d), o (H d, D), gate_up (D, 2 F), down (F, D); norms (D,)."""

    layer: Layer
    norm: np.ndarray
    qkv: Linear
    q_norm: np.ndarray | None
    k_norm: np.ndarray | None
    o: Linear
    mlp_norm: np.ndarray
    gate_up: Linear
    down: Linear


@dataclass(frozen=True, slots=True)
class Row:
    """One sequence of a batch: its rows of x, the cos and sin of its positions, its cache."""

    span: slice
    turn: tuple[np.ndarray, np.ndarray]
    cache: KVCache | None


@dataclass(frozen=True, slots=True)
class Llama:
    """The whole model. `embed` (V, D) is None where the head (D, V) serves as the embedding too."""

    config: LlamaConfig
    embed: np.ndarray | None
    blocks: tuple[Block, ...]
    norm: np.ndarray
    head: Linear

    def new_cache(self, capacity: int | None = None) -> KVCache:
        """An empty cache with room for `capacity` tokens (the model's context unless given)."""
        c = self.config
        return KVCache(len(c.layers), c.kv_heads, c.context if capacity is None else capacity, c.d_head)

    def forward(
        self,
        ids: Sequence[int],
        cache: KVCache | None = None,
        *,
        capture: Capture | None = None,
        counts: Tally | None = None,
        last_only: bool = False,
        bias: Bias | None = None,
    ) -> np.ndarray:
        """Logits float32 (n, V) of n new tokens that follow those in `cache` (last_only: (1, V), the last token's).

        bias: added to the scores of every head on top of causality, over the n queries and all m keys.

        Appends to `cache` where one is given. A Problem for no tokens, an unknown id, or more than fits.
        """
        return self.forward_batch([ids], [cache], capture=capture, counts=counts, last_only=last_only, bias=bias)[0]

    def forward_batch(
        self,
        batch: Sequence[Sequence[int]],
        caches: Sequence[KVCache | None],
        *,
        capture: Capture | None = None,
        counts: Tally | None = None,
        last_only: bool = False,
        bias: Bias | None = None,
    ) -> list[np.ndarray]:
        """`forward` of several sequences at once: every weight is read once for all; attention stays each one's own.

        `capture` keeps the first sequence.
        """
        tally = Tally() if counts is None else counts
        rows, at = [], 0
        for ids, cache in zip(batch, caches, strict=True):
            self.check(ids, cache)
            first = cache.length if cache else 0
            rows.append(Row(slice(at, at + len(ids)), self.config.rope.table(first, first + len(ids)), cache))
            at += len(ids)
        x = self._embed(np.concatenate([np.asarray(ids, np.int64) for ids in batch]))
        with np.errstate(over="ignore"):  # exp(−x) = ∞ is right in silu: x / ∞ = 0
            for number, block in enumerate(self.blocks):
                x += self._attention(number, block, x, rows, tally, capture, bias)
                x += self._mlp(block, x, tally)
        for row in rows:
            if row.cache is not None:
                row.cache.advance(row.span.stop - row.span.start)
        spans = [slice(r.span.stop - 1, r.span.stop) if last_only else r.span for r in rows]
        kept = np.concatenate([x[span] for span in spans])
        logits = self.head(rms_norm(kept, self.norm, self.config.eps), tally)
        ends = np.cumsum([span.stop - span.start for span in spans])
        return np.split(logits, ends[:-1])

    def check(self, ids: Sequence[int], cache: KVCache | None = None) -> None:
        """A Problem unless `ids` can be appended to what `cache` holds."""
        context = self.config.context
        if len(ids) == 0:
            raise Problem("model_no_tokens_given")
        if min(ids) < 0 or max(ids) >= self.config.vocab:
            bad = next(i for i in ids if not 0 <= i < self.config.vocab)
            raise Problem("model_token_id", id=int(bad), vocab=self.config.vocab)
        if len(ids) + (cache.length if cache else 0) > context:
            raise Problem("model_too_long", tokens=len(ids) + (cache.length if cache else 0), context=context)
        if cache is not None:
            cache.need(len(ids))

    def _embed(self, ids: np.ndarray) -> np.ndarray:
        return self.head.columns(ids) if self.embed is None else self.embed[ids].astype(np.float32)

    def _attention(
        self,
        number: int,
        block: Block,
        x: np.ndarray,
        rows: list[Row],
        tally: Tally,
        capture: Capture | None,
        bias: Bias | None,
    ) -> np.ndarray:
        """x (n, D) → what attention adds to it, (n, D)."""
        config, layer = self.config, block.layer
        heads, kv_heads, d = config.heads, layer.kv_heads, layer.d_head
        y = block.qkv(rms_norm(x, block.norm, config.eps), tally).reshape(len(x), -1, d)
        tally.kv_projections += 2 * len(x)
        qk, v = y[:, : heads + kv_heads], y[:, heads + kv_heads :]
        if block.q_norm is not None and block.k_norm is not None:
            qk[:, :heads] = rms_norm(qk[:, :heads], block.q_norm, config.eps)
            qk[:, heads:] = rms_norm(qk[:, heads:], block.k_norm, config.eps)
        outs = list[np.ndarray]()
        for i, row in enumerate(rows):
            turned = rotate(qk[row.span], *row.turn).swapaxes(0, 1)
            here, keys, values = turned[:heads], turned[heads:], v[row.span].swapaxes(0, 1)
            if row.cache is not None:
                tally.kv_written += keys.nbytes + values.nbytes
                keys, values = row.cache.put(number, keys, values)
            if capture is not None and i == 0:
                capture.keep(number, here, keys, values, layer.window, bias)
            tally.kv_read += keys.nbytes + values.nbytes
            count = partial(tally.attention, d_head=d)
            head_out = attend(here, keys, values, causal=True, window=layer.window, bias=bias, count=count)
            outs.append(head_out.swapaxes(0, 1).reshape(here.shape[1], -1))
        return block.o(outs[0] if len(outs) == 1 else np.concatenate(outs), tally)

    def _mlp(self, block: Block, x: np.ndarray, tally: Tally) -> np.ndarray:
        """SwiGLU: down(silu(gate) · up), (n, D) → (n, D)."""
        y = block.gate_up(rms_norm(x, block.mlp_norm, self.config.eps), tally)
        half = y.shape[1] // 2
        gated = silu(y[:, :half])
        gated *= y[:, half:]
        return block.down(gated, tally)


def rms_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    """x / rms(x) · weight over the last axis.

    A single vector, as in decoding, is scaled by a number: four calls on one element each are four too many.
    """
    if x.size == x.shape[-1]:
        flat = x.reshape(-1)
        y = x * np.float32(1 / math.sqrt(float(flat @ flat) / x.size + eps))
    else:
        mean = np.vecdot(x, x)[..., None] / np.float32(x.shape[-1])
        y = x * (1 / np.sqrt(mean + np.float32(eps)))
    y *= weight
    return y


def silu(x: np.ndarray) -> np.ndarray:
    """x · σ(x)."""
    y = np.negative(x)
    np.exp(y, out=y)
    y += 1
    return np.divide(x, y, out=y)
