"""Muon: momentum whose update is orthogonalised, for the matrices inside the layers (Keller Jordan, 2024).

A matrix's momentum is replaced by the nearest (semi-)orthogonal matrix, found with five Newton–Schulz steps, so
every direction of the update has the same size. Matrices of one shape are stacked and handled in one batched
product; on a CPU with bfloat16 instructions the products run in bfloat16. Embedding and norm weights belong to
AdamW instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor


def orthogonalise(g: Tensor, steps: int = 5) -> Tensor:
    """Newton–Schulz iteration on a batch (N, rows, columns) with rows <= columns: singular values move close to 1."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.bfloat16()
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        s = x @ x.mT
        x = a * x + (b * s + c * s @ s) @ x
    return x.float()


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised update, decoupled weight decay (the same fraction of ``lr`` for all)."""

    def __init__(
        self, params: Iterable[Tensor], lr: float = 0.02, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:
        """Apply one update from the gradients at hand."""
        for group in self.param_groups:
            stacks = defaultdict(list)
            for p in group["params"]:
                state = self.state[p]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(p)
                state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                g = p.grad.lerp(state["momentum"], group["momentum"])  # Nesterov: look one step ahead
                wide = g if g.shape[0] <= g.shape[1] else g.T
                stacks[wide.shape].append((p, wide))
            for pairs in stacks.values():
                updates = orthogonalise(torch.stack([wide for _, wide in pairs]))
                for (p, wide), update in zip(pairs, updates, strict=True):
                    update = update if wide.shape == p.shape and p.shape[0] <= p.shape[1] else update.T
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.add_(update, alpha=-group["lr"] * max(1, p.shape[0] / p.shape[1]) ** 0.5)
