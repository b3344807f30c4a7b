"""The KV cache in few bits: which axis shares a scale decides, and keys and values differ."""

from __future__ import annotations

import numpy as np

from viz_core import units
from viz_core.figures.cells import Matrix, causal
from viz_core.figures.heatmap import heatmap
from viz_core.figures.labels import labels
from viz_core.model.quantized_cache import Axis, Side
from viz_core.ui import cached, quantizing_kv
from viz_core.ui.params import Choice, Live, Switch, Whole
from viz_core.ui.quantizing_kv import KvChoice, KvRun
from viz_core.ui.quantizing_model import TEXT
from viz_core.ui.scene import Bench, Context, Number, Plate, Scene, View

BITS = ("16", "8", "4", "3", "2")
K_BITS, V_BITS = Choice("k_bits", BITS, "2"), Choice("v_bits", BITS, "2")
AXES: tuple[Axis, ...] = ("channel", "token")
K_AXIS, V_AXIS = Choice("k_axis", AXES, "channel"), Choice("v_axis", AXES, "token")
GROUP = Choice("kv_group", ("16", "32", "64"), "32")
USUAL = KvChoice(Side(2, "channel"), Side(2, "token"))  # where the controls stand at first
LAYER = Live("layer", lambda bench: Whole("layer", 0, _config(bench).layers - 1, _most(bench)[0]))
HEAD = Live("head", lambda bench: Whole("head", 0, _config(bench).heads - 1, _most(bench)[1]))
DIFFERENCE = Switch("difference", True)
MOST = 160  # tokens of the map


def _most(bench: Bench) -> tuple[int, int]:
    """The layer and head whose weights change most in the usual cache."""
    return quantizing_kv.most_changed(bench.model, bench.prompt, USUAL)


def _config(bench: Bench) -> quantizing_kv.Heads:
    return quantizing_kv.heads(bench.model)


def chosen(context: Context) -> KvChoice:
    """The cache that the controls describe."""
    v, group = context.values, int(context.values["kv_group"])
    return KvChoice(Side(int(v["k_bits"]), v["k_axis"], group), Side(int(v["v_bits"]), v["v_axis"], group))


def outliers(k: np.ndarray) -> float:
    """How far the strongest channel stands out of the median one, by mean magnitude."""
    size = np.abs(k).mean(axis=1).reshape(-1)
    return float(size.max() / max(float(np.median(size)), 1e-12))


def four(context: Context, choice: KvChoice) -> dict[str, KvChoice]:
    """K alone and V alone, each by channel and by token, at the chosen bits and the same group."""
    full, bits, group = Side(), (choice.k.bits, choice.v.bits), choice.k.group
    alone = {f"K {axis}": KvChoice(Side(bits[0], axis, group), full) for axis in AXES}
    return alone | {f"V {axis}": KvChoice(full, Side(bits[1], axis, group)) for axis in AXES}


def divergence(exact: KvRun, kept: KvRun) -> tuple[float, float]:
    """Mean KL of the next-token distributions, and the share of tokens whose first choice changed."""
    kl = (np.exp(exact.log) * (exact.log - kept.log)).sum(axis=1).mean()
    return float(kl), float((exact.log.argmax(axis=1) != kept.log.argmax(axis=1)).mean())


def build(context: Context) -> View:
    """The workbench's prompt through the chosen cache, against the cache in float32."""
    bench, layer, head = context.bench, context.values["layer"], context.values["head"]
    choice, full = chosen(context), KvChoice(Side(), Side())
    exact, kept = (quantizing_kv.kv_run(bench.model, bench.prompt, layer, c) for c in (full, choice))
    ids, tokenizer = cached.tokens(bench.model, bench.prompt)[:MOST], cached.model(bench.model).tokenizer
    names = labels(tokenizer.pieces(ids), tokenizer.scheme, context.lang, ids, merged=False)
    n, change = len(ids), context.values["difference"]
    shown = kept.weights[head, :n, :n] - (exact.weights[head, :n, :n] if change else 0)
    figure = heatmap(context.look, Matrix(causal(shown), names, names, name=context.t("quant.weight_change"))
                     if change else Matrix(causal(shown), names, names), signed=change, height=400)
    kl, flips = divergence(exact, kept)
    keys, values = quantizing_kv.kv_arrays(bench.model, bench.prompt, layer)
    runs = four(context, choice)
    table = [quantizing_kv.kv_perplexity(context.values[TEXT.name], c) for c in (full, choice, *runs.values())]
    return View(
        plates=(Plate(figure),),
        numbers=(
            Number("quant_kv_bytes", f"{units.size(exact.token_bytes)} → {units.size(kept.token_bytes)}"),
            Number("quant_kv_kl", f"{kl:.4f}"),
            Number("quant_kv_flips", units.percent(flips, 0)),
            Number("quant_kv_ppl", f"{table[0]:.2f} → {table[1]:.2f}"),
        ),
        facts={"k": choice.k.bits, "v": choice.v.bits, "layer": layer, "head": head, "group": choice.k.group,
               "k_out": f"{outliers(keys):.1f}", "v_out": f"{outliers(values):.1f}",
               **{name.lower().replace(" ", "_"): f"{ppl:.2f}" for name, ppl in zip(runs, table[2:], strict=True)},
               "base": f"{table[0]:.2f}"},
        table={"cache": ["float32", "K + V", *runs], "perplexity": [round(p, 3) for p in table]},
    )


CONTROLS = (K_BITS, K_AXIS, GROUP, V_BITS, V_AXIS, TEXT, LAYER, HEAD, DIFFERENCE)
SCENE = Scene("quantization", "kv", build, params=CONTROLS, bench=True)
