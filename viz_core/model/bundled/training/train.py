"""Train the bundled model against the clock, on one CPU core.

The rows are described in corpus.py.

Three phases, planned by wall clock because a shared machine's speed cannot be known
------------------------------------------------------------------------------------
1. ``copy``: half of the rows are repeat rows, rows of 192, constant rate, until more than 95 % of a repeated random
   sequence is copied (or until ``--copy-limit`` of the time is gone);
2. ``text``: 15 % repeat rows, the rate falls linearly with the clock to 2 % at the deadline;
3. ``long``: the last ``--long`` of the time uses rows of 512, so that the model learns positions up to its context.

An earlier trial (Muon rate 0.02, weight decay 0.02, AdamW beta2 0.95, all piece lengths equally often) did not copy
within 10.9 M tokens: the residual stream had grown to 600 times the embedding (rms 78 against 0.13). Which of the
changes mattered was not isolated. English fell faster at the higher rate (1.50 bits a byte after 8.6 M tokens, here
1.63).

Training further
----------------
``--start-from FOLDER`` begins with the weights exported to a folder and goes on where its training_log.csv ends: with
the text phase, a warm-up of 100 steps and fresh optimiser states.

The run can be stopped and resumed: checkpoint.pt holds weights, their moving average, both optimisers and the
clock. A file named ``deadline`` in the run folder (same form as the argument) moves the deadline while the run goes
on.

Usage: ``python viz_core/model/bundled/training/train.py --data data --out run --deadline 2027-01-31T22:10``
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np
import torch
from corpus import IGNORE, Corpus, validation_rows
from model import Config, Llama
from muon import Muon
from probes import induction, previous_token_and_sink
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

TOKENS_PER_STEP = 3072  # 16 rows of 192 or 6 of 512
COLUMNS = [
    "step", "tokens", "seconds", "phase", "row_length", "learning_rate", "train_loss", "val_en_bits_per_byte",
    "val_zh_bits_per_byte", "copied_percent", "induction", "sink", "previous_token",
]  # fmt: skip


@torch.no_grad()
def bits_per_byte(model: Llama, rows: tuple[Tensor, Tensor, int], every: int = 1, batch: int = 16) -> float:
    """Held-out loss in bits per UTF-8 byte; ``every`` > 1 reads every n-th row only, bytes scaled with the tokens."""
    x, y, size = rows
    total = (y != IGNORE).sum()
    x, y = x[::every], y[::every]
    order = (y != IGNORE).sum(1).argsort()  # rows of like length together, so that padding can be cut off
    nats = 0.0
    for part in order.split(batch):
        keep = int((y[part] != IGNORE).sum(1).max())
        nats += float(model.token_losses(x[part, :keep], y[part, :keep]).sum())
    return nats / math.log(2) / (size * float((y != IGNORE).sum() / total))


# ---- schedule ----
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


# ---- the run ----
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


def evaluate(run: Run, val: dict, every: int) -> dict[str, float]:
    """The numbers of one log row, from the moving average of the weights."""
    copied, head = induction(run.average, sequences=4)
    previous, sink = previous_token_and_sink(run.average, [val[lang][0][:4] for lang in ("en", "zh")])
    with torch.autocast("cpu", torch.bfloat16):
        bits = {lang: bits_per_byte(run.average, rows, every) for lang, rows in val.items()}
    return {
        "val_en_bits_per_byte": bits["en"], "val_zh_bits_per_byte": bits["zh"], "copied_percent": 100 * copied,
        "induction": float(head.max()), "sink": float(sink.max()), "previous_token": float(previous.max()),
    }  # fmt: skip


def main() -> None:
    """Read the arguments and do the work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder with the documents and tokenizer.json")
    parser.add_argument("--out", type=Path, default=Path("run"), help="folder for checkpoints and training_log.csv")
    parser.add_argument("--start-from", type=Path, help="folder with an exported model and its training_log.csv")
    parser.add_argument("--deadline", required=True, help="when to be done, local time, e.g. 2027-01-31T22:10")
    parser.add_argument("--copy-limit", type=float, default=0.6, help="share of the time the copy phase may take")
    parser.add_argument("--long", type=float, default=0.15, help="share of the time for rows of 512, at the end")
    parser.add_argument("--english", type=float, default=0.42, help="share of the text rows that are English")
    parser.add_argument("--copy-repeats", type=float, default=0.5, help="share of repeat rows in the copy phase")
    parser.add_argument("--repeats", type=float, default=0.15, help="share of repeat rows after the copy phase")
    parser.add_argument("--muon-rate", type=float, default=0.01)
    parser.add_argument("--adam-rate", type=float, default=0.008)
    parser.add_argument("--weight-decay", type=float, default=0.05)
    parser.add_argument("--log-every", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0, help="stop after this many steps (for a trial)")
    parser.add_argument(
        "--no-compile", action="store_true", help="do not use torch.compile (which needs a C++ compiler)"
    )
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    args.out.mkdir(parents=True, exist_ok=True)

    tokenizer = Tokenizer.from_file(str(args.data / "tokenizer.json"))
    run = Run.new(args.muon_rate, args.adam_rate, args.weight_decay)
    clock = Clock(time.time(), read_deadline(args.deadline), long=args.long)
    checkpoint, log, moved = args.out / "checkpoint.pt", args.out / "training_log.csv", args.out / "deadline"
    if checkpoint.exists():
        run.restore(checkpoint, clock)
    elif args.start_from:
        run.start_from(args.start_from, args.out)
        clock.text_from = clock.began
    corpus = Corpus.load(args.data, tokenizer, seed=run.step, english_share=args.english)
    vals = {n: {lang: validation_rows(args.data, tokenizer, lang, n) for lang in ("en", "zh")} for n in (192, 512)}
    loss_of = run.model.loss if args.no_compile else torch.compile(run.model.loss, dynamic=False)

    losses, last, saved = [], time.time(), time.time()
    while (now := time.time()) < clock.deadline and not (args.steps and run.step >= args.steps):
        phase, factor = clock.phase(now), clock.rate(now)
        length = 512 if phase == "long" else 192
        share = args.copy_repeats if phase == "copy" else args.repeats
        batch = corpus.batch(TOKENS_PER_STEP // length, length, share)
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(batch.ids, batch.targets, batch.documents)
        loss.backward()
        run.update(factor)
        run.tokens += batch.ids.numel()
        losses.append(loss.item())
        if run.step % args.log_every:
            continue
        numbers = evaluate(run, vals[length], every=16)
        run.seconds += time.time() - last
        last = time.time()
        row = {
            "step": run.step, "tokens": run.tokens, "seconds": run.seconds, "phase": phase, "row_length": length,
            "learning_rate": factor * args.muon_rate, "train_loss": float(np.mean(losses)), **numbers,
        }  # fmt: skip
        losses.clear()
        with log.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()})
        if moved.exists():
            clock.deadline = read_deadline(moved.read_text())
        limit = clock.began + args.copy_limit * (clock.deadline - clock.began)
        if phase == "copy" and (numbers["copied_percent"] > 95 or last > limit):
            clock.text_from = last
        if last - saved > 150:
            run.save(checkpoint, clock)
            saved = last
    run.save(checkpoint, clock)


if __name__ == "__main__":
    main()
