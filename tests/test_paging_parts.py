"""The free queue against a plain list, the hash chain against prefixes written out in full."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.paging.chain import ROOT, HashChain
from viz_core.paging.chain_run import LONGEST
from viz_core.paging.free_queue import FreeQueue

SIZE = 12
OPS = ["pop", "one", "remove", "back", "front"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(OPS), st.integers(0, 99)), max_size=200))
def test_the_free_queue_is_a_list_that_blocks_can_leave_anywhere(steps: list[tuple[str, int]]) -> None:
    queue, want, out = FreeQueue(SIZE, range(SIZE)), list(range(SIZE)), list[int]()
    for what, number in steps:
        if what == "pop":
            count = number % (len(want) + 1)
            assert queue.pop(count) == want[:count]
            out, want = out + want[:count], want[count:]
        elif what == "one" and want:
            assert queue.pop_one() == want[0]
            out.append(want.pop(0))
        elif what == "remove" and want:
            out.append(want.pop(number % len(want)))
            queue.remove(out[-1:])
        elif what in ("back", "front"):
            count = number % (len(out) + 1)
            blocks, out = out[:count], out[count:]
            want = want + blocks if what == "back" else blocks + want
            (queue.push_back if what == "back" else queue.push_front)(blocks)
        assert queue.order() == want and len(queue) == len(want)
        assert len(queue.line) <= queue.most, "gaps are swept out"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 10**6), st.lists(st.integers(0, 2), max_size=6)), max_size=60))
def test_one_node_a_prefix_and_no_node_without_a_user(steps: list[tuple[bool, int, list[int]]]) -> None:
    chain, used, names = HashChain(), dict[tuple[int, ...], int](), dict[int, tuple[int, ...]]()
    for grow, number, more in steps:
        if grow:
            above = sorted(used)[number % len(used)] if used and number % 3 else ()
            node = chain.walk(ROOT, list(above))[-1] if above else ROOT
            nodes = [chain.add(node, more[0])] if len(more) == 1 else chain.extend(node, list(more))
            for at, node in enumerate(nodes, len(above) + 1):
                prefix = (above + tuple(more))[:at]
                assert names.setdefault(node, prefix) == prefix == chain.path(node), "a number names one prefix"
                used[prefix] = used.get(prefix, 0) + 1
        elif used:
            prefix = sorted(used)[number % len(used)]
            chain.release(chain.walk(ROOT, list(prefix))[-1])
            used[prefix] -= 1
            if not used[prefix]:
                del used[prefix]
        assert len(chain) == len({prefix[:n] for prefix in used for n in range(1, len(prefix) + 1)})
        for prefix in used:
            assert len(chain.walk(ROOT, [*prefix, 9])) == len(prefix)


def test_long_prefixes_span_runs_and_go_as_a_whole() -> None:
    chain, keys = HashChain(), list(range(2 * LONGEST + 3))
    nodes = chain.extend(ROOT, keys)
    assert chain.walk(ROOT, keys) == nodes and chain.path(nodes[-1]) == tuple(keys)
    assert [chain.parent(node) for node in nodes] == [ROOT, *nodes[:-1]]
    other = chain.extend(nodes[LONGEST], [-1])
    chain.release_all(nodes)
    assert len(chain) == LONGEST + 2, "what the other one extends is still named"
    chain.release_all(other)
    assert not len(chain)
