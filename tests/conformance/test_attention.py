"""Every algorithm, in every order, against float64 dense attention on adversarial cases.

Mutants that these cases kill, each tried: no rescale of l or o by e^(m − m'); a finite sentinel (−5e4, −1e30) for −∞ in
the factories and in the running maximum (`holes`, `sentinel_trap`); causal aligned top-left (`ragged_causal`, rebuilt
from the factory); the reference of a merged side forgotten; Paged without its last token, or with the identity table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from viz_core.attention import bias as biases
from viz_core.attention.bias import Bias
from viz_core.attention.cascade import cascade
from viz_core.attention.dense import dense
from viz_core.attention.fast import attend
from viz_core.attention.orders import ORDERS
from viz_core.attention.paged import Paged
from viz_core.attention.ring import ring
from viz_core.attention.rules import FA1, FA2, FA4, FA4_CUBIC, RULES
from viz_core.attention.sinks import with_sink
from viz_core.attention.split import split_kv
from viz_core.attention.standard import standard
from viz_core.attention.state import State
from viz_core.attention.tiled import Sram, assemble, tiled

NAMES = ["plain", "one_token", "one_key", "ragged_causal", "alibi", "holes", "huge_logits", "sentinel_trap"]
NAMES += ["max_rises", "constant", "sink"]
TILES = [(1, 1), (5, 7), (8, 8), (16, 16), (999, 999)]


@dataclass(frozen=True)
class Case:
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    bias: Bias | None
    scale: float | None
    sink: float | None
    out: np.ndarray
    lse: np.ndarray

    def tile(self, rows: int, cols: int) -> tuple[int, int]:
        return min(rows, len(self.q)), min(cols, len(self.k))


def load(folder: Path, name: str) -> Case:
    path = folder / "attention" / "attention.npz"
    if not path.exists():
        pytest.skip(f"no {path}")
    with np.load(path) as z:
        if f"{name}.q" not in z:
            pytest.skip(f"{path} has no case {name}")
        got = {key.split(".")[1]: z[key] for key in z if key.startswith(name + ".")}
    q, k, v = (got[x] for x in "qkv")
    n, m = len(q), len(k)
    factory = {"ragged_causal": biases.causal(n, m), "alibi": biases.alibi(n, m, 1 / 8) + biases.causal(n, m)}
    bias = factory.get(name) or (biases.array(got["bias"]) if "bias" in got else None)
    scale, sink = (float(got[x]) if x in got else None for x in ("scale", "sink"))
    return Case(q, k, v, bias, scale, sink, got["out"], got["lse"])


def close(case: Case, state: State, cubic: bool = False) -> None:
    out, lse = state.out, state.lse
    if case.sink is not None:
        out, lse = with_sink(out, lse, case.sink)
    atol = 2e-4 * max(1.0, float(np.abs(case.v).max())) if cubic else 5e-6
    np.testing.assert_allclose(out, case.out, atol=atol, rtol=1e-5)
    np.testing.assert_allclose(lse, case.lse, atol=2e-4 if cubic else 5e-6, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tile", TILES)
def test_tiled(name: str, tile: tuple[int, int], cases: Path, compared: Callable[[int], None]) -> None:
    case = load(cases, name)
    for order in ORDERS.values():
        for rule in RULES.values():
            walk = tiled(case.q, case.k, case.v, case.tile(*tile), order, bias=case.bias, scale=case.scale, rule=rule)
            close(case, assemble(walk), cubic=rule is FA4_CUBIC)
            compared(2)


@pytest.mark.parametrize("name", NAMES)
def test_more_sram_changes_nothing(name: str, cases: Path, compared: Callable[[int], None]) -> None:
    case = load(cases, name)
    for order in ORDERS.values():
        sram = Sram(2, 3, 2, 3)
        walk = tiled(case.q, case.k, case.v, case.tile(4, 6), order, bias=case.bias, scale=case.scale, sram=sram)
        close(case, assemble(walk))
        compared(2)


@pytest.mark.parametrize("name", NAMES)
def test_standard_and_dense(name: str, cases: Path, compared: Callable[[int], None]) -> None:
    case = load(cases, name)
    close(case, assemble(standard(case.q, case.k, case.v, bias=case.bias, scale=case.scale)))
    got = dense(case.q, case.k, case.v, case.bias, case.scale)
    close(case, State(got.lse, np.where(np.isneginf(got.lse), 0, 1).astype(np.float32), got.out))
    compared(4)


@pytest.mark.parametrize("name", NAMES)
def test_fast(name: str, cases: Path, compared: Callable[[int], None]) -> None:
    case = load(cases, name)
    if case.sink is not None:
        pytest.skip("the fast path returns no lse, so it takes no sink")
    got = attend(case.q[None], case.k[None], case.v[None], bias=case.bias, scale=case.scale)[0]
    np.testing.assert_allclose(got, case.out, atol=5e-6, rtol=1e-5)
    compared(1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_split_kv(name: str, parts: int, cases: Path, compared: Callable[[int], None]) -> None:
    case = load(cases, name)
    rows, cols = case.tile(16, 5)
    parts = min(parts, -(-len(case.k) // cols))
    close(case, assemble(split_kv(case.q, case.k, case.v, (rows, cols), parts, bias=case.bias, scale=case.scale)))
    compared(2)


@pytest.mark.parametrize("name", NAMES)
def test_paged(name: str, cases: Path, compared: Callable[[int], None]) -> None:
    case = load(cases, name)
    m, rng = len(case.k), np.random.default_rng(1)
    for block in (1, 4, 16):
        table = rng.permutation(3 * m)[: -(-m // block)]
        pools = [np.full((3 * m, block, a.shape[1]), np.nan, np.float32) for a in (case.k, case.v)]
        for pool, a in zip(pools, (case.k, case.v), strict=True):
            for t in range(m):
                pool[table[t // block], t % block] = a[t]
        k, v = (Paged(pool, table.tolist(), m) for pool in pools)
        tile = case.tile(8, block)
        close(case, assemble(tiled(case.q, k, v, tile, bias=case.bias, scale=case.scale)))
        close(case, assemble(split_kv(case.q, k, v, tile, min(2, -(-m // tile[1])), bias=case.bias, scale=case.scale)))
        compared(4)


@pytest.mark.parametrize("name", ["plain", "ragged_causal", "alibi", "holes", "max_rises", "constant"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_ring(name: str, ranks: int, cases: Path, compared: Callable[[int], None]) -> None:
    case = load(cases, name)
    if -(-len(case.q) // -(-len(case.q) // ranks)) != ranks:
        pytest.skip(f"{len(case.q)} queries leave one of {ranks} ranks empty")
    close(case, assemble(ring(case.q, case.k, case.v, ranks, bias=case.bias)))
    compared(2)


def test_cascade(cases: Path, compared: Callable[[int], None]) -> None:
    """Three requests cut from `plain`'s queries share its keys; their suffixes are those of three cases."""
    shared, others = load(cases, "plain"), [load(cases, name) for name in ("constant", "max_rises", "plain")]
    qs = [shared.q[2 * b : 2 * b + 2] for b in range(3)]
    steps = cascade(qs, (shared.k, shared.v), [(c.k, c.v) for c in others], 7)
    stores = [s for s in steps if s.op == "store" and s.tensor == "O"]
    for b, (step, c) in enumerate(zip(stores, others, strict=True)):
        k, v = (np.concatenate(x).astype(np.float64) for x in ((shared.k, c.k), (shared.v, c.v)))
        want = dense(qs[b].astype(np.float64), k, v, biases.causal(2, len(k)))
        assert step.row == b
        assert step.state is not None
        np.testing.assert_allclose(step.state.out, want.out, atol=5e-6, rtol=1e-5)
        np.testing.assert_allclose(step.state.lse, want.lse, atol=5e-6, rtol=1e-5)
        compared(2)


def test_the_rules_differ() -> None:
    """Four rules that were one would make the tests above say nothing."""
    assert FA1.normalise
    assert not FA2.normalise
    assert (FA2.tau, FA4.tau) == (0, 8)
    assert FA4_CUBIC.exp is not FA4.exp
