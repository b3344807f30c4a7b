"""A paged KV cache in few bits: a block of the pool is also the group that shares K's scales.

A block is quantized when its last token arrives: K by channel over the block's tokens, V by token. Until then its
tokens stay in 16 bits (KIVI's residual, arXiv 2402.02750 §4.2). Blocks come from the pool of `viz_core.paging`, so the
order in the pool is not the order of the text. Left out: packing the codes into the pool's memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.model.quantized_cache import Side
from viz_core.paging.policies import policy_named
from viz_core.paging.pool import BlockPool


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of one layer's K and V in one block: open (16 bits), and closed as codes and as scales and minima."""

    open: int
    codes: int
    scales: int

    @staticmethod
    def of(block: int, heads: int, width: int, k: Side, v: Side) -> Sizes:
        """For blocks of `block` tokens, `heads` KV heads of `width` numbers each."""
        numbers = block * heads * width
        v_group = min(v.group, width)
        pairs = heads * width + block * heads * -(-width // v_group)  # one scale and minimum each: K channels, V groups
        return Sizes(2 * numbers * 2, numbers * (k.bits + v.bits) // 8, 4 * pairs)


@dataclass(frozen=True, slots=True)
class Token:
    """One token written: whose, which block of the pool, how many tokens that block holds now, whether it closed."""

    request: int
    block: int
    filled: int
    closed: bool


def write(prompts: tuple[int, ...], new: int, block: int, pool: int) -> list[Token]:
    """Requests of so many prompt tokens, prefilled one after the other, then `new` tokens each in turns."""
    free = BlockPool(pool, policy_named("vllm-0.33"), caching=False)
    tables: list[list[int]] = [[] for _ in prompts]
    turns = [r for r, n in enumerate(prompts) for _ in range(n)] + [*range(len(prompts))] * new
    counts, out = [0] * len(prompts), list[Token]()
    for request in turns:
        if counts[request] % block == 0:
            tables[request] += free.take(1, request)
        counts[request] += 1
        filled = (counts[request] - 1) % block + 1
        out.append(Token(request, tables[request][-1], filled, filled == block))
    return out


def paged_values(k: np.ndarray, table: list[int], block: int, side: Side) -> np.ndarray:
    """Keys (heads, n, d) written into pool blocks by `table`, each full block quantized alone, gathered again."""
    heads, n, d = k.shape
    pool = np.zeros((max(table) + 1, heads, block, d), np.float32)
    for i, at in enumerate(table):
        part = k[:, i * block : (i + 1) * block]
        pool[at, :, : part.shape[1]] = side.stored(part) if part.shape[1] == block else part
    return np.concatenate([pool[at] for at in table], axis=1)[:, :n]
