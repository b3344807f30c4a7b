"""Write a checkpoint as the files the app loads, and measure what these files are.

Into ``--to`` go model.safetensors (float16, Hugging Face tensor names, matrices stored (out, in)), config.json and
tokenizer.json. Everything that is then measured is measured on the float16 file, read back and computed in float32:

* bits per UTF-8 byte of the whole held-out text, rows of 512 and of 192, with the training run's own definition;
* the probes of probes.py;
* short continuations, greedy and sampled.

``--reference`` writes token ids, the best token per position and the logits of every 64th vocabulary entry for two
prompts: a small file against which another implementation can be tested.

Usage: ``python viz_core/model/bundled/training/export.py --data data --checkpoint run/checkpoint.pt --to
viz_core/model/bundled``"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import torch
from corpus import END, validation_rows
from model import Config, Llama
from probes import induction, previous_token_and_sink
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from train import bits_per_byte

PROMPTS = {
    "en": "And God said unto Moses, Go down, and speak unto the children of Israel, saying, Thus saith the LORD",
    "zh": "床前明月光，疑是地上霜。举头望明月，低头思故乡。春眠不觉晓，处处闻啼鸟。",
}
STARTS = ["In the beginning", "And the king said unto", "春风又绿江南岸，", "床前明月光，"]


def load(folder: Path) -> Llama:
    """The exported model in float32."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    assert config == Config().hf(), "config.json belongs to another shape"
    model = Llama(Config())
    tensors = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
    model.load_state_dict(tensors)
    return model.eval()


def write(checkpoint: Path, which: str, tokenizer: Path, to: Path) -> None:
    """model.safetensors, config.json and tokenizer.json from one of the two sets of weights in a checkpoint."""
    to.mkdir(parents=True, exist_ok=True)
    state = torch.load(checkpoint, weights_only=True)[which]
    tensors = {name: tensor.half().contiguous() for name, tensor in state.items()}
    save_file(tensors, to / "model.safetensors", metadata={"format": "pt"})
    (to / "model.safetensors").chmod(0o644)
    (to / "config.json").write_text(json.dumps(Config().hf(), indent=2) + "\n", encoding="utf-8")
    if tokenizer.resolve() != (to / "tokenizer.json").resolve():
        shutil.copyfile(tokenizer, to / "tokenizer.json")


@torch.no_grad()
def continuation(model: Llama, tokenizer: Tokenizer, prompt: str, count: int, temperature: float, seed: int = 0) -> str:
    """The prompt and up to ``count`` more tokens: greedy at temperature 0, else sampled."""
    generator = torch.Generator().manual_seed(seed)
    ids = tokenizer.encode(prompt).ids
    for _ in range(count):
        logits = model(torch.tensor([ids]))[0, -1]
        if temperature == 0:
            ids.append(int(logits.argmax()))
        else:
            ids.append(int(torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)))
        if ids[-1] == END:
            break
    return tokenizer.decode(ids)


def measure(model: Llama, data: Path, tokenizer: Tokenizer) -> dict:
    """Held-out bits per byte and the probes; positions of heads as [layer, head]."""
    result: dict = {"bits_per_byte": {}}
    rows = {lang: validation_rows(data, tokenizer, lang, 512) for lang in ("en", "zh")}
    for length in (512, 192):
        for lang in ("en", "zh"):
            bits = bits_per_byte(model, validation_rows(data, tokenizer, lang, length))
            result["bits_per_byte"][f"{lang}_{length}"] = round(bits, 4)
    copied, heads = induction(model, sequences=100)
    scores = {"induction": heads}
    for lang in ("en", "zh"):
        full = rows[lang][0][(rows[lang][1] != -100).sum(1) >= (192 if lang == "en" else 64)]
        pair = previous_token_and_sink(model, [full], 192 if lang == "en" else 64)
        scores |= {f"previous_token_{lang}": pair[0], f"sink_{lang}": pair[1]}
    result["copied"] = round(copied, 4)
    result["copied_period_200"] = round(induction(model, sequences=20, period=200)[0], 4)
    for name, score in scores.items():
        best = int(score.argmax())
        result[name] = {"best": round(float(score.max()), 3), "head": [best // score.shape[1], best % score.shape[1]]}
        result[name]["all"] = [[round(v, 3) for v in layer] for layer in score.tolist()]
    return result


@torch.no_grad()
def write_reference(model: Llama, tokenizer: Tokenizer, weights: Path, to: Path) -> None:
    """bundled_reference.npz (ids, best token, every 64th logit, greedy continuation) and .json (prompts, file hash)."""
    arrays = {}
    for lang, prompt in PROMPTS.items():
        ids = tokenizer.encode(prompt).ids
        logits = model(torch.tensor([ids]))[0]
        greedy = list(ids)
        for _ in range(24):
            greedy.append(int(model(torch.tensor([greedy]))[0, -1].argmax()))
        arrays |= {
            f"{lang}_ids": np.array(ids, np.int32),
            f"{lang}_best": logits.argmax(-1).numpy().astype(np.int32),
            f"{lang}_logits": logits[:, ::64].numpy(),
            f"{lang}_greedy": np.array(greedy[len(ids) :], np.int32),
        }
    to.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(to / "bundled_reference.npz", **arrays)
    about = {
        "prompts": PROMPTS,
        "model_sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "made_with": f"torch {torch.__version__.split('+')[0]}, float32, weights read from the float16 file",
        "logits": "every 64th vocabulary entry, all positions",
        "greedy": "24 tokens after the prompt, end tokens not obeyed",
    }
    (to / "bundled_reference.json").write_text(json.dumps(about, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Read the arguments and do the work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--checkpoint", type=Path, default=Path("run/checkpoint.pt"))
    parser.add_argument(
        "--weights", choices=["average", "model"], default="average", help="moving average or last step"
    )
    parser.add_argument("--to", type=Path, required=True, help="folder for the three files")
    parser.add_argument("--reference", type=Path, help="folder for bundled_reference.npz and .json")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    write(args.checkpoint, args.weights, args.data / "tokenizer.json", args.to)
    tokenizer = Tokenizer.from_file(str(args.to / "tokenizer.json"))
    model = load(args.to)
    print(json.dumps(measure(model, args.data, tokenizer), indent=1))
    for start in STARTS:
        print(f"greedy: {continuation(model, tokenizer, start, 48, 0)!r}")
        print(f"0.8:    {continuation(model, tokenizer, start, 48, 0.8)!r}")
    if args.reference:
        write_reference(model, tokenizer, args.to / "model.safetensors", args.reference)


if __name__ == "__main__":
    main()
