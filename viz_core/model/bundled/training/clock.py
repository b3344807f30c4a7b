"""When a training run changes its phase and its rate: by wall clock, for a shared machine has no known speed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(slots=True)
class Clock:
    """When the run and its text phase began and when all must end (Unix times)."""

    began: float
    deadline: float
    text_from: float | None = None
    long: float = 0.2

    def phase(self, now: float) -> str:
        """``copy``, ``text`` or ``long``."""
        if self.text_from is None:
            return "copy"
        return "long" if now > self.deadline - self.long * (self.deadline - self.began) else "text"

    def rate(self, now: float) -> float:
        """Factor on the learning rates: 1 in the copy phase, then linear in time down to 0.02."""
        if self.text_from is None:
            return 1.0
        left = (self.deadline - now) / max(self.deadline - self.text_from, 1)
        return 0.02 + 0.98 * min(max(left, 0), 1)


def read_deadline(text: str) -> float:
    """Unix time of an ISO date and time in local time."""
    return datetime.fromisoformat(text.strip()).timestamp()
