"""Drives the block manager and the scheduler through a golden vector and yields states in the vector's own form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from viz_core.paging.config import PoolConfig, SchedulerConfig
from viz_core.paging.events import Event, Log, Op
from viz_core.paging.manager import BlockManager
from viz_core.paging.request import Request
from viz_core.paging.scheduler import Scheduler

Json = dict[str, Any]


def pool_config(config: Json) -> PoolConfig:
    window = config.get("sliding_window")
    return PoolConfig(
        config["num_gpu_blocks"],
        config["block_size"],
        caching=config.get("enable_caching", True),
        windows=tuple(config["groups"]) if "groups" in config else (window or 0,),
        watermark=config.get("watermark", 0.0),
        max_model_len=config.get("max_model_len", 8192),
    )


class Names:
    """h0, h1 …: hashes in the order in which a snapshot first shows them; a hash is known by what it stands for."""

    def __init__(self) -> None:
        self.of: dict[tuple[object, ...], str] = {}
        self.path: dict[int, tuple[object, ...]] = {}

    def name(self, manager: BlockManager, node: int, group: int = 0) -> str:
        if node not in self.path:
            self.path[node] = manager.pool.chain.path(node)
        name = self.of.setdefault(self.path[node], f"h{len(self.of)}")
        return f"{name}/g{group}" if group else name


def snapshot(manager: BlockManager, live: dict[str, Request], names: Names) -> Json:
    pool = manager.pool
    groups = pool.groups
    return {
        "tables": {n: _tables(r) for n, r in live.items()},
        "num_tokens_computed": {n: r.computed for n, r in live.items()},
        "free_queue": pool.queue.order(),
        "num_free": len(pool.queue),
        "usage": round(pool.usage, 6),
        "ref_cnt": {str(b): pool.ref[b] for b in range(pool.size) if pool.ref[b]},
        "block_hash": {
            str(b): names.name(manager, pool.tag[b] // groups, pool.tag[b] % groups)
            for b in range(pool.size)
            if pool.tag[b]
        },
        "num_cached_hashes": len(pool.index),
    }


def _tables(request: Request) -> list[int] | list[list[int]]:
    tables = [list(table) for table in request.tables]
    return tables if len(tables) > 1 else tables[0]


class ManagerRun:
    """The operations of a manager vector."""

    def __init__(self, vector: Json) -> None:
        self.ops = vector["ops"]
        self.log = Log()
        self.manager = BlockManager(pool_config(vector["config"]), self.log)
        self.gate = vector["config"].get("reserve_full_isl", True)
        self.live: dict[str, Request] = {}
        self.parked: dict[str, Request] = {}
        self.added = 0
        self.tokens: dict[str, int] = {}
        self.names = Names()
        self.group_of: dict[int, int] = {}

    def rows(self) -> Iterator[Json]:
        yield {"op": {"op": "init"}, **snapshot(self.manager, self.live, self.names)}
        for op in self.ops:
            start = len(self.log)
            result = getattr(self, f"_{op['op']}")(op)
            state = snapshot(self.manager, self.live, self.names)
            echo = {k: v for k, v in op.items() if k != "tokens"}
            yield {"op": echo, "result": result, **state, "events": self._kv_events(start)}

    def _admit(self, request: Request, op: Json) -> Json:
        hit = self.manager.lookup(request)
        count = min(op.get("chunk", request.length), request.length - hit.tokens)
        ok = self.manager.allocate(
            request,
            count,
            hit,
            lookahead=op.get("lookahead", 0),
            gate=self.gate,
            reserve=self.manager.watermark if self.live else 0,
        )
        new = [list(t)[hit.tokens // self.manager.size :] for t in request.tables] if ok else None
        return {"hit_tokens": hit.tokens, "ok": ok, "new_blocks": new if new is None or len(new) > 1 else new[0]}

    def _add(self, op: Json) -> Json:
        request = Request(op["id"], op["tokens"], salt=op.get("cache_salt"))
        request.index = self.log.name(op["id"])
        self.tokens[op["id"]] = 900_000 + 1000 * self.added
        self.added += 1
        result = self._admit(request, op)
        if result["ok"]:
            self.live[op["id"]] = request
        return result

    def _resume(self, op: Json) -> Json:
        if op["id"] not in self.parked:
            return {"ok": False, "skipped": True}
        result = self._admit(self.parked[op["id"]], op)
        if result["ok"]:
            self.live[op["id"]] = self.parked.pop(op["id"])
        return result

    def _prefill(self, op: Json) -> Json:
        request = self.live[op["id"]]
        before = len(request.table)
        ok = self.manager.allocate(request, min(op["n"], request.length - request.computed))
        return {"ok": ok, "new_blocks": list(request.table)[before:] if ok else None}

    def _decode(self, op: Json) -> Json:
        request = self.live.get(op["id"])
        if request is None:
            return {"ok": False, "skipped": True}
        before, done = len(request.table), 0
        for at in range(op["n"]):
            if request.computed == request.length:
                request.append(op["tokens"][at] if "tokens" in op else self.tokens[op["id"]])
                self.tokens[op["id"]] += 1
            if not self.manager.allocate(request, 1, lookahead=op.get("lookahead", 0)):
                break
            done += 1
        return {"ok": done == op["n"], "decoded": done, "new_blocks": list(request.table)[before:]}

    def _finish(self, op: Json) -> Json:
        if op["id"] not in self.live:
            return {"ok": False, "skipped": True}
        self.manager.free(self.live.pop(op["id"]))
        return {}

    def _preempt(self, op: Json) -> Json:
        if op["id"] not in self.live:
            return {"ok": False, "skipped": True}
        self.parked[op["id"]] = self.live.pop(op["id"])
        self.manager.free(self.parked[op["id"]])
        return {}

    def _reset(self, op: Json) -> Json:
        return {"ok": self.manager.pool.reset()}

    def _kv_events(self, start: int) -> list[Json]:
        """The log since `start` as vLLM's KV events: the commits of one allocation and group are one BlockStored."""
        out: list[Json] = []
        commits: list[Event] = []
        for event in (self.log[i] for i in range(start, len(self.log))):
            if event.op == Op.COMMIT:
                commits.append(event)
                self.group_of[event.block] = self.manager.pool.tag[event.block] % self.manager.pool.groups
                continue
            out += self._stored(commits)
            commits = []
            if event.op == Op.EVICT:
                name = self.names.name(self.manager, event.value, self.group_of[event.block])
                out.append({"type": "BlockRemoved", "block_hashes": [name]})
            elif event.op == Op.RESET:
                out.append({"type": "AllBlocksCleared"})
        return out + self._stored(commits)

    def _stored(self, commits: list[Event]) -> list[Json]:
        out, chain = [], self.manager.pool.chain
        for group in sorted({self.group_of[event.block] for event in commits}):
            mine = [event.value for event in commits if self.group_of[event.block] == group]
            parent = chain.parent(mine[0])
            first = parent <= 0 or chain.parent(parent) < 0  # below the root, or below a salt's root
            out.append(
                {
                    "type": "BlockStored",
                    "block_hashes": [self.names.name(self.manager, node, group) for node in mine],
                    "parent": None if first else self.names.name(self.manager, parent),
                    "num_token_ids": len(mine) * self.manager.size,
                }
            )
        return out


class SchedulerRun:
    """The steps of a scheduler vector."""

    def __init__(self, vector: Json) -> None:
        config = vector["config"]
        self.scheduler = Scheduler(
            pool_config(config),
            SchedulerConfig(
                max_num_batched_tokens=config["max_num_batched_tokens"],
                max_num_seqs=config["max_num_seqs"],
                order=config.get("policy", "fcfs"),
                enable_chunked_prefill=config.get("enable_chunked_prefill", True),
                long_prefill_token_threshold=config.get("long_prefill_token_threshold", 0),
                reserve_full_isl=config.get("reserve_full_isl", True),
            ),
        )
        self.steps = len(vector["trace"])
        self.names = Names()
        self.arrivals = sorted(
            (
                Request(
                    r["id"],
                    r["tokens"],
                    max_tokens=r["max_tokens"],
                    priority=r.get("priority", 0),
                    arrival=(r["at_step"], i),
                )
                for i, r in enumerate(vector["requests"])
            ),
            key=lambda r: r.arrival,
        )

    def rows(self) -> Iterator[Json]:
        scheduler, manager = self.scheduler, self.scheduler.manager
        pending = list(self.arrivals)
        for step in range(self.steps):
            while pending and pending[0].arrival[0] <= step:
                scheduler.add(pending.pop(0))
            plan = scheduler.schedule()
            live = {r.name: r for r in sorted(scheduler.running, key=lambda r: r.name)}
            row = {
                "step": step,
                "scheduled": plan.granted,
                "new": {r.name: {"hit_tokens": r.hit_tokens, "blocks": list(r.table)} for r in plan.new},
                "resumed": {r.name: {"hit_tokens": r.hit_tokens, "blocks": list(r.table)} for r in plan.resumed},
                "preempted": [r.name for r in plan.preempted],
                "running": [r.name for r in scheduler.running],
                "waiting": [r.name for r in scheduler.waiting],
                **snapshot(manager, live, self.names),
            }
            row["finished_after"] = [r.name for r in scheduler.update(plan)]
            row["free_queue_after"] = manager.pool.queue.order()
            if not plan.granted and not pending:
                row["stuck"] = True
            yield row
