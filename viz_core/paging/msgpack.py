"""MessagePack, reading only: what a server's KV events are written in (msgpack specification, 2017).

Bounded: containers may not announce more entries than bytes are left, and nesting is limited. Left out: extension
types.
"""

from __future__ import annotations

import struct
from typing import Any

from viz_core.i18n import Problem

DEEPEST = 32
NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i",
           0xD3: ">q"}  # fmt: skip
SIZED = {0xC4: (1, "bin"), 0xC5: (2, "bin"), 0xC6: (4, "bin"), 0xD9: (1, "str"), 0xDA: (2, "str"), 0xDB: (4, "str"),
         0xDC: (2, "list"), 0xDD: (4, "list"), 0xDE: (2, "map"), 0xDF: (4, "map")}  # fmt: skip
PLAIN = {0xC0: None, 0xC2: False, 0xC3: True}


class Unpacker:
    """Reads one value after the other from `data`."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def done(self) -> bool:
        """Whether all bytes were read."""
        return self.at >= len(self.data)

    def value(self, depth: int = 0) -> Any:
        """The next value; a Problem when the bytes end early or hold what is not read here."""
        if depth > DEEPEST:
            raise Problem("paging_msgpack", at=self.at)
        head = self._take(1)[0]
        if head < 0x80:
            return head
        if head >= 0xE0:
            return head - 256
        if head in PLAIN:
            return PLAIN[head]
        if head in NUMBERS:
            form = NUMBERS[head]
            return struct.unpack(form, self._take(struct.calcsize(form)))[0]
        if head < 0xC0:
            kind, size = (
                ("map", head & 15) if head < 0x90 else ("list", head & 15) if head < 0xA0 else ("str", head & 31)
            )
        elif head in SIZED:
            width, kind = SIZED[head]
            size = int.from_bytes(self._take(width), "big")
        else:
            raise Problem("paging_msgpack", at=self.at - 1)
        return self._sized(kind, size, depth + 1)

    def _sized(self, kind: str, size: int, depth: int) -> Any:
        if size > len(self.data) - self.at:
            raise Problem("paging_msgpack", at=self.at)
        if kind == "list":
            return [self.value(depth) for _ in range(size)]
        if kind == "map":
            return {str(self.value(depth)): self.value(depth) for _ in range(size)}
        raw = self._take(size)
        try:
            return raw if kind == "bin" else raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Problem("paging_msgpack", at=self.at) from error

    def _take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise Problem("paging_msgpack", at=self.at)
        part = self.data[self.at : end]
        self.at = end
        return part
