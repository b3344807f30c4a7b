"""One request: its tokens, how many of them have K/V in the pool, and its block tables.

Follows vLLM 0.33.0 `Request` where the pool and the scheduler look at it. Left out: sampling, LoRA, multi-modal inputs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from viz_core.i18n import Problem
from viz_core.paging.chain import ROOT, HashChain, given_nodes
from viz_core.paging.chain_run import Key

TOKEN_LIMIT = 2**31


class Request:
    """Tokens (prompt, then sampled) and the blocks that hold their K/V.

    `length`: tokens so far; `computed`: tokens with K/V; `quiet`: the next token needs neither a block nor a commit
    while `computed` is below it; `committed`: whole blocks in the prefix index; `tables`: one table (array of block
    ids) a group, none before something is held.
    """

    __slots__ = (
        "_read", "anchor", "arrival", "committed", "computed", "given", "held", "hit_tokens", "index", "length",
        "max_tokens", "name", "node", "preemptions", "priority", "prompt", "quiet", "salt", "stop", "tables", "tokens",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        tokens: Iterable[int] = (),
        *,
        salt: str | None = None,
        max_tokens: int = 1,
        priority: int = 0,
        arrival: tuple[int, int] = (0, 0),
        length: int | None = None,
        given: Sequence[int] | None = None,
    ) -> None:
        """`given` are the prompt's block hashes (0 … 2³¹ − 2, each naming its whole prefix), for traces that publish
        hashes and `length` instead of tokens.
        """
        self.name, self.salt, self.max_tokens, self.priority, self.arrival = name, salt, max_tokens, priority, arrival
        try:
            self.tokens = array("i", tokens)
            self.given = None if given is None else given_nodes(given)
        except (OverflowError, TypeError) as error:
            raise Problem("paging_tokens", name=name) from error
        self.length = self.prompt = len(self.tokens) if length is None else length
        if self.prompt < 1:
            raise Problem("paging_empty_prompt", name=name)
        self.index = -1
        self.stop = self.prompt + max_tokens  # the length at which it is finished
        self.preemptions = self.hit_tokens = 0
        self._read: list[Key] = []  # the contents of its first full blocks, as far as they were asked for
        self.clear()

    def clear(self) -> None:
        """Nothing computed, nothing held: a fresh or a preempted request."""
        self.computed = self.committed = self.quiet = 0
        self.node = self.anchor = ROOT  # the chain's node of the last committed block, and the one kept from pruning
        self.held = False
        self.tables: list[array[int]] = []

    def rank(self) -> tuple[int, tuple[int, int]]:
        """Priority, then arrival: the lower one goes first, the highest is preempted first."""
        return self.priority, self.arrival

    def append(self, token: int) -> None:
        """Add a sampled token; its K/V are written when it is computed."""
        self.tokens.append(token)
        self.length += 1

    def keys(self, first: int, last: int, size: int) -> list[Key]:
        """What full blocks `first` … `last` − 1 of `size` tokens hold, as the hash chain names it; no `given` ones.
        `size` is the same in every call.
        """
        if self.given is not None:
            return [(self.name, at) for at in range(first, last)]
        read = self._read
        if len(read) < last:  # full blocks do not change: a request that is looked up again is not read again
            raw, width = self.tokens[len(read) * size : last * size].tobytes(), 4 * size
            read += [raw[at : at + width] for at in range(0, len(raw), width)]
        return read[first:last]

    def extend_chain(self, hashes: HashChain, first: int, last: int, size: int) -> list[int]:
        """The nodes of full blocks `first` … `last` − 1, below `node`; each gains a user: its block."""
        known = self.given[first:last] if self.given else []
        if first + len(known) == last:
            return known
        keys = self.keys(first + len(known), last, size)
        return [*known, *hashes.extend(known[-1], keys)] if known else hashes.extend(self.node, keys)

    @property
    def table(self) -> array[int]:
        """The block table of the first group: logical block -> physical block."""
        return self.tables[0]

    @property
    def outputs(self) -> int:
        """Tokens sampled so far."""
        return self.length - self.prompt
