"""What single heads do, as numbers: previous-token, sink and induction scores, and how much of a repeated sequence is
copied.

All scores are mean attention weights, one per (layer, head), measured with explicit softmax maps:

* previous token: weight of query i on key i − 1, mean over queries >= 4 of held-out text;
* sink: weight on token 0 (``<s>``), mean over queries >= 4 of held-out text;
* induction: on ``<s>`` + 50 random tokens said twice, weight of a query in the second half on the key *after* the
  earlier occurrence of its own token (49 back), mean over the second half;
* copied: on the same sequences, share of the second half's tokens that the model ranks first (the first one left
  out: nothing announces it)."""

from __future__ import annotations

import torch
from model import Llama
from torch import Tensor


@torch.no_grad()
def previous_token_and_sink(model: Llama, batches: list[Tensor], length: int = 192) -> tuple[Tensor, Tensor]:
    """Two (layers, heads) arrays from batches of held-out rows, each row starting with ``<s>``."""
    previous, sink = [], []
    for ids in batches:
        maps: list[Tensor] = []
        model(ids[:, :length], maps)
        a = torch.stack(maps)  # (layers, B, H, T, T)
        previous.append(a.diagonal(-1, -2, -1)[..., 3:].mean((1, 3)))
        sink.append(a[..., 4:, 0].mean((1, 3)))
    return torch.stack(previous).mean(0), torch.stack(sink).mean(0)


@torch.no_grad()
def induction(model: Llama, sequences: int = 20, period: int = 50, seed: int = 1) -> tuple[float, Tensor]:
    """(share copied, induction score of every (layer, head)) on random sequences said twice."""
    generator = torch.Generator().manual_seed(seed)
    piece = torch.randint(2, model.config.vocab, (sequences, period), generator=generator)
    ids = torch.cat([torch.zeros(sequences, 1, dtype=torch.long), piece, piece], 1)
    maps: list[Tensor] = []
    logits = model(ids, maps)
    queries = torch.arange(period + 1, 2 * period)  # tokens of the second half whose successor is known
    copied = (logits[:, queries].argmax(-1) == ids[:, queries + 1]).float().mean()
    return float(copied), torch.stack(maps)[:, :, :, queries, queries - period + 1].mean((1, 3))
