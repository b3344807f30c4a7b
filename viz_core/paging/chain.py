"""Interned hash chain: a full block is named by (parent, content), so equal prefixes are one integer.

vLLM 0.33.0 (`v1/core/kv_cache_utils.py`, `hash_block_tokens`) chains sha256 digests: h_i = H(h_{i-1}, tokens_i,
extra keys). Only the identity of a digest matters to the pool, so the chain is interned instead: two equal prefixes
meet at one node, and no two different ones can collide. A node lives while a block carries it, a child names it or a
request still extends it; then it is pruned, so memory follows the pool and not the tokens ever seen. A hash that a
trace gives already names its prefix: it is a node by itself, a negative one, neither interned nor counted. Left out:
LoRA and multi-modal keys.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain

ROOT = 0
GIVEN = -2  # the node of given hash 0; hash h is node GIVEN - h
Key = bytes | int | str | tuple[str, int]


def given_nodes(hashes: Sequence[int]) -> list[int]:
    """The nodes of block hashes that a trace gives; an OverflowError when one is not in 0 … 2³¹ − 1."""
    if hashes and not 0 <= min(hashes) <= max(hashes) < 1 << 31:
        raise OverflowError("a block hash beyond 31 bits")
    return [GIVEN - number for number in hashes]


class HashChain:
    """Nodes of the prefix tree; node 0 is the empty prefix without a salt and is never pruned."""

    __slots__ = ("_ids", "_keys", "_last", "uses")

    def __init__(self) -> None:
        self._ids: dict[tuple[int, Key], int] = {}
        self._keys: dict[int, tuple[int, Key]] = {}
        self.uses: dict[int, int] = {}
        self._last = ROOT

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, parent: int, key: Key) -> int:
        """The node of `key` under `parent`, 0 when it is not known."""
        return self._ids.get((parent, key), 0)

    def add(self, parent: int, key: Key) -> int:
        """`extend` by one block."""
        pair = (parent, key)
        node = self._ids.get(pair)
        if node is not None:
            self.uses[node] += 1
            return node
        node = self._last = self._last + 1
        self._ids[pair], self._keys[node], self.uses[node] = node, pair, 1
        if parent > 0:
            self.uses[parent] += 1
        return node

    def extend(self, parent: int, keys: Sequence[Key]) -> Sequence[int]:
        """The nodes of `keys`, each under the one before, made when new; every one of them gains a user: its block."""
        nodes: list[int] = []
        for key in keys:
            node = self._ids.get((parent, key))
            if node is None:
                break
            self.uses[node] += 1
            nodes.append(node)
            parent = node
        if len(nodes) == len(keys):
            return nodes
        fresh = self._grow(parent, keys[len(nodes) :])
        return [*nodes, *fresh] if nodes else fresh

    def _grow(self, parent: int, keys: Sequence[Key]) -> range:
        """A run of new nodes: below a new node everything is new, so they are entered in bulk."""
        first = self._last + 1
        self._last += len(keys)
        fresh = range(first, first + len(keys))
        pairs = list(zip(chain((parent,), fresh), keys, strict=False))
        self._ids.update(zip(pairs, fresh, strict=True))
        self._keys.update(zip(fresh, pairs, strict=True))
        self.uses.update(dict.fromkeys(fresh, 2))  # its block and its child
        self.uses[self._last] = 1  # the last one has no child
        if parent > 0:
            self.uses[parent] += 1
        return fresh

    def find_root(self, salt: str | None) -> int:
        """The node that prefixes with this cache salt start from; -1 when nothing carries that salt."""
        return ROOT if salt is None else self._ids.get((-1, salt), -1)

    def root(self, salt: str | None) -> int:
        """The node that prefixes with this cache salt start from, made when new (vLLM salts block 0 only)."""
        if salt is None:
            return ROOT
        node = self.find_root(salt)
        if node < 0:
            (node,) = self._grow(-1, [salt])
            self.uses[node] = 0
        return node

    def hold(self, node: int) -> None:
        """One more user of `node`; the root needs no users."""
        if node > 0:
            self.uses[node] += 1

    def release(self, node: int) -> None:
        """One user less; a node without users goes, and lets go of its parent."""
        uses = self.uses  # node -> blocks that carry it + nodes below it + requests that extend it
        while node > 0:
            left = uses[node] - 1
            assert left >= 0, "a hash node was released more often than it was held"
            if left:
                uses[node] = left
                return
            del uses[node]
            pair = self._keys.pop(node)
            del self._ids[pair]
            node = pair[0]

    def release_all(self, nodes: Sequence[int]) -> None:
        """`release` of each of `nodes`, in one pass."""
        uses, keys, ids = self.uses, self._keys, self._ids
        for each in nodes:
            node = each
            while node > 0:
                left = uses[node] - 1
                if left:
                    uses[node] = left
                    break
                del uses[node]
                pair = keys.pop(node)
                del ids[pair]
                node = pair[0]

    def parent(self, node: int) -> int:
        """The node one block shorter; 0 or -1 above a first block and above a given hash."""
        return self._keys[node][0] if node > 0 else ROOT

    def path(self, node: int) -> tuple[Key, ...]:
        """What `node` names: the salt, if any, and the contents of its blocks from the first to the last."""
        keys: list[Key] = []
        while node > 0:
            node, key = self._keys[node]
            keys.append(key)
        if node <= GIVEN:
            keys.append(GIVEN - node)
        return tuple(reversed(keys))


def tokens_of(key: Key) -> list[int]:
    """The token ids in a block's key; empty where the key is a given hash and not tokens."""
    return list(array("i", key)) if isinstance(key, bytes) else []
