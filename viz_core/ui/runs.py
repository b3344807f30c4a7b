"""Generations: made step by step with progress, shared by all readers, never more at once than the server allows.

A generation is an iterator, and the iterator itself is kept: a reader who stops one, or moves a control, loses nothing;
the next look goes on where it stood.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import streamlit as st

from viz_core.i18n import Problem
from viz_core.model.generate import Sampling, Step, generate
from viz_core.ui import cached
from viz_core.ui.hosted import limits

KEEP = 16  # finished or stopped generations held in memory
PATIENCE = 10.0  # seconds that a reader waits for a free place


@dataclass(frozen=True, slots=True)
class Spec:
    """One generation: model, prompt, how many new tokens, seed (0: the likeliest token each time), cache or not."""

    model: str
    prompt: str
    n: int
    seed: int
    cached: bool


@dataclass(slots=True)
class _Run:
    steps: list[Step]
    rest: Iterator[Step]
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True)
class _Desk:
    places: threading.BoundedSemaphore
    runs: OrderedDict[Spec, _Run] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, spec: Spec) -> _Run:
        """The run of a spec, begun where it is new; the one least recently used makes room."""
        with self.lock:
            if spec not in self.runs:
                self.runs[spec] = _Run([], _begin(spec))
            self.runs.move_to_end(spec)
            while len(self.runs) > KEEP:
                self.runs.popitem(last=False)
            return self.runs[spec]


@st.cache_resource(show_spinner=False)
def _desk(places: int) -> _Desk:
    return _Desk(threading.BoundedSemaphore(places))


def _begin(spec: Spec) -> Iterator[Step]:
    model = cached.model(spec.model)
    sampling = Sampling(temperature=0.8 if spec.seed else 0.0, top_k=40, seed=spec.seed)
    ids = cached.tokens(spec.model, spec.prompt)
    return generate(model.llama, ids, spec.n, cached=spec.cached, sampling=sampling, ignore_eos=True)


def steps(spec: Spec, progress: Callable[[int], None] = lambda done: None) -> tuple[Step, ...]:
    """All steps of a generation; `progress(done)` after each new one. A Problem where too many others are waiting."""
    desk = _desk(limits().runs)
    run = desk.run(spec)
    with run.lock:
        if len(run.steps) < spec.n:
            _go_on(desk, run, progress)
        return tuple(run.steps)


def _go_on(desk: _Desk, run: _Run, progress: Callable[[int], None]) -> None:
    if not desk.places.acquire(timeout=PATIENCE):
        raise Problem("busy")
    try:
        for step in run.rest:
            run.steps.append(step)
            progress(len(run.steps))
    finally:
        desk.places.release()


@dataclass(frozen=True, slots=True)
class Pair:
    """The same generation without and with a cache."""

    uncached: tuple[Step, ...]
    cached: tuple[Step, ...]


def pair(model: str, prompt: str, n: int, seed: int, label: str) -> Pair:
    """Both generations, with one progress bar that appears only while something is computed."""
    place = st.empty()
    bar = None

    def progress(offset: int) -> Callable[[int], None]:
        def show(done: int) -> None:
            nonlocal bar
            if bar is None:
                bar = place.progress(0.0, text=label)
            bar.progress(min(1.0, (offset + done) / (2 * n)), text=f"{label} {offset + done} / {2 * n}")

        return show

    fast = steps(Spec(model, prompt, n, seed, True), progress(0))
    slow = steps(Spec(model, prompt, n, seed, False), progress(n))
    place.empty()
    return Pair(slow, fast)
