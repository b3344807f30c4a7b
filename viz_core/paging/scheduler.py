"""Scheduler: which requests get how many tokens in each engine step, and who is preempted when blocks run out.

vLLM 0.33.0 `Scheduler.schedule` and `update_from_output` (`v1/core/sched/scheduler.py`): no prefill or decode
phases, one token budget a step, running requests before waiting ones, preemption by recomputation. Left out: encoder
inputs, speculative drafts, LoRA, connectors, asynchronous scheduling, pausing.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable, Sequence

from viz_core.i18n import Problem
from viz_core.paging.config import PoolConfig, SchedulerConfig
from viz_core.paging.events import Log, Op
from viz_core.paging.manager import BlockManager
from viz_core.paging.plan import StepPlan, unique_tokens
from viz_core.paging.request import Request


class Scheduler:
    """Requests over one block manager, one `step()` at a time; `sample` names the next token of each of the requests
    that have computed all they have.
    """

    def __init__(
        self,
        pool: PoolConfig,
        config: SchedulerConfig | None = None,
        log: Log | None = None,
        sample: Callable[[Sequence[Request]], Sequence[int]] = unique_tokens,
    ) -> None:
        self.config, self.log, self.sample = config or SchedulerConfig(), log, sample
        self.manager = BlockManager(pool, log)
        self.by_priority = self.config.order == "priority"
        self.waiting: deque[Request] | list[Request] = [] if self.by_priority else deque()
        self.running: list[Request] = []
        self.names: set[str] = set()
        self.steps = self.num_preemptions = self.tokens_lost = self.queried = self.hits = 0

    def add(self, request: Request) -> None:
        """Queue a request; a Problem when its name is taken or it can never fit."""
        if request.name in self.names:
            raise Problem("paging_duplicate", name=request.name)
        config = self.manager.config
        blocks = -(-min(request.length, config.max_model_len) // config.block_size)
        if blocks > config.usable and not any(config.windows):
            raise Problem(
                "paging_never_fits", name=request.name, tokens=request.length, blocks=blocks, pool=config.usable
            )
        request.stop = min(request.stop, config.max_model_len)
        request.index = len(self.names) if self.log is None else self.log.name(request.name)
        self.names.add(request.name)
        if self.log is not None:
            self.log.add(Op.ARRIVE, request.index, value=request.length)
        self._queue(request)

    def _queue(self, request: Request, front: bool = False) -> None:
        if isinstance(self.waiting, list):
            insort(self.waiting, request, key=Request.rank)
        elif front:
            self.waiting.appendleft(request)
        else:
            self.waiting.append(request)

    def schedule(self) -> StepPlan:
        """Grant this step's tokens: running requests first, then, if nobody was preempted, waiting ones."""
        plan = StepPlan()
        threshold = self.config.long_prefill_token_threshold if len(self.running) + len(self.waiting) > 1 else 0
        budget = self._schedule_running(plan, threshold)
        if not plan.preempted:
            self._admit(plan, budget, threshold)
        return plan

    def _schedule_running(self, plan: StepPlan, threshold: int) -> int:
        """Tokens for the running requests in order; returns what is left of the budget."""
        budget, granted, max_len = self.config.max_num_batched_tokens, plan.granted, self.manager.max_len
        running, at = self.running, 0
        count_running = len(running)
        while at < count_running and budget > 0:
            request = running[at]
            computed = request.computed
            count = request.length - computed
            if count == 1 and computed < request.quiet:
                request.computed = computed + 1
                granted[request.name] = 1
                budget -= 1
                at += 1
                continue
            if 0 < threshold < count:
                count = threshold
            count = min(count, budget, max_len - computed - 1)
            if count <= 0:
                at += 1
                continue
            fits = self._fits(request, count)
            if not fits:
                fits, at, returned = self._make_room(request, count, at, plan)
                count_running = len(running)
                budget += returned
            if fits:
                granted[request.name] = count
                budget -= count
                at += 1
            elif not self.by_priority:
                break
        return budget

    def _fits(self, request: Request, count: int) -> bool:
        """Whether there are slots for `count` more tokens; they are taken."""
        if count == 1 and not self.config.lookahead:
            return self.manager.decode(request)
        return self.manager.allocate(request, count, lookahead=self.config.lookahead)

    def _make_room(self, request: Request, count: int, at: int, plan: StepPlan) -> tuple[bool, int, int]:
        """Preempt others until it fits or the request preempts itself: (fits, its index, budget returned)."""
        fits, returned = False, 0
        while not fits:
            victim = max(self.running, key=Request.rank) if self.by_priority else self.running[-1]
            index = self.running.index(victim)
            del self.running[index]
            at -= index < at
            returned += plan.granted.pop(victim.name, 0)
            self._preempt(victim)
            plan.preempted.append(victim)
            if victim is request:
                break
            fits = self._fits(request, count)
        return fits, at, returned

    def _preempt(self, request: Request) -> None:
        """Give up all blocks of a running request; it starts over from what the prefix cache still has."""
        self.tokens_lost += request.computed
        self.num_preemptions += 1
        request.preemptions += 1
        self.manager.free(request, Op.PREEMPT)
        self._queue(request, front=True)

    def _admit(self, plan: StepPlan, budget: int, threshold: int) -> None:
        """Waiting requests from the head, until one does not fit: nobody overtakes."""
        config, manager = self.config, self.manager
        while self.waiting and budget > 0 and len(self.running) < config.max_num_seqs:
            request = self.waiting[0]
            hit = manager.lookup(request)
            count = request.length - hit.tokens
            if 0 < threshold < count:
                count = threshold
            if count > budget and not config.enable_chunked_prefill:
                return
            count = min(count, budget)
            reserve = manager.watermark if self.running else 0
            if not manager.allocate(
                request, count, hit, lookahead=config.lookahead, gate=config.reserve_full_isl, reserve=reserve
            ):
                return
            del self.waiting[0]
            self.running.append(request)
            (plan.resumed if request.preemptions else plan.new).append(request)
            if not request.preemptions:
                self.queried += request.length
                self.hits += hit.tokens
            plan.granted[request.name] = count
            budget -= count

    def update(self, plan: StepPlan) -> list[Request]:
        """After the forward pass: who has computed all it has samples a token; the finished give back their blocks."""
        # the others have computed a chunk of their prompt or were not scheduled: who has sampled has one to compute
        ready = [request for request in self.running if request.computed >= request.length]
        finished: list[Request] = []
        for request, token in zip(ready, self.sample(ready), strict=True):
            request.tokens.append(token)
            request.length = length = request.length + 1
            if length >= request.stop:
                finished.append(request)
        if self.log is not None:
            for request in ready:
                self.log.add(Op.SAMPLE, request.index, value=request.length)
        if finished:
            self._finish(finished, plan)
        return finished

    def _finish(self, finished: list[Request], plan: StepPlan) -> None:
        if len(finished) > 1:
            order = {name: at for at, name in enumerate(plan.granted)}
            finished.sort(key=lambda request: order[request.name])
        for request in finished:
            self.manager.free(request)
        done = set(map(id, finished))
        self.running = [request for request in self.running if id(request) not in done]

    def step(self) -> StepPlan:
        """One engine step: schedule, run, update."""
        plan = self.schedule()
        self.update(plan)
        self.steps += 1
        if self.log is not None:
            self.log.step += 1
        return plan
