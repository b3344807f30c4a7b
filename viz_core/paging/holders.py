"""Who holds each block, and at which place of the table: kept from event to event, so that no table is searched."""

from __future__ import annotations

from collections.abc import Iterable

from viz_core.paging.events import Event, Op
from viz_core.paging.replay import State

GAINS = (Op.TAKE, Op.HIT, Op.SHARE)
Place = tuple[str, int]  # request, group


class Holders:
    """`at[block]`: the logical index at which each request's table has it, in the order in which they got it."""

    def __init__(self, num_blocks: int) -> None:
        self.at: list[dict[str, int]] = [{} for _ in range(num_blocks)]
        self._lengths: dict[Place, int] = {}

    def follow(self, events: Iterable[Event]) -> None:
        """Apply events in their order."""
        for event in events:
            if event.op in GAINS or event.op == Op.SKIP:
                self._append(event)
            elif event.op == Op.COPY:  # the copy was taken behind the shared block, whose place it gets
                at = self.at[event.value].pop(event.request)
                self.at[event.block][event.request] = at
                self._lengths[event.request, 0] -= 1
            elif event.op == Op.RELEASE:
                self.at[event.block].pop(event.request, None)
            elif event.op in (Op.FINISH, Op.PREEMPT):
                self._lengths = {place: n for place, n in self._lengths.items() if place[0] != event.request}

    def _append(self, event: Event) -> None:
        place = (event.request, event.value)
        end = self._lengths.get(place, 0)
        self._lengths[place] = end + 1
        if event.op != Op.SKIP:
            self.at[event.block][event.request] = end

    def of(self, state: State, block: int) -> tuple[list[str], int]:
        """Requests that hold a block, whoever came last at the end, and how many of its positions hold K/V."""
        names = [name for name in self.at[block] if name in state.tables]
        fills = (state.computed.get(name, 0) - self.at[block][name] * state.size for name in names)
        return names, max(0, min(state.size, max(fills, default=0)))
