"""Number arrays as bytes: each in the narrowest type that holds it, whole numbers as differences where that is less."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

NARROW = ("u1", "i1", "u2", "i2", "u4", "i4", "f8")
EXACT = 2.0**52  # differences of whole numbers below this are exact in float64
MANY = 64  # numbers; a shorter array is written as it is
Entry = tuple[str, int, int]  # type, count, 1 where each number but the first is the difference from the one before


@dataclass(slots=True)
class Arrays:
    """Arrays while they are written: what the header says of each, and their bytes."""

    index: list[Entry] = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)

    def add(self, values: Iterable[float] | NDArray[Any]) -> int:
        """Store numbers and return the array's index."""
        wide = values if isinstance(values, np.ndarray) else np.array(list(values), np.float64)
        running = _differences(wide)
        apart = running is not None and packed(running) < packed(wide)
        raw = narrow(running if running is not None and apart else wide)
        self.index.append((raw.dtype.str[1:], len(raw), int(apart)))
        self.parts.append(raw.tobytes())
        return len(self.index) - 1


def narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the narrowest little-endian type that holds them all."""
    return values.astype("<" + next(kind for kind in NARROW if kind == "f8" or _holds(kind, values)))


def packed(values: NDArray[Any]) -> int:
    """About how many bytes the numbers take once they are compressed."""
    return len(zlib.compress(narrow(values).tobytes(), 1))


def read(index: Sequence[Entry], body: bytes) -> Iterator[NDArray[Any]]:
    """The arrays that `Arrays` wrote, the parts joined to `body`."""
    at = 0
    for kind, count, apart in index:
        raw = np.frombuffer(body, "<" + kind, count, at)
        at += raw.nbytes
        yield np.cumsum(raw, dtype=np.float64) if apart else raw
    assert at == len(body), f"{len(body) - at} bytes are left"


def _differences(values: NDArray[Any]) -> NDArray[Any] | None:
    """Each number less the one before, where a running sum gives exactly the numbers back."""
    if len(values) < MANY or not _holds_whole(values) or np.abs(values.astype(np.float64)).max() >= EXACT:
        return None
    return np.diff(values.astype(np.float64), prepend=0)


def _holds_whole(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "ui" or bool(np.isfinite(values).all() and not (values % 1).any())


def _holds(kind: str, values: NDArray[Any]) -> bool:
    if not len(values):
        return True
    info, low, high = np.iinfo(kind), values.min(), values.max()
    return bool(info.min <= low and high <= info.max and _holds_whole(values))
