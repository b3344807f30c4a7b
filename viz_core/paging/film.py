"""A run, or several beside each other, as a Trace for the player."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from viz_core.paging.events import Event, Log, Op
from viz_core.paging.film_captions import batch, moments, operation
from viz_core.paging.film_lanes import RunLanes, widest_tables
from viz_core.paging.replay import replay
from viz_core.paging.run import Recording
from viz_core.trace import Label, State, Text, Trace
from viz_core.trace_builder import TraceBuilder


def requests_of(log: Log) -> list[str]:
    """Requests in the order of their arrival."""
    return list(dict.fromkeys(event.request for event in log if event.op == Op.ARRIVE))


def events_by_step(log: Log) -> list[list[Event]]:
    """The events of each step."""
    steps: list[list[Event]] = [[] for _ in range(log.num_steps)]
    for event in log:
        steps[event.step].append(event)
    return steps


def film(runs: Sequence[tuple[Label, Recording]], title: Label) -> Trace:
    """The runs, named, step beside step; a shorter one stays at its end."""
    builder = TraceBuilder(title)
    widths = widest_tables(recording for _, recording in runs)
    lanes = [RunLanes(builder, label, recording, widths, grid=len(runs) == 1) for label, recording in runs]
    for number, name in enumerate(widths, 1):
        builder.hue(number, name[:2], Text("paging.request", {"name": name}))
    builder.word(State.COMPUTED, Text("paging.word.written"))
    builder.word(State.MASKED, Text("paging.word.null"))
    for lane in lanes:
        lane.start()
    steps = [events_by_step(recording.log) for _, recording in runs]
    states = [replay(recording.config, recording.log) for _, recording in runs]
    for at in range(max(map(len, steps))):
        events = [each[at] if at < len(each) else [] for each in steps]
        now = [next(state, None) for state in states]
        for lane, state, happened in zip(lanes, now, events, strict=True):
            if state is not None:
                lane.show(state, happened)
        for moment in moments(events[0]):
            builder.event(moment)
        shown = [state for state in now if state is not None]
        caption = (
            operation(lanes[: len(shown)], events[: len(shown)], shown)
            if runs[0][1].scripted
            else batch(events[0], shown[0])
        )
        builder.step(caption.key, **caption.params)
    return builder.build()


def owners(recording: Recording) -> np.ndarray:
    """Who holds each usable block after each step: (steps, blocks) of 0 free, k the k-th request to arrive, and one
    more than there are requests where several hold it.
    """
    numbers = {name: i for i, name in enumerate(requests_of(recording.log), 1)}
    null = int(recording.config.rules.null_block)
    rows = np.zeros((recording.log.num_steps, recording.config.num_blocks), np.int32)
    for at, row in enumerate(_owner_rows(recording, numbers)):
        rows[at] = row
    return rows[:, null:]


def _owner_rows(recording: Recording, numbers: dict[str, int]) -> Iterator[np.ndarray]:
    for state in replay(recording.config, recording.log):
        row = np.zeros(recording.config.num_blocks, np.int64)
        for name, tables in state.tables.items():
            for table in tables:
                row[np.frombuffer(table, np.int32)] = numbers[name]
        row[np.frombuffer(state.ref, np.int32) > 1] = len(numbers) + 1
        yield row
