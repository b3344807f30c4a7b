"""Interned hash chain: a full block is named by (parent, content), so equal prefixes are one integer.

vLLM 0.33.0 (`v1/core/kv_cache_utils.py`, `hash_block_tokens`) chains sha256 digests: h_i = H(h_{i-1}, tokens_i,
extra keys). Only the identity of a digest matters to the pool, so the chain is interned instead: two equal prefixes
meet at one node, and no two different ones can collide. Nodes that follow each other lie in one run, so a prompt costs
one dictionary entry and not one a block. A node lives while a block carries it, another one extends it or a request
still holds it; then it is pruned, so memory follows the pool and not the tokens ever seen. A hash that a trace gives
already names its prefix: it is a node by itself, a negative one, neither interned nor counted. Left out: LoRA and
multi-modal keys.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from viz_core.paging.chain_run import BITS, LAST, LONGEST, Key, Run

ROOT = 0
GIVEN = -2  # the node of given hash 0; hash h is node GIVEN - h
SALTED = -1  # the parent of the salts, from which salted prefixes start
LAST_GIVEN = (1 << 31) + GIVEN  # the last hash whose node fits into a log
TOO_OFTEN = "a hash node was released more often than it was held"


def given_nodes(hashes: Sequence[int]) -> list[int]:
    """The nodes of block hashes that a trace gives; an OverflowError when one is not in 0 … 2³¹ − 2."""
    if array("I", hashes) and max(hashes) > LAST_GIVEN:  # an unsigned array takes no negative number
        raise OverflowError("a block hash beyond 31 bits")
    return [GIVEN - number for number in hashes]


class HashChain:
    """Nodes of the prefix tree; node 0 is the empty prefix without a salt and is never pruned.

    A node n > 0 is position n & `LAST` of run n >> `BITS`. Numbers are never used twice, so a log may name nodes.
    """

    __slots__ = ("_last", "_runs", "_starts")

    def __init__(self) -> None:
        self._runs: dict[int, Run] = {}
        self._starts: dict[tuple[int, Key], int] = {}  # (parent, first content) -> the run that starts there
        self._last = 0  # the newest run

    def __len__(self) -> int:
        return sum(len(run.keys) for run in self._runs.values())

    def walk(self, parent: int, keys: list[Key]) -> list[int]:
        """The nodes of `keys`, each under the one before, as far as they are known."""
        nodes: list[int] = []
        run = self._runs.get(parent >> BITS)
        while keys:
            if run is not None:
                same = run.common(parent & LAST, keys)
                nodes += range(parent + 1, parent + 1 + same)
                parent, keys = parent + same, keys[same:]
                if not keys:
                    break
            number = self._starts.get((parent, keys[0]))
            if number is None:
                break
            parent, keys, run = number << BITS, keys[1:], self._runs[number]
            nodes.append(parent)
        return nodes

    def extend(self, parent: int, keys: list[Key]) -> list[int]:
        """The nodes of `keys`, each under the one before, made when new; every one of them gains a user: its block."""
        nodes = self.walk(parent, keys)
        for node in nodes:
            self._runs[node >> BITS].uses[node & LAST] += 1
        while len(nodes) < len(keys):  # below a new node everything is new
            nodes += self._grow(nodes[-1] if nodes else parent, keys[len(nodes) :])
        return nodes

    def add(self, parent: int, key: Key) -> int:
        """`extend` by one block."""
        run = self._runs.get(parent >> BITS)
        if run is None or not run.grows_after(parent):
            return self.extend(parent, [key])[0]
        run.keys.append(key)
        run.uses.append(1)
        return parent + 1

    def _grow(self, parent: int, keys: list[Key]) -> range:
        """New nodes for as many of `keys` as one run takes: the one that ends at `parent`, else a new one."""
        run, first = self._runs.get(parent >> BITS), parent + 1
        if run is None or not run.grows_after(parent):
            self.hold(parent)
            self._last += 1
            self._starts[parent, keys[0]] = self._last
            run, first = Run(parent), self._last << BITS
            self._runs[self._last] = run
        fresh = keys[: LONGEST - len(run.keys)]
        run.keys += fresh
        run.uses += [1] * len(fresh)
        return range(first, first + len(fresh))

    def find_root(self, salt: str | None) -> int:
        """The node that prefixes with this cache salt start from; -1 when nothing carries that salt."""
        if salt is None:
            return ROOT
        number = self._starts.get((SALTED, salt))
        return -1 if number is None else number << BITS

    def root(self, salt: str | None) -> int:
        """The node that prefixes with this cache salt start from, made when new (vLLM salts block 0 only)."""
        if salt is None:
            return ROOT
        node = self.find_root(salt)
        if node < 0:
            node = self._grow(SALTED, [salt])[0]
            self._runs[node >> BITS].uses[0] = 0
        return node

    def hold(self, node: int) -> None:
        """One more user of `node`; the root and given hashes need no users."""
        if node > 0:
            self._runs[node >> BITS].uses[node & LAST] += 1

    def release(self, node: int) -> None:
        """One user less; a node without users goes, and lets go of its parent."""
        while node > 0:
            run = self._runs[node >> BITS]
            assert run.uses[node & LAST] > 0, TOO_OFTEN
            run.uses[node & LAST] -= 1
            if run.uses[-1]:
                return
            node = self._shorten(node >> BITS, run)

    def release_all(self, nodes: Iterable[int]) -> None:
        """`release` of each of `nodes`; a run is shortened once, when all of them are counted."""
        touched, number = [], -1
        uses: list[int] = []
        for node in nodes:
            if node <= 0:
                continue
            if node >> BITS != number:
                number = node >> BITS
                uses = self._runs[number].uses
                touched.append(number)
            assert uses[node & LAST] > 0, TOO_OFTEN
            uses[node & LAST] -= 1
        for number in touched:
            run = self._runs.get(number)
            if run is not None and not run.uses[-1]:
                self.release(self._shorten(number, run))

    def _shorten(self, number: int, run: Run) -> int:
        """Drop the end of `run` that nobody uses; the node that loses a user by it, because the whole run is gone."""
        first = run.shorten()
        if run.keys:
            return ROOT
        del self._runs[number], self._starts[run.parent, first]
        return run.parent

    def parent(self, node: int) -> int:
        """The node one block shorter; 0 or -1 above a first block and above a given hash."""
        if node <= 0:
            return ROOT
        return node - 1 if node & LAST else self._runs[node >> BITS].parent

    def path(self, node: int) -> tuple[Key, ...]:
        """What `node` names: the salt, if any, and the contents of its blocks from the first to the last."""
        keys: list[Key] = []
        while node > 0:
            run = self._runs[node >> BITS]
            keys += run.keys[node & LAST :: -1]
            node = run.parent
        if node <= GIVEN:
            keys.append(GIVEN - node)
        return tuple(reversed(keys))
