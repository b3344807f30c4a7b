"""What a KV cache of 2 bits does to SmolLM2-135M: `python -m tests.benchmarks.bench_kv`, about half a minute.

K alone and V alone, by channel and by token, in groups of 32 and of 64, so that axis and group are told apart; on the
English text that comes with the bundled model. Prints the perplexities and, with `--write`, keeps them in
viz_core/model/kv_reference.json, which the quantization page quotes.
"""

from __future__ import annotations

import argparse
import json

from viz_core.model import get
from viz_core.model.kv_quantized import PATH, KvChoice, perplexity
from viz_core.model.library import held_out, load
from viz_core.model.quantized_cache import Axis, Side

BITS, GROUPS = 2, (32, 64)
AXES: tuple[Axis, ...] = ("token", "channel")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the results")
    if get.held("smollm2") is None:
        parser.exit(message="SmolLM2 is not here: python -m viz_core.model.get smollm2\n")
    model, keep = load("smollm2"), parser.parse_args().write
    ids = model.encode(held_out("en"))
    base, alone = perplexity(model.llama, ids, KvChoice()), []
    print(f"{len(ids)} tokens, as it is: {base:.2f}")
    for side in "KV":
        for axis in AXES:
            for group in GROUPS:
                few = Side(BITS, axis, group)
                found = perplexity(model.llama, ids, KvChoice(k=few) if side == "K" else KvChoice(v=few))
                alone.append({"side": side, "axis": axis, "group": group, "perplexity": round(found, 2)})
                print(f"{side} in {BITS} bits by {axis}, groups of {group}: {found:.2f}")
    if keep:
        found = {"tokens": len(ids), "bits": BITS, "base": round(base, 2), "alone": alone}
        PATH.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
