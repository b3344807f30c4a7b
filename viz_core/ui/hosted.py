"""Hosted mode: one environment variable, `INFERSIGHT_HOSTED=1`, for a public demo on a small machine."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What this server allows, in characters, tokens, MiB and steps of a paged run; `runs`: how many generations may go
    on at once.
    """

    hosted: bool
    prompt_chars: int
    new_tokens: int
    upload_mib: int
    by_path: bool
    downloads: bool
    runs: int
    steps: int


LOCAL = Limits(hosted=False, prompt_chars=100_000, new_tokens=256, upload_mib=200, by_path=True, downloads=True, runs=8,
               steps=100_000)
HOSTED = Limits(hosted=True, prompt_chars=2_000, new_tokens=64, upload_mib=5, by_path=False, downloads=False, runs=2,
                steps=5_000)


def limits() -> Limits:
    """The limits in force; read at every call, so that a test can switch them."""
    return HOSTED if os.environ.get("INFERSIGHT_HOSTED", "").lower() in ("1", "true", "yes") else LOCAL
