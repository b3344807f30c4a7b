"""Rotary positions (Su et al. 2021, arXiv 2104.09864) in the rotate-half layout of Hugging Face models.

Channel i and channel i + d/2 of a head turn together by position · θ^(−2i/d). Scalings: linear (position ÷ factor) and
llama3 (Llama 3.1: low frequencies ÷ factor, high ones kept, a ramp between), as in transformers 5.x
`modeling_rope_utils`.
Left out: dynamic, yarn and longrope, which are named and refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.fields import real, whole
from viz_core.model.notes import shown


@dataclass(frozen=True, slots=True)
class Rope:
    """θ, head width and scaling of the rotary positions; `low`, `high` and `trained` belong to llama3.

    divisors: one number a channel pair, as GGUF files store llama3's result; in place of all else.
    """

    theta: float
    d_head: int
    scaling: str = "default"
    factor: float = 1.0
    low: float = 1.0
    high: float = 4.0
    trained: int = 8192
    divisors: tuple[float, ...] = ()

    @classmethod
    def from_hf(cls, table: Mapping[str, Any], d_head: int) -> Rope:
        """From `rope_theta` and `rope_scaling`, or from their newer common home `rope_parameters`."""
        scaling = table.get("rope_parameters") or table.get("rope_scaling") or {}
        if not isinstance(scaling, Mapping):
            raise Problem("model_config_number", name="rope_scaling", value=shown(scaling))
        theta = real(scaling if "rope_theta" in scaling else table, "rope_theta", 10000.0)
        kind = scaling.get("rope_type", scaling.get("type", "default"))
        if kind == "default":
            return cls(theta, d_head)
        if kind == "linear":
            return cls(theta, d_head, "linear", real(scaling, "factor"))
        if kind != "llama3":
            raise Problem("model_rope_scaling", name=shown(kind))
        trained = whole(scaling, "original_max_position_embeddings", 8192, most=2**40)
        low, high = real(scaling, "low_freq_factor"), real(scaling, "high_freq_factor")
        if high <= low:
            raise Problem("model_config_range", name="high_freq_factor", value=high, least=low, most="∞")
        return cls(theta, d_head, "llama3", real(scaling, "factor"), low, high, trained)

    def frequencies(self) -> np.ndarray:
        """Radians a token of each channel pair, float64 (d_head / 2,), fastest first."""
        plain = self.theta ** (-np.arange(0, self.d_head, 2) / self.d_head)
        if self.divisors:
            return plain / np.array(self.divisors)
        if self.scaling != "llama3":
            return plain / self.factor
        turns = self.trained * plain / (2 * np.pi)  # full turns within the trained context
        keep = np.clip((turns - self.low) / (self.high - self.low), 0, 1)
        return keep * plain + (1 - keep) * plain / self.factor

    def table(self, first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """What `rotate` multiplies positions first … stop − 1 by, float32 (n, 1, 2, d_head / 2) each.

        (cos, cos) for the two halves of a head, and (−sin, sin) for the halves that change places.
        """
        angle = np.outer(np.arange(first, stop), self.frequencies())
        cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
        return np.stack([cos, cos], 1)[:, None], np.stack([-sin, sin], 1)[:, None]


def rotate(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """x (n, heads, d) turned by a `Rope.table`: the pairs are (x[i], x[i + d/2])."""
    halves = x.reshape(*x.shape[:-1], 2, -1)
    out = halves * cos
    out += halves[..., ::-1, :] * sin
    return out.reshape(x.shape)
