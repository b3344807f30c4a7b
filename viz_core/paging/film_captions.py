"""What a step did, as a sentence of the catalogue: one operation of a script, or a batch of the scheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from viz_core.paging.events import Event, Op
from viz_core.paging.film_lanes import RunLanes
from viz_core.paging.replay import State
from viz_core.trace import Text

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
    ops = {event.op for events in steps for event in events}
    subject = next((event.request for events in steps for event in events if event.request), "")

    def blocks(*wanted: Op) -> str:
        each = (
            [lane.label(e.block) for e in events if e.op in wanted] for lane, events in zip(lanes, steps, strict=True)
        )
        return " | ".join(" ".join(labels) or "–" for labels in each)

    queue = " | ".join(
        " ".join(lane.label(block) for block in state.queue.order()) for lane, state in zip(lanes, states, strict=True)
    )
    value = {event.op: event.value for event in steps[0]}
    params: dict[str, object] = {"request": subject}
    if Op.PREEMPT in ops:
        return Text("paging.caption.preempt", params | {"tokens": value[Op.PREEMPT], "blocks": blocks(Op.RELEASE)})
    if Op.FINISH in ops:
        return Text("paging.caption.finish", params | {"blocks": blocks(Op.RELEASE), "queue": queue})
    if Op.SHARE in ops:
        return Text("paging.caption.fork", params | {"blocks": blocks(Op.SHARE)})
    if Op.COPY in ops:
        copy = next(event for event in steps[0] if event.op == Op.COPY)
        return Text(
            "paging.caption.copy", params | {"old": lanes[0].label(copy.value), "new": lanes[0].label(copy.block)}
        )
    if Op.REFUSE in ops:
        return Text("paging.caption.refuse", params | {"missing": value.get(Op.REFUSE, 0)})
    return _computed(params, ops, value, blocks(Op.TAKE), blocks(Op.HIT))


def _computed(params: dict[str, object], ops: set[Op], value: dict[Op, int], taken: str, hit: str) -> Text:
    """A prefill, a resumption or a decoded token."""
    if Op.RESET in ops:
        return Text("paging.caption.reset")
    if Op.ARRIVE in ops:
        key = "hit" if Op.HIT in ops else "arrive"
        more = {"hit": hit} if Op.HIT in ops else {}
        return Text(f"paging.caption.{key}", params | {"tokens": value[Op.ARRIVE], "blocks": taken} | more)
    if Op.TAKE in ops:
        return Text("paging.caption.decode_block", params | {"tokens": value.get(Op.COMPUTE, 0), "blocks": taken})
    return Text("paging.caption.decode", params | {"tokens": value.get(Op.COMPUTE, 0)})
