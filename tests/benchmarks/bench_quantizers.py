"""Throughput against bitsandbytes, torchao and gguf-py in one run: `python -m tests.benchmarks.bench_quantizers`.

CPU time of one thread, million float32 values a second, best of five. A peer that is not installed is named and left
out. `--values` sets the tensor's size (default 16.8 M, a 4096 × 4096 weight), `--only` picks formats. The machine's and
NumPy's own limits come first, and beside a format the floor of the passes that it cannot do without.
"""

from __future__ import annotations

import argparse
import importlib
import os
import time
from collections.abc import Callable
from functools import cache
from types import ModuleType

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from tests.benchmarks.quantizer_limits import floors, limits
from viz_core.quantizers import ggml
from viz_core.quantizers.format import Format
from viz_core.quantizers.ggml_decode import decode
from viz_core.quantizers.nibbles import pack_nibbles
from viz_core.quantizers.registry import FORMATS, asymmetric

Work = Callable[[], object]


def speed(work: Work, values: int) -> float:
    """Million values a second of CPU time, best of five after one warm-up."""
    work()
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return values / best / 1e6


def module(name: str) -> ModuleType | None:
    try:
        found = importlib.import_module(name)
    except Exception as error:
        print(f"# {name} left out: {type(error).__name__}")
        return None
    return found


def ours(x: np.ndarray) -> dict[str, tuple[Work, Work]]:
    """Quantize (packed where the peer packs) and dequantize, by name."""
    out: dict[str, tuple[Work, Work]] = {}

    def add(name: str, form: Format, pack: Callable | None = None) -> None:
        done = cache(lambda: form.quantize(x))
        out[name] = (lambda: (pack or (lambda q: q.codes))(form.quantize(x)), lambda: done().blocks)

    def add_ggml(name: str) -> None:
        packed = cache(lambda: ggml.pack(ggml.GGML[name].quantize(x)))
        out[name] = (packed.__wrapped__, lambda: decode(name, packed(), x.shape))

    low, high = (lambda q: pack_nibbles(q.codes, high_first=False)), (lambda q: pack_nibbles(q.codes, high_first=True))
    add("NF4 b64", FORMATS["NF4"], high)
    add("MXFP4", FORMATS["MXFP4"], low)
    add("NVFP4", FORMATS["NVFP4"], low)
    add("MXFP8 E4M3", FORMATS["MXFP8 E4M3"])
    add("int8 channel", FORMATS["int8 row"])
    add("int4 g128", asymmetric(4, 128), low)
    add_ggml("Q4_0")
    add_ggml("Q8_0")
    for name in ("Q4_K", "Q6_K", "IQ4_NL"):
        add(name, FORMATS[name])
    return out


def bitsandbytes_peer(x: np.ndarray) -> dict[str, tuple[Work, Work]]:
    torch, bnb = module("torch"), module("bitsandbytes.functional")
    if torch is None or bnb is None:
        return {}
    torch.set_num_threads(1)
    t = torch.from_numpy(x)
    packed, state = bnb.quantize_4bit(t, blocksize=64, quant_type="nf4")
    return {
        "NF4 b64": (
            lambda: bnb.quantize_4bit(t, blocksize=64, quant_type="nf4"),
            lambda: bnb.dequantize_4bit(packed, state),
        )
    }


def torchao_peer(x: np.ndarray) -> dict[str, tuple[Work, Work]]:
    torch, primitives = module("torch"), module("torchao.quantization.quant_primitives")
    if torch is None or primitives is None:
        return {}
    torch.set_num_threads(1)
    t, out = torch.from_numpy(x), {}

    def affine(name: str, block: tuple[int, int], kind: object, dtype: object, lo: int, hi: int, pack: bool) -> None:
        def quantize() -> tuple:
            scale, zero = primitives.choose_qparams_affine(t, kind, block, dtype, lo, hi, scale_dtype=torch.float32)
            codes = primitives.quantize_affine(t, block, scale, zero, dtype, lo, hi)
            return (codes[:, ::2] | codes[:, 1::2] << 4 if pack else codes), codes, scale, zero

        _, codes, scale, zero = quantize()
        undo = lambda: primitives.dequantize_affine(codes, block, scale, zero, dtype, lo, hi)  # noqa: E731
        out[name] = (quantize, undo)

    kinds = primitives.MappingType
    affine("int8 channel", (1, x.shape[1]), kinds.SYMMETRIC, torch.int8, -127, 127, pack=False)
    affine("int4 g128", (1, 128), kinds.ASYMMETRIC, torch.uint8, 0, 15, pack=True)
    mx, nv = module("torchao.prototype.mx_formats.mx_tensor"), module("torchao.prototype.mx_formats.nvfp4_tensor")
    if mx is not None:
        for name, dtype in (("MXFP4", torch.float4_e2m1fn_x2), ("MXFP8 E4M3", torch.float8_e4m3fn)):
            scale, codes = mx.to_mx(t, dtype, 32)
            out[name] = (
                lambda dtype=dtype: mx.to_mx(t, dtype, 32),
                lambda dtype=dtype, s=scale, c=codes: mx.to_dtype(c, s, dtype, 32, torch.float32),
            )
    if nv is not None:
        tensor_scale = nv.per_tensor_amax_to_scale(t.abs().max())
        out["NVFP4"] = (lambda: nv.nvfp4_quantize(t, 16, tensor_scale), None)
    return out


def gguf_peer(x: np.ndarray) -> dict[str, tuple[Work, Work]]:
    gguf = module("gguf")
    if gguf is None:
        return {}
    out = {}
    for name in ("Q4_0", "Q8_0", "MXFP4"):
        kind = gguf.GGMLQuantizationType[name]
        packed = gguf.quants.quantize(x, kind)
        out[name] = (
            lambda kind=kind: gguf.quants.quantize(x, kind),
            lambda kind=kind, packed=packed: gguf.quants.dequantize(packed, kind),
        )
    out["Q4_K"] = (None, _decoding(gguf, x, "Q4_K"))
    out["Q6_K"] = (None, _decoding(gguf, x, "Q6_K"))
    return out


def _decoding(gguf: ModuleType, x: np.ndarray, name: str) -> Work:
    packed = cache(lambda: ggml.pack(ggml.GGML[name].quantize(x)))
    return lambda: gguf.quants.dequantize(packed(), gguf.GGMLQuantizationType[name])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--values", type=int, default=1 << 24)
    parser.add_argument("--only", nargs="*", metavar="FORMAT")
    given, width = parser.parse_args(), 4096
    x = np.random.default_rng(0).standard_normal((given.values // width, width)).astype(np.float32) * 0.02
    peers = {"bitsandbytes": bitsandbytes_peer(x), "torchao": torchao_peer(x), "gguf-py": gguf_peer(x)}
    peers["NumPy's own floor,"] = floors(x)
    print(f"# {x.size:,} values; million a second of CPU time, one thread")
    for what, walk in limits(x).items():
        print(f"{speed(walk, x.size):9.0f} {what}")
    print(f"{'format':14s} {'quantize':>9s} {'dequantize':>11s}")
    for name, (quantize, dequantize) in ours(x).items():
        if given.only and name not in given.only:
            continue
        fast, back = speed(quantize, x.size), speed(dequantize, x.size)
        print(f"{name:14s} {fast:9.0f} {back:11.0f}")
        for peer, works in peers.items():
            for i, (mine, word) in enumerate(((fast, "quantize"), (back, "dequantize"))):
                work = works.get(name, (None, None))[i]
                if work is not None:
                    theirs = speed(work, x.size)
                    print(f"{'':14s} {mine / theirs:8.1f} × {peer} {word} ({theirs:.0f})")


if __name__ == "__main__":
    main()
