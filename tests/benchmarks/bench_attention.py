"""Attention on one thread: the fast path and the walk beside torch's CPU flash attention and textbook NumPy.

Run by hand: `python -m tests.benchmarks.bench_attention [--sizes 4096x1,4096x8] [--repeats 5] [--memory]`. Every
figure is CPU time (process_time) in this one run, the median of the repeats, the contenders taking turns; torch is
optional. --memory measures the peak of extra memory of each contender at the last size, in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402 the thread limits come first

from viz_core.attention.fast import attend  # noqa: E402
from viz_core.attention.record import record  # noqa: E402
from viz_core.attention.tiled import tiled  # noqa: E402

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None

D = 64
Contender = Callable[[], object]


def textbook(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """softmax(q kᵀ) v for all heads at once, as a first lesson writes it."""
    s = q @ k.swapaxes(1, 2) / np.sqrt(np.float32(q.shape[-1]))
    if causal:
        s = np.where(np.tri(q.shape[1], dtype=bool), s, np.float32(-np.inf))
    p = np.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True)) @ v


def contenders(n: int, heads: int, causal: bool) -> dict[str, Contender]:
    """Everyone on the same random q, k, v."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((heads, n, D), np.float32) for _ in range(3))
    out: dict[str, Contender] = {"fast": lambda: attend(q, k, v, causal=causal)}
    if n * n * heads <= 8 * 4096**2:
        out["textbook"] = lambda: textbook(q, k, v, causal)
    if torch is not None:
        tq, tk, tv = (torch.from_numpy(x)[None] for x in (q, k, v))
        sdpa = torch.nn.functional.scaled_dot_product_attention
        out["torch"] = lambda: sdpa(tq, tk, tv, is_causal=causal)
    return out


def cpu(call: Contender) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def peak_gemm() -> float:
    """GFLOP/s of one 1024³ float32 product."""
    a = np.ones((1024, 1024), np.float32)
    return 2 * 1024**3 / min(cpu(lambda: a @ a) for _ in range(5)) / 1e9


def compare(n: int, heads: int, causal: bool, repeats: int) -> None:
    who = contenders(n, heads, causal)
    times: dict[str, list[float]] = {name: [] for name in who}
    for call in who.values():
        call()
    for _ in range(repeats):
        for name, call in who.items():
            times[name].append(cpu(call))
    mid = {name: median(t) for name, t in times.items()}
    work = 4 * n * n * D * heads / (2 if causal else 1) / 1e9
    line = " ".join(f"{name} {1e3 * t:8.1f} ms {work / t:5.1f} GF/s |" for name, t in mid.items())
    ratios = ", ".join(f"fast/{name} {mid['fast'] / mid[name]:.2f}" for name in mid if name != "fast")
    print(f"n {n:5d} heads {heads} {'causal' if causal else 'full  '} {line} {ratios}", flush=True)


def walk(repeats: int) -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((4096, D), np.float32) for _ in range(3))
    times = [cpu(lambda: record(tiled(q, k, v, (64, 64)), 700, 64)) for _ in range(repeats)]
    print(f"walk of 4096 queries in tiles of 64 x 64, recorded: {median(times):.3f} s")


def decode(repeats: int) -> None:
    rng = np.random.default_rng(0)
    for heads, kv, m in ((4, 4, 64), (9, 3, 64), (9, 3, 512), (32, 8, 2048)):
        q, k, v = (rng.standard_normal((h, x, D), np.float32) for h, x in ((heads, 1), (kv, m), (kv, m)))
        calls = max(20, 40_000 // m)
        t = median(cpu(lambda: [attend(q, k, v, causal=True) for _ in range(calls)]) / calls for _ in range(repeats))  # noqa: B023
        print(f"decode, {heads} heads, {kv} KV heads, {m} keys: {1e6 * t:.1f} us a call")


def high_water() -> float:
    """The most memory this process has held, MiB (Linux). getrusage would also count what its parent held."""
    text = Path("/proc/self/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def extra(name: str, n: int, heads: int) -> None:
    """In a fresh process: how far one contender's call raises the high-water mark, its output included."""
    contenders(64, 1, False)[name]()  # libraries and thread pools are up
    call = contenders(n, heads, False)[name]
    before = high_water()
    call()
    print(f"{name}: {high_water() - before:.0f} MiB extra at {n} x {heads}, output included", flush=True)


def memory(n: int, heads: int) -> None:
    """`extra` of each contender that is here, each in a process of its own."""
    for name in contenders(n, heads, False):
        code = f"from tests.benchmarks import bench_attention as b; b.extra({name!r}, {n}, {heads})"
        subprocess.run([sys.executable, "-c", code], check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1024x8,4096x1,4096x8,8192x1,8192x8")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--memory", action="store_true")
    args = parser.parse_args()
    sizes = [tuple(map(int, s.split("x"))) for s in args.sizes.split(",")]
    peer = "torch is absent: its column is skipped" if torch is None else f"torch {torch.__version__}"
    print(f"float32 GEMM peak {peak_gemm():.0f} GF/s; {peer}")
    for n, heads in sizes:
        for causal in (False, True):
            compare(n, heads, causal, args.repeats)
    walk(args.repeats)
    decode(args.repeats)
    if args.memory:
        memory(*sizes[-1])


if __name__ == "__main__":
    main()
