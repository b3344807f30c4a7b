"""K and V scattered over the blocks of a pool, read through a block table (PagedAttention, Kwon et al. 2023).

Token t lies in slot t mod block of block table[t div block]. The fold is the same; only the gather is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from viz_core.attention.bias import Floats
from viz_core.i18n import Problem


class Keys(Protocol):
    """What a walk asks of K and V: a shape (m, d) and slices of tokens."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(tokens, width)."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, tokens: slice, /) -> Any: ...


class Paged:
    """The first m tokens of a request, as an array that gathers: pool (blocks, block, d), table of block numbers.

    Raises Problem when the table is too short for m tokens or points outside the pool.
    """

    __slots__ = ("pool", "shape", "table")

    def __init__(self, pool: Floats, table: Sequence[int], m: int) -> None:
        blocks, block, d = pool.shape
        if len(table) * block < m:
            raise Problem("attention_table_short", blocks=len(table), block=block, tokens=m)
        if bad := [b for b in table if not 0 <= b < blocks]:
            raise Problem("attention_table_outside", block=bad[0], blocks=blocks)
        self.pool, self.table, self.shape = pool, np.asarray(table, np.int64), (m, d)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, tokens: slice) -> Floats:
        t = np.arange(self.shape[0])[tokens]
        block = self.pool.shape[1]
        return self.pool[self.table[t // block], t % block]
