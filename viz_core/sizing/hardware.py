"""GPUs as two numbers each: what they compute and what they read a second.

Dense 16-bit matrix throughput (no sparsity) and memory bandwidth, from the makers' data sheets: NVIDIA A100 (80 GB SXM,
2021), H100 SXM (2023), H200 SXM (2024), HGX B200 (2024), Ada whitepaper (RTX 4090, 2022, FP32 accumulation), AMD
Instinct MI300X (2023). Sheets quote decimal units, so these are decimal too.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU: id, name, dense 16-bit FLOP/s, bytes/s of its memory, its memory in decimal GB, and the source."""

    id: str
    name: str
    flops: float
    bandwidth: float
    memory_gb: int
    source: str

    @property
    def ridge(self) -> float:
        """FLOPs a byte above which it is bound by computing (roofline: Williams, Waterman and Patterson 2009)."""
        return self.flops / self.bandwidth


GPUS: tuple[Gpu, ...] = (
    Gpu("a100", "A100 80 GB", 312e12, 2.039e12, 80, "NVIDIA A100 data sheet, 2021"),
    Gpu("h100", "H100 SXM", 989.4e12, 3.35e12, 80, "NVIDIA H100 data sheet, 2023"),
    Gpu("h200", "H200 SXM", 989.4e12, 4.8e12, 141, "NVIDIA H200 data sheet, 2024"),
    Gpu("b200", "B200", 2250e12, 8.0e12, 180, "NVIDIA HGX B200 data sheet, 2024"),
    Gpu("rtx4090", "RTX 4090", 165.2e12, 1.008e12, 24, "NVIDIA Ada whitepaper, 2022"),
    Gpu("mi300x", "MI300X", 1307.4e12, 5.3e12, 192, "AMD Instinct MI300X data sheet, 2023"),
)


def gpu(name: str) -> Gpu:
    """The GPU with this id; KeyError for an unknown one."""
    return {g.id: g for g in GPUS}[name]
