"""Importers: serving traces in three public forms, and a server's KV events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz_core.i18n import LANGS, Problem
from viz_core.paging.config import PoolConfig
from viz_core.paging.events import Log, Op
from viz_core.paging.film import film
from viz_core.paging.kv_events import residency
from viz_core.paging.log_file import dump_lines, load_lines
from viz_core.paging.manager import BlockManager
from viz_core.paging.metrics import measure
from viz_core.paging.msgpack import Unpacker
from viz_core.paging.presets import LRU, THRASH
from viz_core.paging.replay import replay
from viz_core.paging.request import Request
from viz_core.paging.run import run
from viz_core.paging.serving_traces import Arrival, infinite_hit_rate, load_trace, replay_hits, to_scenario
from viz_core.trace_codec import encode

MOONCAKE = "\n".join(
    json.dumps({"timestamp": ms, "input_length": prompt, "output_length": 7, "hash_ids": ids})
    for ms, prompt, ids in ((0, 1024, [0, 1]), (1500, 1100, [0, 1, 2]), (3000, 600, [0, 3]), (3000, 512, [0]))
)
AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
"""
VIDUR = "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n3772,54,3826,69.8\n2015,156,2171,12.9\n"


def test_mooncake_rows_and_what_a_cache_without_limit_finds() -> None:
    rows = load_trace(MOONCAKE)
    assert rows[1] == Arrival(1500.0, 1100, 7, (0, 1, 2))
    hits = 0 + 1024 + 512 + 0  # the last token is always computed: 512 tokens of one block hit nothing
    assert infinite_hit_rate(rows) == hits / (1024 + 1100 + 600 + 512)
    assert replay_hits(rows, 100) == infinite_hit_rate(rows)
    scan = [rows[1], Arrival(1600.0, 1536, 1, (7, 8, 9)), rows[1]]
    assert replay_hits(scan, 3) == 0 < replay_hits(scan, 6) == infinite_hit_rate(scan), "a scan of 3 blocks empties 3"


def test_csv_traces() -> None:
    azure, vidur = load_trace(AZURE), load_trace(VIDUR)
    assert [(a.prompt, a.output) for a in azure] == [(374, 44), (396, 109)]
    assert azure[1].ms == pytest.approx(4314.579)
    assert [(a.ms, a.prompt, a.output) for a in vidur] == [(0.0, 3772, 54), (0.0, 2015, 156)]


def test_a_trace_becomes_a_scenario_that_still_shares() -> None:
    scenario = to_scenario(load_trace(MOONCAKE), 400, 8, 1000.0, scale=64)
    assert [ask.at for ask in scenario.requests] == [0, 1, 3, 3]
    metrics = measure(run(scenario))
    assert metrics.hit[-1] == 16 + 8  # the same blocks as above, 512 / 64 tokens each


@pytest.mark.parametrize("text", [
    "", "hello", "a,b\n1,2\n", "{}", '{"timestamp":0,"input_length":5,"output_length":1,"hash_ids":[]}',
    '{"timestamp":0,"input_length":-5,"output_length":1,"hash_ids":[0]}', '{"timestamp":"x"}', "{" * 100_000,
    '{"timestamp":1e400,"input_length":5,"output_length":1,"hash_ids":[0]}',
    "TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,2\n", "num_prefill_tokens,num_decode_tokens\n1e999,3\n",
    "num_prefill_tokens,num_decode_tokens\n12\n",
])  # fmt: skip
def test_bad_traces_get_one_sentence(text: str) -> None:
    with pytest.raises(Problem) as caught:
        load_trace(text)
    assert all(caught.value.text(lang) for lang in LANGS)


def test_events_of_a_real_server(cases: Path) -> None:
    path = cases / "paging" / "x_kv_events_sample.json"
    if not path.exists():
        pytest.skip(f"{path} is not in this folder")
    messages = json.loads(path.read_text())["messages"]
    packed = b"".join(bytes.fromhex(message["payload_hex"]) for message in messages)
    reader = Unpacker(packed)
    assert [reader.value() for _ in messages] == [message["decoded"] for message in messages]
    blocks = residency(packed)
    assert residency("\n".join(json.dumps(m["decoded"]) for m in messages).encode()) == blocks
    first, second, third, branch = list(blocks.values())[:4]
    assert (first.parent, second.parent, branch.parent) == (None, first.hash, second.hash)
    assert third.tokens == (9, 10, 11, 12) and branch.tokens == (9, 50, 51, 52)
    assert all(block.copies == 0 for block in blocks.values()), "the server cleared its cache at the end"


def test_a_duplicate_stays_until_its_last_copy_goes() -> None:
    stored = {"type": "BlockStored", "block_hashes": [7], "token_ids": [1, 2], "block_size": 2}
    removed = {"type": "BlockRemoved", "block_hashes": [7]}
    lines = [[1.0, [stored]], [2.0, [stored]], [3.0, [removed]], [4.0, [removed]], [5.0, [stored]]]
    (block,) = residency("\n".join(map(json.dumps, lines)).encode()).values()
    assert block.spans == [(1.0, 4.0), (5.0, None)]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_events_or_one_sentence(data: bytes) -> None:
    for wrapped in (data, b"\x92\xcb" + b"\0" * 8 + data):
        try:
            residency(wrapped)
        except Problem as problem:
            assert problem.text("zh")


@pytest.mark.parametrize("scenario", [LRU, THRASH])
def test_a_log_survives_its_file_and_a_broken_one_is_refused(scenario: object) -> None:
    recording = run(scenario)  # type: ignore[arg-type]
    lines = list(dump_lines(recording))
    again = load_lines("\n".join(lines))
    assert (again.config, list(again.log)) == (recording.config, list(recording.log))
    assert encode(film([("", again)], ""), "en") == encode(film([("", recording)], ""), "en"), "the same film"
    take = next(i for i, line in enumerate(lines) if '"take"' in line)
    for broken in ([*lines[: take + 1], lines[take], *lines[take + 1 :]], [*lines[:take], *lines[take + 1 :]]):
        again = load_lines("\n".join(broken))
        with pytest.raises(Problem) as caught:
            list(replay(again.config, again.log))
        assert caught.value.key == "paging_log_broken"


@pytest.mark.parametrize(("line", "key"), [
    ("[]", "paging_log_json"), ("{", "paging_log_json"), ('{"step":0,"op":"boil"}', "paging_log_op"),
    ('{"step":0,"op":"take","block":99999}', "paging_log_fields"), ('{"step":1e9,"op":"take"}', "paging_log_fields"),
    ('{"step":2000000000,"op":"take"}', "paging_log_fields"), ('{"step":true,"op":"take"}', "paging_log_fields"),
    ('{"step":0,"op":"take","request":5}', "paging_log_fields"), ('{"step":0,"op":"take","x":1}', "paging_log_op"),
])  # fmt: skip
def test_bad_log_lines(line: str, key: str) -> None:
    recording = run(LRU)
    header = next(dump_lines(recording))
    with pytest.raises(Problem) as caught:
        load_lines(f"{header}\n{line}")
    assert caught.value.key == key and caught.value.text("zh")


@pytest.mark.parametrize("header", ["", "[1]", "{}", '{"format":"paged-trace","version":2,"pool":{}}',
                                    '{"format":"paged-trace","version":1,"pool":{"x":1}}'])  # fmt: skip
def test_bad_log_headers(header: str) -> None:
    with pytest.raises(Problem):
        load_lines(header)


def test_given_hashes_are_found_by_themselves_and_leave_nothing_behind() -> None:
    manager = BlockManager(PoolConfig(5, 4))
    first = Request("first", length=8, given=[0, 7])
    assert manager.allocate(first, 8, manager.lookup(first))
    for _ in range(4):  # a third block, of sampled tokens: no trace names it
        first.append(1)
        assert manager.decode(first)
    held = list(first.table)
    manager.free(first)
    again, other = Request("again", length=9, given=[0, 7]), Request("other", length=9, given=[7, 9])
    assert manager.lookup(again).blocks == (held[:2],)
    assert manager.lookup(other).blocks == (held[1:2],), "a given hash names its whole prefix"
    assert len(manager.pool.chain) == 1, "only the block of sampled tokens is interned"
    full = Request("full", length=16, given=[1, 2, 3, 4])
    assert manager.allocate(full, 16)
    assert not len(manager.pool.chain) and len(manager.pool.index) == 4, "the old hashes went with their blocks"


@pytest.mark.parametrize("hashes", [[-1], [2**31 - 1], [2**31], [2**32], ["a"], [None], [0, -1], [2**31, 0]])
def test_given_hashes_are_31_bits(hashes: list[int]) -> None:
    with pytest.raises(Problem):
        Request("r", length=4, given=hashes)


def test_the_largest_given_hash_fits_into_a_log() -> None:
    log = Log()
    manager, request = BlockManager(PoolConfig(4, 4), log), Request("r", length=9, given=[0, 2**31 - 2])
    assert manager.allocate(request, 9)
    assert [event.value for event in log if event.op == Op.COMMIT] == [-2, -(2**31)]


def test_a_hit_at_the_tail_of_the_free_queue_leaves_no_gap() -> None:
    manager = BlockManager(PoolConfig(9, 4))
    for name, length in (("a", 12), ("b", 16), ("c", 9)):
        request = Request(name, length=length, given=[0, 1, 2, 3][: length // 4])
        assert manager.allocate(request, length - manager.lookup(request).tokens, manager.lookup(request))
        manager.free(request)
    assert not manager.pool.queue.gaps and manager.pool.queue.order() == [5, 6, 7, 8, 4, 3, 2, 1]
