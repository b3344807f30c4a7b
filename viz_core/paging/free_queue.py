"""Free queue: a doubly linked list through two flat int arrays, head = next to be taken.

`FreeKVCacheBlockQueue` of vLLM 0.33.0 (v1/core/kv_cache_utils.py) on integers instead of block objects. Index `size` is
the sentinel that joins both ends, so taking from the head, leaving from the middle and joining at either end are O(1).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence


class FreeQueue:
    """Free blocks in the order in which they will be taken."""

    __slots__ = ("end", "length", "next", "prev")

    def __init__(self, size: int, order: Iterable[int]) -> None:
        self.end, self.length = size, 0
        self.next = array("i", [size]) * (size + 1)
        self.prev = array("i", [size]) * (size + 1)
        self.push_back(list(order))

    def __len__(self) -> int:
        return self.length

    def pop(self, count: int) -> list[int]:
        """The first `count` blocks, taken off the head."""
        assert count <= self.length, "taking more blocks than are free"
        following, end = self.next, self.end
        block = end
        taken = [block := following[block] for _ in range(count)]
        block = following[block]
        following[end] = block
        self.prev[block] = end
        self.length -= count
        return taken

    def pop_one(self) -> int:
        """The first block, taken off the head."""
        assert self.length, "taking more blocks than are free"
        block = self.next[self.end]
        after = self.next[block]
        self.next[self.end], self.prev[after] = after, self.end
        self.length -= 1
        return block

    def remove(self, block: int) -> None:
        """Take `block` out of the middle: a prefix hit revives it."""
        before, after = self.prev[block], self.next[block]
        self.next[before], self.prev[after] = after, before
        self.length -= 1

    def push_back(self, blocks: Sequence[int]) -> None:
        """Append `blocks` at the tail, in this order."""
        following, before = self.next, self.prev
        end = self.end
        last = before[end]
        for block in blocks:
            following[last] = block
            before[block] = last
            last = block
        following[last] = end
        before[end] = last
        self.length += len(blocks)

    def push_front(self, blocks: Sequence[int]) -> None:
        """Put `blocks` before the head as a group: the first of them becomes the head."""
        following, before = self.next, self.prev
        last = end = self.end
        head = following[end]
        for block in blocks:
            following[last] = block
            before[block] = last
            last = block
        following[last] = head
        before[head] = last
        self.length += len(blocks)

    def __iter__(self) -> Iterator[int]:
        """Free blocks, head to tail."""
        block = self.next[self.end]
        while block != self.end:
            yield block
            block = self.next[block]

    def order(self) -> list[int]:
        """All free blocks, head to tail."""
        return list(self)
