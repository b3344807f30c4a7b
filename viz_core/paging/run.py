"""Runs a scenario and keeps its log: the recording that traces, numbers and exports are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from viz_core.i18n import Problem
from viz_core.paging.config import PoolConfig
from viz_core.paging.events import Hindered, Log, Op
from viz_core.paging.fork import fork
from viz_core.paging.manager import BlockManager
from viz_core.paging.request import Request
from viz_core.paging.scenario import MOST_STEPS, Act, Scenario, Vocabulary
from viz_core.paging.scheduler import Scheduler
from viz_core.paging.serve import serve


@dataclass(frozen=True, slots=True)
class Recording:
    """A finished run: its pool and its log; `scripted` where each step is one operation of a script."""

    config: PoolConfig
    log: Log
    scripted: bool = False


Watch = Callable[[PoolConfig, Log], None]


def unwatched(config: PoolConfig, log: Log) -> None:
    """Let a run go on."""


def run(scenario: Scenario, watch: Watch = unwatched) -> Recording:
    """Run `scenario` to its end; a script has one step an operation, and a decode of n tokens has n. `watch` sees the
    log after each step and may raise a Problem.
    """
    scenario.check()
    log = Log()
    if scenario.requests:
        _run_requests(scenario, log, watch)
    else:
        script = _Script(scenario, log, watch)
        for act in scenario.script:
            script.play(act)
    return Recording(scenario.pool, log, bool(scenario.script))


def refuse_what_never_fits(config: PoolConfig, name: str, tokens: int) -> None:
    """A Problem for a request whose tokens, with full attention, need more blocks than the pool has.

    The last token that is sampled has no keys and values yet; sliding windows give blocks back on the way.
    """
    blocks = -(-tokens // config.block_size)
    if 0 in config.windows and blocks > config.usable:
        raise Problem("paging_never_fits", name=name, tokens=tokens, blocks=blocks, pool=config.usable)


def _run_requests(scenario: Scenario, log: Log, watch: Watch) -> None:
    for ask in scenario.requests:
        refuse_what_never_fits(scenario.pool, ask.request, len(ask.prompt) + ask.output - 1)
    words = Vocabulary()
    asks = sorted(enumerate(scenario.requests), key=lambda pair: (pair[1].at, pair[0]))
    scheduler = Scheduler(
        scenario.pool,
        scenario.scheduler,
        log,
        sample=lambda requests: [words.token(f"{each.name}>", each.outputs) for each in requests],
    )
    arrivals = (
        Request(
            ask.request, words.tokens(ask.prompt), max_tokens=ask.output, priority=ask.priority, arrival=(ask.at, i)
        )
        for i, ask in asks
    )
    serve(scheduler, arrivals, MOST_STEPS, lambda: watch(scenario.pool, log))


class _Script:
    """Plays a script's operations on a block manager."""

    def __init__(self, scenario: Scenario, log: Log, watch: Watch) -> None:
        self.watch = watch
        self.log, self.words = log, Vocabulary()
        self.manager = BlockManager(scenario.pool, log)
        self.live: dict[str, Request] = {}
        self.parked: dict[str, Request] = {}

    def play(self, act: Act) -> None:
        """One operation; each closes its step (a decode one step a token)."""
        if act.op == "add":
            self._admit(self._arrive(act))
        elif act.request in self.parked and act.op != "resume":
            self._wait(act)  # it did not fit, which is a state to look at: it waits, and its operations with it
            return
        elif act.op == "resume":
            self._admit(self._of(self.parked, act.request))
        elif act.op == "fork":
            self.live[act.request] = fork(self.manager, self._of(self.live, act.parent), act.request)
        elif act.op == "reset":
            if not self.manager.pool.reset():
                self.log.add(Op.KEEP, value=self.manager.config.usable - self.manager.pool.queue.length)
        elif act.op == "decode":
            for _ in range(act.count):
                self._decode(self._of(self.live, act.request))
                self._close()
            return
        else:
            request = self._of(self.live, act.request)
            del self.live[act.request]
            self.manager.free(request, Op.FINISH if act.op == "finish" else Op.PREEMPT)
            if act.op == "preempt":
                self.parked[act.request] = request
        self._close()

    def _close(self) -> None:
        """End a step."""
        self.log.step += 1
        self.watch(self.manager.config, self.log)

    def _wait(self, act: Act) -> None:
        """An operation of a request that waits for blocks: its steps pass, and it may leave."""
        request = self.parked[act.request]
        if act.op == "finish":
            del self.parked[act.request]
            self.log.add(Op.FINISH, request.index)
            self._close()
            return
        hindered = Hindered.DECODE if act.op == "decode" else Hindered.PREEMPT
        for _ in range(act.count if act.op == "decode" else 1):
            self.log.add(Op.WAIT, request.index, value=hindered)
            self._close()

    def _of(self, where: dict[str, Request], name: str) -> Request:
        if name not in where:
            raise Problem("paging_not_there", name=name, step=self.log.step + 1)
        return where[name]

    def _arrive(self, act: Act) -> Request:
        """A new request; refused at once when the whole pool could not hold it."""
        request = Request(act.request, self.words.tokens(act.prompt))
        refuse_what_never_fits(self.manager.config, request.name, request.length)
        request.index = self.log.name(act.request)
        self.log.add(Op.ARRIVE, request.index, value=request.length)
        return request

    def _admit(self, request: Request) -> None:
        """Start or resume; what does not fit stays parked, which is a state and not an error."""
        hit = self.manager.lookup(request)
        self.parked.pop(request.name, None)
        fits = self.manager.allocate(request, request.length - hit.tokens, hit, gate=True)
        (self.live if fits else self.parked)[request.name] = request

    def _decode(self, request: Request) -> None:
        """One more token; when no block is free the token waits for one."""
        if request.computed == request.length:
            request.append(self.words.token(f"{request.name}>", request.outputs))
            self.log.add(Op.SAMPLE, request.index, value=request.length)
        self.manager.decode(request)
