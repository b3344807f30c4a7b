"""A prompt's shared beginning: computed once, its keys and values copied to every request that starts with it."""

from __future__ import annotations

from collections.abc import Sequence

from viz_core.model.cache import KVCache
from viz_core.model.llama import Llama


def shared_length(a: Sequence[int], b: Sequence[int]) -> int:
    """How many leading tokens of `b` a cache of `a` spares: the common prefix, but never b's last token.

    The last token is always computed, because its logits are what the cache does not hold.
    """
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return max(0, min(n, len(b) - 1))


def continue_from(model: Llama, held: KVCache, tokens: Sequence[int], ids: Sequence[int]) -> tuple[KVCache, int]:
    """A cache of its own for prompt `ids`, filled with what `held`, the cache of `tokens`, has in common with it.

    → the cache and the number of tokens reused; compute the rest with `model.forward(ids[reused:], cache)`.
    """
    reused = shared_length(tokens[: held.length], ids)
    cache = model.new_cache()
    cache.copy_prefix(held, reused)
    return cache, reused
