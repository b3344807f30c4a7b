"""Cascade: a prefix that a whole batch shares is read once, then each request's own keys, then one `|` a request.

FlashInfer's recursive attention (docs/tutorials/recursive_attention.rst). Left out: more than two levels, which are
more `|` of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from viz_core.attention.bias import Floats, causal
from viz_core.attention.paged import Keys
from viz_core.attention.split import partial_bytes
from viz_core.attention.state import State
from viz_core.attention.tiled import Step, tiled
from viz_core.i18n import Problem

KV = tuple[Keys, Keys]


def cascade(qs: Sequence[Floats], prefix: KV, suffixes: Sequence[KV], cols: int, *, e: int = 2) -> Iterator[Step]:
    """Steps of one stacked walk over the prefix (k, v), then of each request's walk over its suffix (k, v).

    qs: one (n, d) a request, the last query at the last key of its suffix; cols: keys a tile. In the second part row =
    request. Raises Problem for unequal numbers of queries, or of requests and suffixes.
    """
    n = len(qs[0]) if qs else 0
    if any(len(q) != n for q in qs) or len(qs) != len(suffixes) or not qs:
        raise Problem("attention_cascade", queries=len(qs), suffixes=len(suffixes))
    rows, shared = n * len(qs), None
    for step in tiled(np.concatenate(qs), *prefix, (rows, min(cols, len(prefix[0]))), e=e):
        if step.op == "store" and step.state is not None:
            shared = step.state
            step = replace(step, tensor="part", bytes=partial_bytes(rows, shared.o.shape[1]))
        yield step
    assert shared is not None
    for b, (q, suffix) in enumerate(zip(qs, suffixes, strict=True)):
        of = slice(b * n, b * n + n)
        yield from _suffix(b, q, suffix, State(shared.m[of], shared.l[of], shared.o[of]), cols, e)


def _suffix(b: int, q: Floats, kv: KV, shared: State, cols: int, e: int) -> Iterator[Step]:
    """Request b's own keys, joined with what the prefix gave it."""
    k, v = kv
    yield Step("load", "part", b, 0, partial_bytes(len(q), v.shape[1]))
    for step in tiled(q, k, v, (len(q), min(cols, len(k))), bias=causal(len(q), len(k)), e=e):
        row = None if step.row is None else b
        if step.op == "store" and step.state is not None:
            whole = step.state | shared
            yield Step("merge", "O", b, None, 0, 0, whole)
            yield Step("store", "O", b, None, step.bytes, 0, whole)
        else:
            yield replace(step, row=row)
