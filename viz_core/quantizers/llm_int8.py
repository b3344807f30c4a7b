"""LLM.int8() (arXiv 2208.07339): int8 rows, with the outlier columns taken out and kept in FP16.

As bitsandbytes 0.50.2 `int8_vectorwise_quant` on a CPU: the row scale passes over single values at or above the
threshold, and whole columns that hold one are coded zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viz_core.i18n import Problem


@dataclass(frozen=True)
class Split:
    """int8 codes (rows, columns), the largest magnitude of each row (rows,), and the columns kept apart."""

    codes: np.ndarray
    peaks: np.ndarray
    outliers: np.ndarray
    kept: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """What the product sees, float32: code · peak / 127, outlier columns as FP16 keeps them."""
        values = self.codes * (self.peaks[:, None] * np.float32(1 / 127))
        values[:, self.outliers] = self.kept
        return values


def split(x: np.ndarray, threshold: float = 6.0) -> Split:
    """`x` (rows, columns) as LLM.int8() holds it; threshold 0 keeps nothing apart."""
    if x.ndim != 2:
        raise Problem("quantizers_matrix", shape=" × ".join(map(str, x.shape)))
    x = x.astype(np.float32)
    large = np.abs(x) >= threshold if threshold > 0 else np.zeros(x.shape, bool)
    outliers = np.flatnonzero(large.any(axis=0))
    peaks = np.abs(np.where(large, 0, x)).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        codes = np.rint(x * np.where(peaks > 0, np.float32(127) / peaks, 0)[:, None])
    codes[:, outliers] = 0
    kept = x[:, outliers].astype(np.float16).astype(np.float32)
    return Split(np.clip(np.nan_to_num(codes), -127, 127).astype(np.int8), peaks, outliers, kept)
