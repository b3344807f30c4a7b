"""A training run: what a checkpoint holds, how a step changes it, and where it can begin."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

import torch
from clock import Clock
from model import Config, Llama
from muon import Muon
from safetensors.torch import load_file


@dataclass(slots=True)
class Run:
    """Model, moving average of its weights, both optimisers: everything a checkpoint holds."""

    model: Llama
    average: Llama
    muon: Muon
    adam: torch.optim.AdamW
    step: int = 0
    first: int = 0  # step at which the optimisers were fresh
    tokens: int = 0
    seconds: float = 0.0
    base: list[float] = field(default_factory=list)

    @classmethod
    def new(cls, muon_rate: float, adam_rate: float, decay: float) -> Run:
        """A fresh model with its optimisers."""
        model, average = Llama(Config()), Llama(Config())
        average.load_state_dict(model.state_dict())
        matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
        others = [p for n, p in model.named_parameters() if not (p.ndim == 2 and "embed" not in n)]
        adam = torch.optim.AdamW(others, lr=adam_rate, betas=(0.9, 0.99), weight_decay=0.0, fused=True)
        return cls(model, average, Muon(matrices, lr=muon_rate, weight_decay=decay), adam, base=[muon_rate, adam_rate])

    def update(self, factor: float) -> None:
        """One optimiser step from the gradients at hand, and the moving average."""
        warm = min(1.0, (self.step - self.first + 1) / 100)
        torch.nn.utils.clip_grad_norm_(self.adam.param_groups[0]["params"], 1.0)
        for optimiser, rate in zip((self.muon, self.adam), self.base, strict=True):
            optimiser.param_groups[0]["lr"] = rate * warm * factor
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        keep = min(0.995, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.model.parameters()), 1 - keep)
        self.step += 1

    def save(self, path: Path, clock: Clock) -> None:
        """Write the checkpoint in one step, so that a crash never leaves half a file."""
        state = {k: getattr(self, k).state_dict() for k in ("model", "average", "muon", "adam")}
        state |= {"step": self.step, "first": self.first, "tokens": self.tokens, "seconds": self.seconds}
        state |= {"clock": [clock.began, clock.text_from]}
        torch.save(state, path.with_suffix(".tmp"))
        path.with_suffix(".tmp").replace(path)

    def restore(self, path: Path, clock: Clock) -> None:
        """Go on from a checkpoint."""
        state = torch.load(path, weights_only=True)
        for k in ("model", "average", "muon", "adam"):
            getattr(self, k).load_state_dict(state[k])
        self.step, self.first, self.tokens, self.seconds = (state[k] for k in ("step", "first", "tokens", "seconds"))
        clock.began, clock.text_from = state["clock"]

    def start_from(self, folder: Path, out: Path) -> None:
        """Weights of an exported model; its log, copied to ``out``, says how far it had come."""
        weights = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
        self.model.load_state_dict(weights)
        self.average.load_state_dict(weights)
        text = (folder / "training_log.csv").read_text("utf-8")
        last = list(csv.DictReader(text.splitlines()))[-1]
        self.step = self.first = int(last["step"])
        self.tokens, self.seconds = int(last["tokens"]), float(last["seconds"])
        (out / "training_log.csv").write_text(text, "utf-8")
