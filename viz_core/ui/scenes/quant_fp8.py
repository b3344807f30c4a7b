"""FlashAttention-3 in FP8: one scale a tensor, a scale a block, rotation, and both, beside what the paper prints."""

from __future__ import annotations

import numpy as np

from viz_core.figures.bars import Bar, bars
from viz_core.figures.mirrored import mirrored, tally
from viz_core.figures.scales import Scale
from viz_core.model.fp8_attention import PRINTED, WAYS, Compared, attend_fp8
from viz_core.proofs.quantizers import rotation_keeps_products
from viz_core.quantizers.rescale import rotate
from viz_core.ui import quantizing_model
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

TOKENS = Choice("fp8_tokens", ("256", "512", "1024", "2048"), "1024")
WIDTH = Choice("fp8_width", ("64", "128"), "128")
SEED = Whole("fp8_seed", 0, 9, 0)
BY = {"block": "block", "rotation": "rotated", "both": "both"}  # word of the message: way


def written(value: float) -> str:
    """As the paper writes it: 9.1e-3."""
    return f"{value:.1e}".replace("e-0", "e-")


def measured(context: Context, found: Compared) -> Plate:
    """Each way's error, and under it what the paper prints for it."""
    rows: list[Bar] = []
    for name, value in found.rmse.items():
        said = context.t(f"quant.fp8_{name}")
        rows += [
            Bar(said, value, written(value), "B"),
            Bar(context.t("quant.fp8_printed"), PRINTED[name], written(PRINTED[name]), "A", said, pale=True),
        ]
    top = 1.05 * max(row.value for row in rows)
    return Plate(bars(context.look, rows, Scale(context.t("quant.fp8_rmse"), range=(0, top))))


def build(context: Context) -> View:
    """Attention on the paper's kind of data at the chosen size."""
    v = context.values
    n, d = int(v[TOKENS.name]), int(v[WIDTH.name])
    found = quantizing_model.fp8(n, d, v[SEED.name])
    rmse = found.rmse
    peaks = [float(np.abs(x).max()) for x in (found.q, found.rotated)]
    names = (context.t("quant.before"), context.t("quant.seen_rotate"))
    shape = mirrored(context.look, tally(found.q, found.rotated), Scale(context.t("quant.fp8_q")), names, "log")
    ours, theirs = (float(of["tensor"] / of["both"]) for of in (rmse, PRINTED))
    options = (context.t("quant.fp8_block"), context.t("quant.fp8_rotated"))
    return View(
        plates=(measured(context, found), Plate(shape)),
        beside=True,
        numbers=(
            Number("quant_fp8", f"{written(rmse['tensor'])} → {written(rmse['both'])}"),
            Number("quant_fp8_factor", f"{ours:.1f}×"),
            Number("quant_fp8_printed", f"{theirs:.1f}×"),
            Number("quant_fp8_peak", f"{peaks[0]:.1f} → {peaks[1]:.1f}"),
        ),
        proofs=(rotation_keeps_products(found.q, found.q[::-1]),),
        question=Question(
            options,
            int(rmse["rotated"] < rmse["block"]),
            {name: written(rmse[name]) for name in ("tensor", "block", "rotated")},
        ),
        facts={
            "n": n,
            "d": d,
            "ours": f"{ours:.1f}",
            "theirs": f"{theirs:.1f}",
            **{f"by_{word}": f"{rmse[name] / rmse['tensor']:.2f}" for word, name in BY.items()},
            **{name: written(value) for name, value in rmse.items()},
            **{f"{name}_printed": written(value) for name, value in PRINTED.items()},
        },
        table={
            "": [context.t(f"quant.fp8_{name}") for name in WAYS],
            "RMSE": list(rmse.values()),
            "RMSE, printed": list(PRINTED.values()),
        },
        code=(attend_fp8, rotate),
    )


SCENE = Scene("quantization", "fp8", build, params=(TOKENS, WIDTH, SEED))
