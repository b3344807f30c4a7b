"""Golden vectors made by running vLLM 0.33.0's own KVCacheManager and Scheduler: the state after every operation or
step.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.paging_replay import ManagerRun, SchedulerRun

NAMES = [
    "m01_seed_nocache",
    "m02_seed_cache",
    "m03_shared_prefix",
    "m04_last_token_recompute",
    "m05_lru_eviction_tail_first",
    "m06_oom",
    "m07_preempt_resume",
    "m08_chunked_prefill",
    "m09_lookahead",
    "m10_sliding_window",
    "m11_watermark",
    "m12_cache_salt",
    "m13_hybrid_full_swa",
    "m14_reset",
    "m15_multi_turn",
    "m50_fuzz",
    "m51_fuzz",
    "m53_fuzz",
    "m55_fuzz",
    "s01_preempt_recompute",
    "s02_chunked_prefill_budget",
    "s03_no_chunked",
    "s04_priority",
    "s05_watermark",
    "s06_same_step_sharing",
    "s07_long_prefill_threshold",
    "s08_reserve_full_isl_on",
    "s09_reserve_full_isl_off",
    "s10_nocache_preempt",
    "s11_max_num_seqs",
    "s50_fuzz",
    "s51_fuzz",
    "s53_fuzz",
    "s54_fuzz",
    "s56_fuzz_priority",
    "s58_fuzz_no_gate",
    "x60_sliding_window_5",
    "x61_sliding_window_9",
    "x62_sliding_window_7",
    "x63_sliding_window_8",
    "x70_hybrid",
    "x71_hybrid",
    "x72_hybrid",
    "x80_scheduler",
    "x81_scheduler",
    "x82_scheduler",
    "x83_scheduler",
    "x84_scheduler",
]


def load(folder: Path, name: str) -> dict[str, Any]:
    """A vector, plain or gzipped; skipped where the folder lacks it."""
    plain, packed = folder / "paging" / f"{name}.json", folder / "paging" / f"{name}.json.gz"
    if packed.exists():
        return json.loads(gzip.decompress(packed.read_bytes()))
    if not plain.exists():
        pytest.skip(f"{plain} is not in this folder")
    return json.loads(plain.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_every_state(name: str, cases: Path, compared: Callable[[int], None]) -> None:
    vector = load(cases, name)
    want = vector["trace"]
    got = list(ManagerRun(vector).rows() if vector["mode"] == "manager" else SchedulerRun(vector).rows())
    assert len(got) == len(want)
    for at, (ours, theirs) in enumerate(zip(got, want, strict=True)):
        assert ours == theirs, f"{name}, row {at}"
    compared(1)
