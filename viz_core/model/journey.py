"""One token's way through all four techniques: computed once, kept, found through a block table, kept in fewer bits.

The same prompt, model and arrays all along: keys and values come from the model's own forward pass, the block table
from the block manager (vLLM 0.33's policy), the 4-bit form from the quantizer (ggml's Q4_0). Left out: the tiles of
FlashAttention, which change neither what is kept nor what is read here, only how often it travels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.capture import Capture
from viz_core.paging.config import PoolConfig
from viz_core.paging.manager import BlockManager
from viz_core.paging.request import Request
from viz_core.quantizers.ggml import GGML
from viz_core.quantizers.quantized import Quantized

FORMAT = "Q4_0"


@dataclass(frozen=True, slots=True)
class Journey:
    """What became of the token at `position`.

    k, v (layers, kv_heads, d): its keys and values. readers (n,): the largest weight that any head of the token at each
    position gives it, 0 before it; heads: (layer, head) of that head. table: the request's block ids; null: whether
    block 0 of the pool stays empty. small: its keys in 4 bits, one row a layer and KV head.
    """

    position: int
    k: np.ndarray
    v: np.ndarray
    readers: np.ndarray
    heads: tuple[tuple[int, int], ...]
    table: tuple[int, ...]
    block_size: int
    blocks: int
    small: Quantized

    @property
    def logical(self) -> int:
        """The block of its request in which it lies."""
        return self.position // self.block_size

    @property
    def physical(self) -> int:
        """The block of the pool in which it lies."""
        return self.table[self.logical]

    @property
    def slot(self) -> int:
        """Its place within that block."""
        return self.position % self.block_size


def journey(capture: Capture, ids: tuple[int, ...], position: int, block_size: int = 4) -> Journey:
    """Follow one token of a captured prompt; a Problem for a position outside it."""
    if not 0 <= position < len(ids):
        raise Problem("journey_position", position=position, last=len(ids) - 1)
    k, v = (np.stack([part[layer][:, position] for layer in capture.layers]) for part in (capture.k, capture.v))
    weights, heads = _readers(capture, position)
    blocks = -(-len(ids) // block_size) + 3
    small = GGML[FORMAT].quantize(_whole_blocks(k.reshape(-1, k.shape[-1])))
    return Journey(position, k, v, weights, heads, _table(ids, blocks, block_size), block_size, blocks, small)


def _readers(capture: Capture, position: int) -> tuple[np.ndarray, tuple[tuple[int, int], ...]]:
    """Of every query the largest weight on `position` over all layers and heads, and where it was found."""
    columns = np.stack([capture.weights(layer)[:, :, position] for layer in capture.layers])  # (layer, head, n)
    flat = columns.reshape(-1, columns.shape[-1])
    best, heads = flat.argmax(0), columns.shape[1]
    return flat.max(0), tuple((int(i) // heads, int(i) % heads) for i in best)


def _table(ids: tuple[int, ...], blocks: int, block_size: int) -> tuple[int, ...]:
    """The blocks that a fresh pool gives to this prompt."""
    manager, request = BlockManager(PoolConfig(blocks, block_size)), Request("prompt", ids)
    fits = manager.allocate(request, len(ids))
    assert fits, "the pool was made for this prompt"
    return tuple(request.tables[0])


def _whole_blocks(rows: np.ndarray) -> np.ndarray:
    """Rows padded with zeros to whole blocks of 32 values, as a cache would lay them out."""
    return np.pad(rows, ((0, 0), (0, -rows.shape[1] % 32)))
