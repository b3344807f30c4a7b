"""Attention sinks: one learned logit a head that takes weight and gives nothing.

gpt-oss (gpt_oss/torch/model.py) appends the logit to the scores and drops its column after the softmax. That is one
line on top of any algorithm that returns lse. StreamingLLM's sinks are other things:
the first tokens, kept beside a window.
"""

from __future__ import annotations

import numpy as np

from viz_core.attention.bias import Floats


def with_sink(out: Floats, lse: Floats, sink: float) -> tuple[Floats, Floats]:
    """out (…, n, dv) · σ(lse − sink) and the lse (…, n) that includes the sink's logit."""
    with np.errstate(over="ignore"):  # a row far below the sink: e^big = ∞, share 0
        share = 1 / (1 + np.exp(sink - lse))
    return out * share[..., None].astype(out.dtype), np.logaddexp(lse, sink)
