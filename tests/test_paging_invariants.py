"""Random workloads under every policy: nothing is free and owned, nothing is lost, the log rebuilds every state."""

from __future__ import annotations

from hypothesis import given, settings

from tests.paging_workloads import ACTIONS, Action, Driver, assert_sound, pools
from viz_core.paging.config import PoolConfig
from viz_core.paging.events import Log, Op
from viz_core.paging.log_file import dump_lines, load_lines
from viz_core.paging.replay import State
from viz_core.paging.run import Recording


@settings(max_examples=150, deadline=None)
@given(pools(), ACTIONS)
def test_every_state_is_sound_and_all_blocks_come_back(config: PoolConfig, actions: list[Action]) -> None:
    driver = Driver(config)
    for action in actions:
        driver.apply(action)
        assert_sound(driver)
    for request in driver.live:
        driver.manager.free(request)
    assert sorted(driver.free()) == list(range(config.rules.null_block, config.num_blocks))
    driver.live.clear()
    assert driver.manager.pool.reset() and not len(driver.manager.pool.chain)


@settings(max_examples=80, deadline=None)
@given(pools(), ACTIONS)
def test_the_log_rebuilds_every_state(config: PoolConfig, actions: list[Action]) -> None:
    driver = Driver(config, Log())
    state, at = State(config), 0
    log = driver.log
    assert log is not None
    for action in actions:
        driver.apply(action)
        for i in range(at, len(log)):
            state.apply(log[i])
        at = len(log)
        assert_same(state, driver)
        log.step += 1
    whole = after_arrivals(log)
    again = load_lines("\n".join(dump_lines(Recording(config, whole))))
    assert again.config == config and list(again.log) == list(whole)


def after_arrivals(log: Log) -> Log:
    """The log of a block manager, which sees no arrivals, behind the arrivals that a file must have."""
    whole = Log()
    for name in (*log.names, "late"):
        whole.add(Op.ARRIVE, whole.name(name), value=1)
    for i in range(len(log)):
        whole.step = log.steps[i]
        whole.add(Op(log.op[i]), log.request[i], log.block[i], log.value[i])
    return whole


def assert_same(state: State, driver: Driver) -> None:
    pool = driver.manager.pool
    assert state.queue.order() == pool.queue.order()
    assert list(state.ref) == pool.ref
    assert [bool(node) for node in state.node] == [bool(tag) for tag in pool.tag]
    assert {n: list(map(list, t)) for n, t in state.tables.items()} == {
        r.name: list(map(list, r.tables)) for r in driver.live
    }
    assert all(state.computed[r.name] == r.computed for r in driver.live)


@settings(max_examples=60, deadline=None)
@given(pools(), ACTIONS)
def test_the_log_changes_nothing(config: PoolConfig, actions: list[Action]) -> None:
    quiet, logged = Driver(config), Driver(config, Log())
    for action in actions:
        quiet.apply(action)
        logged.apply(action)
        assert quiet.free() == logged.free()
