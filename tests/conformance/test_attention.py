"""Every algorithm against float64 dense attention: huge logits, holes, sentinels, rising maxima."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from viz_core.attention import bias as biases
from viz_core.attention.bias import Bias
from viz_core.attention.dense import dense
from viz_core.attention.fast import attend

NAMES = ["plain", "one_token", "one_key", "ragged_causal", "alibi", "holes", "huge_logits", "sentinel_trap"]
NAMES += ["max_rises", "constant", "sink"]


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


def load(folder: Path, name: str) -> Case:
    path = folder / "attention" / "attention.npz"
    if not path.exists():
        pytest.skip(f"no {path}")
    with np.load(path) as z:
        if f"{name}.q" not in z:
            pytest.skip(f"{path} has no case {name}")
        got = {key.split(".")[1]: z[key] for key in z if key.startswith(name + ".")}
    arrays = (got[x] for x in "qkv")
    numbers = (float(got[x]) if x in got else None for x in ("scale", "sink"))
    return Case(*arrays, biases.array(got["bias"]) if "bias" in got else None, *numbers, got["out"], got["lse"])


def close(got: np.ndarray, want: np.ndarray) -> None:
    np.testing.assert_allclose(got, want, atol=5e-6, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_dense(name: str, cases: Path, compared: Callable[[int], None]) -> None:
    case = load(cases, name)
    if case.sink is not None:
        pytest.skip("dense has no sink")
    got = dense(case.q, case.k, case.v, case.bias, case.scale)
    close(got.out, case.out)
    close(got.lse, case.lse)
    compared(2)


@pytest.mark.parametrize("name", NAMES)
def test_fast(name: str, cases: Path, compared: Callable[[int], None]) -> None:
    case = load(cases, name)
    if case.sink is not None:
        pytest.skip("the fast path has no sink")
    close(attend(case.q[None], case.k[None], case.v[None], bias=case.bias, scale=case.scale)[0], case.out)
    compared(1)
