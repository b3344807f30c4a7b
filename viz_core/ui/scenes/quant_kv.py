"""The KV cache in few bits: which axis shares a scale decides, and keys and values differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viz_core import units
from viz_core.figures.cells import Matrix, causal
from viz_core.figures.heatmap import heatmap
from viz_core.figures.labels import labels
from viz_core.model.kv_quantized import KvChoice, reference
from viz_core.model.quantized_cache import Axis, Side
from viz_core.ui import cached, quantizing_kv
from viz_core.ui.params import Choice, Live, Switch, Whole
from viz_core.ui.quantizing_kv import KvRun
from viz_core.ui.quantizing_model import TEXT
from viz_core.ui.scene import Bench, Context, Number, Plate, Scene, View

BITS = ("16", "8", "4", "3", "2")
K_BITS, V_BITS = Choice("k_bits", BITS, "2"), Choice("v_bits", BITS, "2")
AXES: tuple[Axis, ...] = ("channel", "token")
K_AXIS, V_AXIS = Choice("k_axis", AXES, "channel"), Choice("v_axis", AXES, "token")
GROUPS = ("16", "32", "64")
K_GROUP, V_GROUP = Choice("k_group", GROUPS, "32"), Choice("v_group", GROUPS, "32")
RECENT = Choice("kv_recent", ("0", "32", "64", "128"), "0")
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
    of = context.values
    k, v = (Side(int(of[f"{side}_bits"]), of[f"{side}_axis"], int(of[f"{side}_group"])) for side in "kv")
    return KvChoice(k, v, int(of["kv_recent"]))


def outliers(k: np.ndarray) -> float:
    """How far the strongest channel stands out of the median one, by mean magnitude."""
    size = np.abs(k).mean(axis=1).reshape(-1)
    return float(size.max() / max(float(np.median(size)), 1e-12))


def four(choice: KvChoice, width: int) -> dict[str, KvChoice]:
    """K alone and V alone, each by channel and by token, at its chosen bits and the same residual.

    In groups as chosen, or of `width`, the channels of a head, where that is less: both axes can have these.
    """
    k, v = (replace(side, group=min(side.group, width)) for side in (choice.k, choice.v))
    alone = {f"K {axis}": KvChoice(k=replace(k, axis=axis), recent=choice.recent) for axis in AXES}
    return alone | {f"V {axis}": KvChoice(v=replace(v, axis=axis), recent=choice.recent) for axis in AXES}


def capped(context: Context, choice: KvChoice, widths: tuple[int, int]) -> list[str]:
    """That groups by token end with their head: in the loaded model, or else in the bundled one of the perplexity."""
    out = []
    for name, side in (("K", choice.k), ("V", choice.v)):
        loaded, bundled = (side.within(width) != side and side.bits < 16 for width in widths)
        if loaded or bundled:
            out.append(context.t("quant.kv_capped" if loaded else "quant.kv_capped_bundled", side=name,
                                 asked=side.group, width=widths[0] if loaded else widths[1]))
    return out


def quoted() -> dict[str, str]:
    """SmolLM2's perplexities as they were measured, as facts for the notes."""
    found = reference()
    numbers = {f"smol_{side.lower()}_{axis}_{group}": f"{ppl:.1f}" for (side, axis, group), ppl in found.alone.items()}
    return numbers | {"smol_base": f"{found.base:.1f}", "smol_tokens": str(found.tokens), "smol_bits": str(found.bits)}


def divergence(exact: KvRun, kept: KvRun) -> tuple[float, float]:
    """Mean KL of the next-token distributions, and the share of tokens whose first choice changed."""
    kl = (np.exp(exact.log) * (exact.log - kept.log)).sum(axis=1).mean()
    return float(kl), float((exact.log.argmax(axis=1) != kept.log.argmax(axis=1)).mean())


def build(context: Context) -> View:
    """The workbench's prompt through the chosen cache, against the cache that keeps every number as it is."""
    bench, layer, head = context.bench, context.values["layer"], context.values["head"]
    choice, full = chosen(context), KvChoice()
    exact, kept = (quantizing_kv.kv_run(bench.model, bench.prompt, layer, c) for c in (full, choice))
    ids, tokenizer = cached.tokens(bench.model, bench.prompt)[:MOST], cached.model(bench.model).tokenizer
    names = labels(tokenizer.pieces(ids), tokenizer.scheme, context.lang, ids, merged=False)
    n, change = len(ids), context.values["difference"]
    shown = kept.weights[head, :n, :n] - (exact.weights[head, :n, :n] if change else 0)
    figure = heatmap(context.look, Matrix(causal(shown), names, names, name=context.t("quant.weight_change"))
                     if change else Matrix(causal(shown), names, names), signed=change, height=400)
    kl, flips = divergence(exact, kept)
    keys, values = quantizing_kv.kv_arrays(bench.model, bench.prompt, layer)
    widths = _config(bench).width, quantizing_kv.heads("bundled").width
    runs = four(choice, widths[1])
    table = [quantizing_kv.kv_perplexity(context.values[TEXT.name], c) for c in (full, choice, *runs.values())]
    said = capped(context, choice, widths) + [context.t("quant.kv_no_gain")] * (kept.all_bytes > exact.all_bytes)
    pair = choice.k.bits, choice.v.bits
    bits = context.t("quant.kv_both", k=pair[0], v=pair[1]) if pair[0] != pair[1] else pair[0]
    return View(
        plates=(Plate(figure),),
        notice=(" " if context.lang == "en" else "").join(said) or None,
        numbers=(
            Number("quant_kv_bytes", f"{units.size(exact.token_bytes)} → {units.size(kept.token_bytes)}",
                   {"bits": bits}),
            Number("quant_kv_all", f"{units.size(exact.all_bytes)} → {units.size(kept.all_bytes)}",
                   {"n": len(exact.log), "bits": bits}),
            Number("quant_kv_kl", units.fixed(kl, 4)),
            Number("quant_kv_flips", units.percent(flips, 0)),
            Number("quant_kv_ppl", f"{table[0]:.2f} → {table[1]:.2f}"),
        ),
        facts={"k": choice.k.bits, "v": choice.v.bits, "layer": layer, "head": head, "k_group": choice.k.group,
               "k_alone": runs["K token"].k.group, "v_alone": runs["V token"].v.group,
               "differs": context.t(f"scene.quantization.kv.{'residual' if choice.recent else 'axis'}_differs",
                                    recent=choice.recent),
               "recent": choice.recent,
               "k_out": f"{outliers(keys):.1f}", "v_out": f"{outliers(values):.1f}",
               **{name.lower().replace(" ", "_"): f"{ppl:.2f}" for name, ppl in zip(runs, table[2:], strict=True)},
               "base": f"{table[0]:.2f}", "now": f"{table[1]:.2f}", **quoted()},
        table={"cache": [context.t("quant.kv_base"), "K + V", *runs], "perplexity": [round(p, 3) for p in table]},
    )


CONTROLS = (K_BITS, K_AXIS, K_GROUP, V_BITS, V_AXIS, V_GROUP, RECENT, TEXT, LAYER, HEAD, DIFFERENCE)
SCENE = Scene("quantization", "kv", build, params=CONTROLS, bench=True)
