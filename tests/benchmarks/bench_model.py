"""Speed of the model room, every ratio from one run: `python -m tests.benchmarks.bench_model [--peer PYTHON …]`.

SmolLM2 in float32 and int8, each in a bare process of its own: file to first token, decode at three lengths, prefill,
peak memory, and decode against the read bandwidth measured beside it. Peers (torch + transformers on the same GGUF,
llama.cpp through the xllamacpp wheel) run under the interpreters given by --peer, where those have them. Best of
several repeats on all sides, because other work on the machine only ever slows a run down; on one thread it is CPU
time, except of llama.cpp, which times itself by the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LENGTHS = (32, 256, 1024)
TOKENS = 12

CLOCK = """
import os, time
clock = time.process_time if os.environ["OMP_NUM_THREADS"] == "1" else time.perf_counter
"""
OURS = CLOCK + """
import json, resource, sys
start = float(sys.argv[1])
from pathlib import Path
from viz_core.model.generate import generate
from viz_core.model.library import load_path
model = load_path(Path(sys.argv[2]), sys.argv[3])
llama, ids = model.llama, model.encode("The capital of France is")
next(generate(llama, ids, 1))
out = {"first": time.time() - start, "loaded_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
weights = llama.head.nbytes + sum(x.nbytes for b in llama.blocks for x in (b.qkv, b.o, b.gate_up, b.down))
def best(n, run):
    times = []
    for _ in range(n):
        t = clock(); run(); times.append(clock() - t)
    return min(times)
TOKENS = int(sys.argv[4])
for m in json.loads(sys.argv[5]):
    cache = llama.new_cache(m + TOKENS + 1)
    llama.forward([100 + i % 40000 for i in range(m)], cache, last_only=True)
    out[f"decode@{m}"] = 1 / best(TOKENS, lambda: llama.forward([30], cache, last_only=True))
    out[f"bytes@{m}"] = weights + m * llama.config.kv_bytes_per_token
for n in (128, 512):
    ids = [100 + i for i in range(n)]
    out[f"prefill@{n}"] = n / best(3, lambda: llama.forward(ids, llama.new_cache(n), last_only=True))
out["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(out))
"""
BANDWIDTH = """
import json, time
import numpy as np
x, best = np.ones(1 << 26, np.float32), 1e9
for _ in range(12):
    t = time.perf_counter(); x.max(); best = min(best, time.perf_counter() - t)
print(json.dumps({"read": x.nbytes / best}))
"""
TORCH = CLOCK + """
import json, sys
start = float(sys.argv[1])
import torch
from transformers import AutoModelForCausalLM
torch.set_num_threads(int(sys.argv[3]))
path = sys.argv[2].rsplit("/", 1)
model = AutoModelForCausalLM.from_pretrained(path[0], gguf_file=path[1], dtype=torch.float32).eval()
TOKENS = int(sys.argv[4])
out = {}
with torch.inference_mode():
    model(torch.tensor([[504, 3575, 282, 4649, 314]]))
    out["first"] = time.time() - start
    for m in json.loads(sys.argv[5]):
        state = model(torch.tensor([[100 + i % 40000 for i in range(m)]]), use_cache=True, logits_to_keep=1)
        past, times = state.past_key_values, []
        for _ in range(TOKENS):
            t = clock()
            model(torch.tensor([[30]]), past_key_values=past, use_cache=True)
            times.append(clock() - t)
        out[f"decode@{m}"] = 1 / min(times)
    for n in (128, 512):
        times = []
        for _ in range(3):
            t = clock()
            model(torch.tensor([[100 + i for i in range(n)]]), use_cache=True, logits_to_keep=1)
            times.append(clock() - t)
        out[f"prefill@{n}"] = n / min(times)
print(json.dumps(out))
"""
LLAMA_CPP = """
import json, sys, time
start = float(sys.argv[1])
import xllamacpp
TOKENS = int(sys.argv[4])
wanted = xllamacpp.CommonParams()
wanted.model.path, wanted.n_ctx, wanted.n_parallel = sys.argv[2], 2048, 1
wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = int(sys.argv[3])
server = xllamacpp.Server(wanted)
def complete(n, tokens):
    asked = {"prompt": [100 + i % 40000 for i in range(n)], "n_predict": tokens, "temperature": 0}
    return server.handle_completions(asked | {"cache_prompt": False, "ignore_eos": True})["timings"]
complete(5, 1)
out = {"first": time.time() - start}
for m in json.loads(sys.argv[5]):
    out[f"decode@{m}"] = max(complete(m, TOKENS)["predicted_per_second"] for _ in range(3))
for n in (128, 512):
    out[f"prefill@{n}"] = max(complete(n, 1)["prompt_per_second"] for _ in range(3))
print(json.dumps(out))
"""


def run(python: str, script: str, *arguments: object, threads: int) -> dict[str, Any] | None:
    """The JSON that a script prints in a process of its own; None where it cannot run there."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    command = [python, "-c", textwrap.dedent(script), str(time.time()), *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else None


def line(name: str, threads: int, got: dict[str, Any], read: float) -> str:
    """One row of the table."""
    decode = " / ".join(f"{got[f'decode@{m}']:.1f}" for m in LENGTHS)
    prefill = " / ".join(f"{got[f'prefill@{n}']:.0f}" for n in (128, 512))
    memory = f"{got['loaded_mb']:.0f} / {got['peak_mb']:.0f}" if "peak_mb" in got else "–"
    roof = f"{got['decode@32'] * got['bytes@32'] / read:.2f}" if "bytes@32" in got else "–"
    return f"| {name} | {threads} | {got['first']:.2f} | {decode} | {prefill} | {memory} | {roof} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], metavar="PYTHON")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from viz_core.model import get

    path = get.held("smollm2")
    if path is None:
        print("skipped: SmolLM2 is not here; python -m viz_core.model.get smollm2")
        return 0
    print("| engine | threads | process to first token, s | decode @32 / 256 / 1024, tok/s | prefill 128 / 512, tok/s |"
          " loaded / peak, MB | bytes a token × tok/s ÷ read bandwidth |\n|---|---|---|---|---|---|---|")
    lengths, ours = json.dumps(LENGTHS), {}
    for threads in options.threads:
        read = (run(sys.executable, BANDWIDTH, threads=threads) or {})["read"]
        for precision in ("float32", "int8"):
            got = run(sys.executable, OURS, path, precision, TOKENS, lengths, threads=threads)
            assert got is not None
            ours[precision, threads] = got
            print(line(f"InferSight {precision}", threads, got, read), flush=True)
        for python in options.peer:
            for name, script in (("torch + transformers float32", TORCH), ("llama.cpp Q4_1", LLAMA_CPP)):
                got = run(python, script, path, threads, TOKENS, lengths, threads=threads)
                if got is None:
                    print(f"skipped: {name} does not run under {python}")
                    continue
                print(line(name, threads, got, read), flush=True)
                mine = ours["float32", threads]
                print(f"  float32 ÷ {name}: decode@32 {mine['decode@32'] / got['decode@32']:.2f}, "
                      f"prefill@512 {mine['prefill@512'] / got['prefill@512']:.2f}")
        print(f"  read bandwidth: {read / 1e9:.1f} GB/s (the better of max and dot over 256 MiB, one thread)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
