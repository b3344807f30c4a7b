"""Free queue: block ids in one flat array, head to tail; whole slices of it are taken and appended at once.

What `FreeKVCacheBlockQueue` of vLLM 0.33.0 (v1/core/kv_cache_utils.py) does block by block through a doubly linked
list. A block that a prefix hit revives leaves its entry behind as a gap: it is skipped when the head reaches it, so
leaving from the middle is O(1) too. Gaps are swept out before the array gets longer than twice the pool.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence


class FreeQueue:
    """Free blocks in the order in which they will be taken.

    `line`: entries, of which those before `head` are taken; `gaps`: block -> entries of it that are gaps. These lie
    before its live entry, if it has one.
    """

    __slots__ = ("gaps", "head", "length", "line", "most", "size")

    def __init__(self, size: int, order: Iterable[int]) -> None:
        self.size, self.most = size, 2 * size + 64
        self.gaps: dict[int, int] = {}
        self.line = array("i", order)
        self.length, self.head = len(self.line), 0

    def __len__(self) -> int:
        return self.length

    def pop(self, count: int) -> list[int]:
        """The first `count` blocks, taken off the head."""
        assert count <= self.length, "taking more blocks than are free"
        head = self.head
        self.head = head + count
        self.length -= count
        taken, gaps = self.line[head : head + count].tolist(), self.gaps
        if gaps and not gaps.keys().isdisjoint(taken):
            return self._pop_over_gaps(taken, count)
        return taken

    def _pop_over_gaps(self, entries: list[int], count: int) -> list[int]:
        """Of `entries`, which are taken already, the live ones, and as many further ones as it takes."""
        gaps = self.gaps
        taken: list[int] = []
        while True:
            for block in entries:
                if block not in gaps:
                    taken.append(block)
                elif gaps[block] == 1:
                    del gaps[block]
                else:
                    gaps[block] -= 1
            missing = count - len(taken)
            if not missing:
                return taken
            entries = self.line[self.head : self.head + missing].tolist()
            self.head += missing

    def pop_one(self) -> int:
        """The first block, taken off the head."""
        if self.gaps:
            return self.pop(1)[0]
        assert self.length, "taking more blocks than are free"
        block = self.line[self.head]
        self.head += 1
        self.length -= 1
        return block

    def remove(self, blocks: Sequence[int]) -> None:
        """Take `blocks`, each named once, out of the middle: a prefix hit revives them."""
        gaps, line = self.gaps, self.line
        for block in blocks:
            if line[-1] == block:  # the first block of the request that was freed last: it leaves no gap
                line.pop()
            else:
                gaps[block] = gaps[block] + 1 if block in gaps else 1
        self.length -= len(blocks)

    def push_back(self, blocks: list[int]) -> None:
        """Append `blocks` at the tail, in this order."""
        self.line.fromlist(blocks)
        self.length += len(blocks)
        if len(self.line) > self.most:
            self._sweep(len(self.line) - self.head > self.length + self.size // 2)

    def push_front(self, blocks: Sequence[int]) -> None:
        """Put `blocks` before the head as a group: the first of them becomes the head."""
        if self.head < len(blocks) or not self.gaps.keys().isdisjoint(blocks):
            self._sweep(gaps=True)
        first = self.head - len(blocks)
        for at, block in enumerate(blocks, first):
            self.line[at] = block
        self.head = first
        self.length += len(blocks)

    def _sweep(self, gaps: bool) -> None:
        """Drop the taken entries, and the gaps when told to; room stays for blocks in use that may join the head."""
        if gaps:
            self.line, self.head = array("i", self.order()), 0
            self.gaps.clear()
        room = self.size - self.length
        self.line = array("i", bytes(4 * room)) + self.line[self.head :]
        self.head = room

    def __iter__(self) -> Iterator[int]:
        """Free blocks, head to tail."""
        gaps = dict(self.gaps)
        for block in self.line[self.head :]:
            if gaps.get(block):
                gaps[block] -= 1
            else:
                yield block

    def order(self) -> list[int]:
        """All free blocks, head to tail."""
        return list(self)
