"""Text that the bundled model was never trained on: to measure what quantizing does to it.

Chapters of the King James text (copyright expired) and Tang poems (npm `chinese-poetry` 2.0.1, MIT) from the held-out
side of the training split, see bundled/README.md.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from viz_core.i18n import Lang

PATH = Path(__file__).parent / "held_out.json"


@cache
def held_out(lang: Lang) -> tuple[str, ...]:
    """The documents of one language, each to be read from its start."""
    return tuple(json.loads(PATH.read_text(encoding="utf-8"))[lang])
