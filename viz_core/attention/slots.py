"""SRAM as a fixed number of tile slots a tensor; the least recently used tile leaves."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator


class Slots:
    """The tiles of one tensor that are in SRAM, least recently used first."""

    __slots__ = ("_held", "size")

    def __init__(self, size: int) -> None:
        self.size, self._held = size, OrderedDict[int, None]()

    def __iter__(self) -> Iterator[int]:
        return iter(self._held)

    def touch(self, tile: int) -> tuple[bool, int | None]:
        """Use `tile`: whether it was there, and which tile had to leave for it."""
        if tile in self._held:
            self._held.move_to_end(tile)
            return True, None
        self._held[tile] = None
        return False, self._held.popitem(last=False)[0] if len(self._held) > self.size else None
