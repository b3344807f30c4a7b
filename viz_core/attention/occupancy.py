"""Why one query leaves a GPU idle, and splitting the keys fills it (Flash-Decoding, PyTorch blog, 2023-10-13).

One thread block walks one query tile of one KV head over its keys. With one query there are as many blocks as
batch · KV heads, and a GPU's memory is only as fast as the share of its SMs that ask for it. Left out: L2, launch
costs, the join (a few KiB), and that one SM can draw somewhat more than its share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from viz_core.attention.split import num_splits, partial_bytes


@dataclass(frozen=True, slots=True)
class Decode:
    """One decoding step of a layer: blocks at once, SMs, KV bytes read, partial results written and read again."""

    parts: int
    blocks: int
    sms: int
    kv_bytes: int
    part_bytes: int

    @property
    def waves(self) -> int:
        """How often the SMs are handed blocks."""
        return math.ceil(self.blocks / self.sms)

    @property
    def busy(self) -> float:
        """The share of SMs at work, over all waves."""
        return self.blocks / (self.waves * self.sms)

    def seconds(self, bandwidth: float) -> float:
        """The least time to read the keys and values with the busy share of `bandwidth` (bytes/s)."""
        return (self.kv_bytes + self.part_bytes) / (bandwidth * self.busy)


def decode_step(
    batch: int,
    heads: int,
    kv_heads: int,
    m: int,
    d: int,
    sms: int,
    *,
    parts: int | None = 1,
    tile: int = 128,
) -> Decode:
    """m keys a sequence at 16 bits, one query a head, a group in one block. parts=None: the heuristic's choice."""
    e = 2
    alone, tiles = batch * kv_heads, -(-m // tile)
    parts = num_splits(alone, sms, tiles) if parts is None else min(parts, tiles)
    rows = batch * heads
    split = 2 * parts * partial_bytes(rows, d) if parts > 1 else 0
    return Decode(parts, alone * parts, sms, 2 * batch * kv_heads * m * d * e, split)
