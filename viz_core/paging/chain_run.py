"""Runs: nodes of the hash chain that follow each other without a fork, kept together.

Node numbers carry the run and the position in it, so a node's parent, its content and its users are found without a
dictionary entry of its own.
"""

from __future__ import annotations

Key = bytes | int | str | tuple[str, int]
BITS = 7
LONGEST = 1 << BITS  # nodes of one run: enough for most prompts, and 16 million runs still fit into 31 bits
LAST = LONGEST - 1


class Run:
    """Contents and users of consecutive nodes; the first one extends node `parent`.

    `uses`: blocks that carry a node + runs that fork off behind it + requests that hold it; its successor in the run
    keeps it too, so a run ends where its last user is. `open`: it was never shortened, so its next number is unused.
    """

    __slots__ = ("keys", "open", "parent", "uses")

    def __init__(self, parent: int) -> None:
        self.parent, self.open = parent, True
        self.keys: list[Key] = []
        self.uses: list[int] = []

    def grows_after(self, node: int) -> bool:
        """Whether the run ends at `node` and can go on; then nothing extends `node` yet."""
        return (node & LAST) + 1 == len(self.keys) < LONGEST and self.open

    def common(self, place: int, keys: list[Key]) -> int:
        """How many of `keys` are the contents that follow position `place`."""
        following = self.keys[place + 1 : place + 1 + len(keys)]
        if following == keys[: len(following)]:
            return len(following)
        return next(at for at, (mine, other) in enumerate(zip(following, keys, strict=False)) if mine != other)

    def shorten(self) -> Key:
        """Drop the nodes at the end that have no users; the content of the first node."""
        first, end = self.keys[0], len(self.keys)
        while end and not self.uses[end - 1]:
            end -= 1
        del self.keys[end:], self.uses[end:]
        self.open = False
        return first
