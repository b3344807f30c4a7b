"""Requests with the paper's mean lengths, for the waste of contiguous and paged memory side by side.

SOSP'23, figure 11: ShareGPT has on average 161 prompt and 338 output tokens, Alpaca 19 and 58. Lengths here are
drawn log-normally with those means (deviation 1 in the logarithm, chosen here) and cut at 2,048 tokens in all; the
traces themselves are not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.paging.config import SchedulerConfig
from viz_core.paging.contiguous import RULES, Job, simulate
from viz_core.paging.metrics import Waste, measure
from viz_core.paging.run import run
from viz_core.paging.scenario import Ask, Prompt, Scenario

Shares = dict[str, float]
SLOTS = 15_728  # KV memory of the paper's OPT-13B: 12 GB at 800 KB a token, in whole blocks of 16
MEANS = {"sharegpt": (161.31, 337.99), "alpaca": (19.31, 58.45)}
LONGEST = 2048
SPREAD = 1.0

# SOSP'23, figure 2, share of KV memory in per cent: quoted from transcriptions of the figure, not read off it here.
# The last column of the oracle is "external and others".
QUOTED = {
    "max": {"tokens": 20.4, "reserved": 13.3, "internal": 57.3, "external": 8.9},
    "pow2": {"tokens": 26.8, "reserved": 17.9, "internal": 13.6, "external": 41.6},
    "oracle": {"tokens": 38.2, "reserved": 25.2, "internal": 0.0, "external": 36.6},
    "paged": {"tokens": 96.3},
}


def jobs(name: str, count: int, seed: int = 0) -> list[Job]:
    """`count` requests that all wait at step 0, so that memory and not the arrival rate is the limit."""
    rng = np.random.default_rng(seed)
    lengths = []
    for mean in MEANS[name]:
        drawn = rng.lognormal(np.log(mean) - SPREAD**2 / 2, SPREAD, count)
        lengths.append(np.clip(np.rint(drawn), 1, LONGEST // 2).astype(int))
    return [Job(0, int(prompt), int(output)) for prompt, output in zip(*lengths, strict=True)]


def paged(work: list[Job], slots: int, block_size: int) -> Scenario:
    """The same requests for the paged scheduler, in a pool of as many slots; no two share a prefix."""
    asks = tuple(Ask(f"r{i}", Prompt(((f"r{i}", job.prompt),)), job.output, job.at) for i, job in enumerate(work))
    return Scenario(slots // block_size, block_size, requests=asks, scheduler=SchedulerConfig(max_num_seqs=256))


@dataclass(frozen=True, slots=True)
class Beside:
    """Mean share of each use of memory by rule, all over the same `steps` steps; `scarce`: those in which a request
    waits for memory under every rule, else those until the first rule is through.
    """

    shares: dict[str, Shares]
    steps: int
    scarce: bool


def memory_shares(name: str, count: int, block_size: int, seed: int = 0) -> Beside:
    """The three contiguous rules and paging side by side on the same requests.

    SOSP'23 measures servers under load, where memory is what limits them: so the steps count in which requests wait
    under every rule. Where some rule lets nobody wait there are none, and then all steps count in which every rule
    still has requests.
    """
    work = jobs(name, count, seed)
    waste = {rule: simulate(work, SLOTS, rule, LONGEST) for rule in RULES}
    return beside(waste | {"paged": measure(run(paged(work, SLOTS, block_size))).waste})


def beside(waste: dict[str, Waste]) -> Beside:
    """Runs of the same requests over the same steps."""
    steps = min(len(each.tokens) for each in waste.values())
    busy = {rule: each.until(steps) for rule, each in waste.items()}
    when = np.logical_and.reduce([each.waiting for each in busy.values()])
    scarce = bool(when.any())
    when = when if scarce else np.ones_like(when)
    return Beside({rule: each.shares(when) for rule, each in busy.items()}, int(when.sum()), scarce)
