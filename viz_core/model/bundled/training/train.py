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
from pathlib import Path

import numpy as np
import torch
from clock import Clock, read_deadline
from corpus import IGNORE, Corpus, validation_rows
from model import Llama
from probes import induction, previous_token_and_sink
from run import Run
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


def append(log: Path, row: dict[str, object]) -> None:
    """One more row of the log, under its header."""
    with log.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if file.tell() == 0:
            writer.writeheader()
        writer.writerow({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()})


def arguments() -> argparse.Namespace:
    """The command line."""
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
    return parser.parse_args()


def main() -> None:
    """Train until the deadline."""
    args = arguments()
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
        append(log, row)
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
