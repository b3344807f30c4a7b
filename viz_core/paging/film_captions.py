"""What a step did, as a sentence of the catalogue: one operation of a script, or a batch of the scheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from viz_core.paging.events import Event, Hindered, Op
from viz_core.paging.film_lanes import RunLanes
from viz_core.paging.replay import State
from viz_core.trace import Text

MOST_NAMED = 24  # blocks that a sentence names
HINDERED = {Hindered.DECODE: "paging.caption.wait_decode", Hindered.PREEMPT: "paging.caption.wait_preempt"}
# What a step is marked with in the list of moments, the rarest first.
MOMENTS = {
    Op.PREEMPT: "paging.moment.preempt",
    Op.COPY: "paging.moment.copy",
    Op.REFUSE: "paging.moment.refuse",
    Op.EVICT: "paging.moment.evict",
    Op.HIT: "paging.moment.hit",
    Op.FINISH: "paging.moment.finish",
    Op.TAKE: "paging.moment.take",
}


def moments(events: Sequence[Event]) -> list[str]:
    """Catalogue keys of what a step can be found by."""
    seen = {event.op for event in events}
    return [key for op, key in MOMENTS.items() if op in seen]


def batch(events: Sequence[Event], state: State) -> Text:
    """A step of the scheduler: tokens granted, blocks moved, who waits."""
    counts = Counter(event.op for event in events)
    return Text("paging.caption.batch", {
        "running": len(state.tables), "waiting": len(state.waiting), "take": counts[Op.TAKE], "hit": counts[Op.HIT],
        "evict": counts[Op.EVICT], "preempt": counts[Op.PREEMPT], "finish": counts[Op.FINISH],
    })  # fmt: skip


def operation(lanes: Sequence[RunLanes], steps: Sequence[Sequence[Event]], states: Sequence[State]) -> Text:
    """A step of a script; what differs between the runs is listed run by run, separated by bars."""
    return _Operation(lanes, steps, states).caption()


def _few(names: Iterable[str], count: int) -> str:
    """The first of `count` names, and how many more there are."""
    more = f" … (+{count - MOST_NAMED})" if count > MOST_NAMED else ""
    return (" ".join(islice(names, MOST_NAMED)) or "–") + more


class _Operation:
    """One operation in every run beside each other: its events, and the state that it led to."""

    def __init__(
        self, lanes: Sequence[RunLanes], steps: Sequence[Sequence[Event]], states: Sequence[State]
    ) -> None:
        self.runs = list(zip(lanes, steps, states, strict=True))
        self.ops = {event.op for events in steps for event in events}
        self.value: dict[Op, int] = {}
        for events in reversed(steps):  # the first run counts where they differ
            self.value |= {event.op: event.value for event in events}
        self.request = next((event.request for events in steps for event in events if event.request), "")

    def caption(self) -> Text:
        """The sentence of what came of it."""
        happened: dict[Op, Callable[[], Text]] = {
            Op.PREEMPT: self._preempted,
            Op.FINISH: self._finished,
            Op.SHARE: lambda: self._say("fork", blocks=self._blocks(Op.SHARE)),
            Op.COPY: self._copied,
            Op.REFUSE: self._refused,
            Op.RESET: lambda: Text("paging.caption.reset"),
            Op.KEEP: lambda: Text("paging.caption.keep", {"held": self.value[Op.KEEP]}),
            Op.WAIT: lambda: Text(HINDERED[Hindered(self.value[Op.WAIT] > 0)], {"request": self.request}),
            Op.ARRIVE: self._arrived,
            Op.COMPUTE: self._computed,
        }
        return next((say() for op, say in happened.items() if op in self.ops), Text("paging.caption.nothing"))

    def _say(self, key: str, **params: object) -> Text:
        return Text(f"paging.caption.{key}", {"request": self.request, **params})

    def _listed(self, wanted: Callable[[Sequence[Event], State], list[int]]) -> str:
        each = []
        for lane, events, state in self.runs:
            blocks = wanted(events, state)
            each.append(_few(map(lane.label, blocks), len(blocks)))
        return " | ".join(each)

    def _blocks(self, op: Op) -> str:
        return self._listed(lambda events, _: [event.block for event in events if event.op == op])

    def _freed(self) -> str:
        """Blocks that nobody holds any more."""
        return self._listed(lambda events, state: [b for b in _released(events) if not state.ref[b]])

    def _kept(self) -> str:
        """Blocks that were given up while others hold them, each with who does; "" where there is none."""
        each = []
        for lane, events, state in self.runs:
            kept = [block for block in _released(events) if state.ref[block]]
            each.append(_few((f"{lane.label(b)} ({', '.join(lane.holders.of(state, b)[0])})" for b in kept), len(kept)))
        return " | ".join(each) if any(part != "–" for part in each) else ""

    def _queue(self) -> str:
        return " | ".join(
            _few(map(lane.label, state.queue), len(state.queue)) for lane, _, state in self.runs
        )

    def _preempted(self) -> Text:
        kept, params = self._kept(), {"tokens": self.value[Op.PREEMPT], "blocks": self._freed()}
        return self._say("preempt_shared", **params, kept=kept) if kept else self._say("preempt", **params)

    def _finished(self) -> Text:
        if Op.RELEASE not in self.ops:
            return self._say("leave")
        kept, params = self._kept(), {"blocks": self._freed(), "queue": self._queue()}
        return self._say("finish_shared", **params, kept=kept) if kept else self._say("finish", **params)

    def _copied(self) -> Text:
        lane, copy = next((lane, event) for lane, events, _ in self.runs for event in events if event.op == Op.COPY)
        return self._say("copy", old=lane.label(copy.value), new=lane.label(copy.block))

    def _refused(self) -> Text:
        """A request that cannot start, or one that runs and has no slot for its next token."""
        runs = any(self.request in state.tables for *_, state in self.runs)
        return self._say("refuse_token" if runs else "refuse", missing=self.value[Op.REFUSE])

    def _arrived(self) -> Text:
        return self._admitted("hit" if Op.HIT in self.ops else "arrive", self.value[Op.ARRIVE])

    def _admitted(self, key: str, tokens: int) -> Text:
        hit = {"hit": self._blocks(Op.HIT)} if Op.HIT in self.ops else {}
        return self._say(key, tokens=tokens, blocks=self._blocks(Op.TAKE), **hit)

    def _computed(self) -> Text:
        """A resumption or a decoded token."""
        tokens = self.value[Op.COMPUTE]
        if self._resumed():
            return self._admitted("resume_hit" if Op.HIT in self.ops else "resume", tokens)
        if Op.TAKE in self.ops:
            return self._say("decode_block", tokens=tokens, blocks=self._blocks(Op.TAKE))
        return self._say("decode", tokens=tokens)

    def _resumed(self) -> bool:
        """Whether the whole table is new: a decoded token adds one block at most to what is there."""
        _, events, state = self.runs[0]
        gained = sum(event.op in (Op.TAKE, Op.HIT, Op.SKIP) for event in events)
        return gained > 0 and gained == sum(map(len, state.tables.get(self.request, [])))


def _released(events: Sequence[Event]) -> list[int]:
    """Blocks that were given up, each once: a hybrid model gives back several tables."""
    return list(dict.fromkeys(event.block for event in events if event.op == Op.RELEASE))
