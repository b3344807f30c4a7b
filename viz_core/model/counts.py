"""Work counted by the act: each helper of the forward pass adds what it has just done, and nothing else does.

A closed formula would agree with the code it was derived from; these numbers can disagree with it, and tests ask.
FLOPs are those of matrix products (a multiply and an add = 2) and of attention's two products; norms, rotations,
softmax and the activation are left out, as in the literature's counts.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Counts:
    """What a stretch of work did.

    kv_projections: vectors projected to a key or a value (2 a layer and token). linear_flops, attention_flops: see the
    module. weight_bytes: bytes of weights read, once a matrix product. kv_read, kv_written: bytes of keys and values
    that attention read, and that were appended to a cache.
    """

    kv_projections: int = 0
    linear_flops: int = 0
    attention_flops: int = 0
    weight_bytes: int = 0
    kv_read: int = 0
    kv_written: int = 0

    @property
    def flops(self) -> int:
        """All counted floating-point operations."""
        return self.linear_flops + self.attention_flops

    @property
    def bytes_moved(self) -> int:
        """Bytes of weights, keys and values read or written; activations are left out."""
        return self.weight_bytes + self.kv_read + self.kv_written

    @property
    def intensity(self) -> float:
        """Arithmetic intensity: FLOPs per byte moved; 0 where nothing was moved."""
        return self.flops / self.bytes_moved if self.bytes_moved else 0.0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))


@dataclass(slots=True)
class Tally:
    """The running counts that a forward pass writes into; `now` is a frozen copy."""

    kv_projections: int = 0
    linear_flops: int = 0
    attention_flops: int = 0
    weight_bytes: int = 0
    kv_read: int = 0
    kv_written: int = 0

    def product(self, rows: int, weight_elements: int, weight_bytes: int) -> None:
        """x (rows, in) @ W (in, out) was computed; W has in · out elements and was read once."""
        self.linear_flops += 2 * rows * weight_elements
        self.weight_bytes += weight_bytes

    def attention(self, pairs: int, d_head: int) -> None:
        """A score and its share of the weighted sum were computed for `pairs` (query, key) pairs of d_head numbers."""
        self.attention_flops += 4 * pairs * d_head

    @property
    def now(self) -> Counts:
        """The counts so far."""
        return Counts(*(getattr(self, f.name) for f in fields(Counts)))
