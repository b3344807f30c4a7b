"""llama.cpp's published scoreboard for LLaMA 3 8B: quoted, not computed here.

Source: tools/perplexity/README.md, "LLaMA 3 8b Scoreboard", revision f364eb6f (MIT).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PATH = Path(__file__).parent / "data" / "llama3_8b_kld.json"


@dataclass(frozen=True, slots=True)
class Quoted:
    """One row: type, importance matrix (or None), GiB, perplexity, mean KL divergence from FP16, rms Δp in percent."""

    name: str
    imatrix: str | None
    gib: float
    perplexity: float
    kl: float
    rms_dp: float


@cache
def scoreboard() -> tuple[Quoted, ...]:
    """All rows, in the order of the source."""
    rows = json.loads(PATH.read_text(encoding="utf-8"))["rows"]
    return tuple(Quoted(r["quant"], r["imatrix"], r["gib"], r["ppl"], r["kld"], r["rms_dp"]) for r in rows)
