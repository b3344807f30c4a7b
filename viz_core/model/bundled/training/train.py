"""Train the bundled model against the clock, on one CPU core.

Rows
----
Every row starts with ``<s>``. A *text row* starts at the beginning of a random verse or couplet and runs on from
there. A *repeat row* says one piece of 3–64 tokens over and over (70 % of the pieces are random tokens, the rest
text): that is what makes an induction head appear. Short pieces are as frequent as long ones on a logarithmic scale:
the fewer tokens there are to choose from, the stronger the gradient towards the right one. Random tokens cannot be
predicted the first time they are seen, so their first occurrence carries no loss.

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

The run can be stopped and resumed: checkpoint.pt holds weights, their moving average, both optimisers and the
clock. A file named ``deadline`` in the run folder (same form as the argument) moves the deadline while the run goes
on.

Usage: ``python viz_core/model/bundled/training/train.py --data data --out run --deadline 2027-01-31T22:10``
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np
import torch
from model import Config, Llama
from muon import Muon
from probes import induction, previous_token_and_sink
from tokenizers import Tokenizer
from torch import Tensor

START, END, IGNORE = 0, 1, -100
TOKENS_PER_STEP = 3072  # 16 rows of 192 or 6 of 512
COLUMNS = [
    "step", "tokens", "seconds", "phase", "row_length", "learning_rate", "train_loss", "val_en_bits_per_byte",
    "val_zh_bits_per_byte", "copied_percent", "induction", "sink", "previous_token",
]  # fmt: skip


# ---- data ----
def encode(tokenizer: Tokenizer, documents: list[list[str]], separator: str) -> tuple[np.ndarray, np.ndarray]:
    """All documents as one token stream, each ended by ``</s>``, and the positions where a line begins."""
    stream, starts = [], []
    for document in documents:
        for i, line in enumerate(document):
            starts.append(len(stream))
            text = line if i + 1 == len(document) else line + separator
            stream += tokenizer.encode(text, add_special_tokens=False).ids
        stream.append(END)
    return np.array(stream, np.int64), np.array(starts)


@dataclass(slots=True)
class Corpus:
    """Token streams per language; poems are kept both as running text and with a couplet a line."""

    streams: dict[str, list[tuple[np.ndarray, np.ndarray]]]
    rng: np.random.Generator
    english: float

    @classmethod
    def load(cls, data: Path, tokenizer: Tokenizer, seed: int, english: float) -> Corpus:
        """The training documents of a folder written by prepare_data.py, tokenised."""
        docs = {lang: json.loads((data / f"{lang}.train.json").read_text("utf-8")) for lang in ("en", "zh")}
        streams = {
            "en": [encode(tokenizer, docs["en"], "\n")],
            "zh": [encode(tokenizer, docs["zh"], ""), encode(tokenizer, docs["zh"], "\n")],
        }
        return cls(streams, np.random.default_rng(seed), english)

    def text(self, length: int) -> np.ndarray:
        """``length`` tokens from the start of a random line, in English with probability ``english``."""
        choices = self.streams["en" if self.rng.random() < self.english else "zh"]
        stream, starts = choices[self.rng.integers(len(choices))]
        at = starts[self.rng.integers(len(starts))]
        return np.take(stream, np.arange(at, at + length), mode="wrap")

    def batch(self, rows: int, length: int, repeat_share: float) -> tuple[Tensor, Tensor]:
        """ids and targets, both (rows, length); targets are −100 where nothing is to be predicted."""
        x = np.empty((rows, length + 1), np.int64)
        x[:, 0] = START
        y = np.ones((rows, length), bool)
        for r in range(rows):
            if self.rng.random() >= repeat_share:
                x[r, 1:] = self.text(length)
                continue
            size = int(np.exp(self.rng.uniform(np.log(3), np.log(65))))  # short pieces teach first
            random = self.rng.random() < 0.7
            piece = self.rng.integers(2, 4096, size) if random else self.text(size)
            x[r, 1:] = np.resize(piece, length)
            y[r, : size if random else 0] = False
        return torch.from_numpy(x[:, :-1].copy()), torch.from_numpy(np.where(y, x[:, 1:], IGNORE))


def validation_rows(data: Path, tokenizer: Tokenizer, lang: str, length: int) -> tuple[Tensor, Tensor, int]:
    """Held-out documents in rows of ``length`` that each start with ``<s>``: ids, targets, UTF-8 bytes of the text.

    Nothing is left out: every token of a document and its ``</s>`` is predicted once; ``</s>`` counts no bytes.
    """
    rows, size = [], 0
    for document in json.loads((data / f"{lang}.val.json").read_text("utf-8")):
        text = ("\n" if lang == "en" else "").join(document)
        size += len(text.encode())
        ids = [*tokenizer.encode(text, add_special_tokens=False).ids, END]
        rows += [[START, *ids[i : i + length]] for i in range(0, len(ids), length)]
    x = np.full((len(rows), length + 1), IGNORE, np.int64)
    for r, row in enumerate(rows):
        x[r, : len(row)] = row
    return torch.from_numpy(np.where(x[:, :-1] < 0, END, x[:, :-1])), torch.from_numpy(x[:, 1:].copy()), size


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
        warm = min(1.0, (self.step + 1) / 100)
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
        state |= {"step": self.step, "tokens": self.tokens, "seconds": self.seconds}
        state |= {"clock": [clock.began, clock.text_from]}
        torch.save(state, path.with_suffix(".tmp"))
        path.with_suffix(".tmp").replace(path)

    def restore(self, path: Path, clock: Clock) -> None:
        """Go on from a checkpoint."""
        state = torch.load(path, weights_only=True)
        for k in ("model", "average", "muon", "adam"):
            getattr(self, k).load_state_dict(state[k])
        self.step, self.tokens, self.seconds = state["step"], state["tokens"], state["seconds"]
        clock.began, clock.text_from = state["clock"]


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
    corpus = Corpus.load(args.data, tokenizer, seed=run.step, english=args.english)
    vals = {n: {lang: validation_rows(args.data, tokenizer, lang, n) for lang in ("en", "zh")} for n in (192, 512)}
    loss_of = run.model.loss if args.no_compile else torch.compile(run.model.loss, dynamic=False)

    losses, last, saved = [], time.time(), time.time()
    while (now := time.time()) < clock.deadline and not (args.steps and run.step >= args.steps):
        phase, factor = clock.phase(now), clock.rate(now)
        length = 512 if phase == "long" else 192
        x, y = corpus.batch(TOKENS_PER_STEP // length, length, args.copy_repeats if phase == "copy" else args.repeats)
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(x, y)
        loss.backward()
        run.update(factor)
        run.tokens += x.numel()
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
