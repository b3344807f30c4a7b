"""Decoding: one query, all keys. Tiling saves nothing there; splitting the keys fills the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from viz_core import units
from viz_core.attention.occupancy import Decode, decode_step
from viz_core.attention.orders import fa2
from viz_core.attention.split import split_kv
from viz_core.attention.standard import standard
from viz_core.attention.tiled import schedule
from viz_core.attention.tiling import Tiling
from viz_core.figures.curves import Curve, curves
from viz_core.figures.scales import Scale
from viz_core.proofs import Proof
from viz_core.proofs.flash_attention import split_equals_dense
from viz_core.sizing.hardware import GPUS, gpu
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Plate, Question, Scene, View

if TYPE_CHECKING:
    import plotly.graph_objects as go

KEYS = Choice("context_keys", ("1024", "4096", "16384", "65536", "131072"), "131072")
BATCH = Choice("decode_batch", ("1", "8", "64", "256"), "1")
GPU = Choice("gpu", tuple(g.id for g in GPUS), "a100")
HEADS, KV_HEADS, D = 16, 2, 128  # one GPU's share of CodeLlama-34B, as Flash-Decoding was measured
SMS = {"a100": 108, "h100": 132, "h200": 132, "b200": 148, "rtx4090": 128, "mi300x": 304}  # the makers' data sheets
FULL = 0.8  # the share of SMs from which flash-attention's heuristic does not split
PARTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 46, 48, 54, 64, 96, 128)
PUBLISHED = {"FlashAttention-2": 4592.2, "Flash-Decoding": 106.6}  # µs, A100, batch 1, 131,072 keys


def build(context: Context) -> View:
    """The least time of a step over the number of parts; the heuristic's choice as a rule."""
    m, batch = int(context.values["context_keys"]), int(context.values["decode_batch"])
    card = gpu(context.values["gpu"])
    chosen = decode_step(batch, HEADS, KV_HEADS, m, D, SMS[card.id], parts=None)
    tried = [decode_step(batch, HEADS, KV_HEADS, m, D, SMS[card.id], parts=p) for p in sorted({*PARTS, chosen.parts})]
    steps = list({s.parts: s for s in tried}.values())  # short inputs have few tiles, so few parts
    micro = [1e6 * s.seconds(card.bandwidth) for s in steps]
    floor = 1e6 * chosen.kv_bytes / card.bandwidth
    tiled, plain = one_query_bytes()
    guesses = tuple(units.size(x) for x in (tiled // 8, tiled, 2 * tiled))
    return View(
        plates=(Plate(_curve(context, steps, micro, chosen.parts, floor)),),
        numbers=(
            Number("fa_unsplit", f"{micro[0]:.0f} µs", {"blocks": steps[0].blocks, "sms": chosen.sms}),
            Number("fa_split", f"{1e6 * chosen.seconds(card.bandwidth):.0f} µs", {"parts": chosen.parts}),
            Number("fa_busy", f"{units.percent(steps[0].busy, 1)} → {units.percent(chosen.busy)}"),
        ),
        proofs=(_proof(),),
        question=Question(guesses, 1, {"standard": units.size(plain)}),
        facts={"told": told(context, steps[0], chosen)}
        | {"sms": chosen.sms, "batch": batch, "parts": chosen.parts, "floor": f"{floor:.0f}"}
        | {"blocks": steps[0].blocks, "tiled": units.count(tiled), "standard": units.count(plain)}
        | {"old": PUBLISHED["FlashAttention-2"], "new": PUBLISHED["Flash-Decoding"]},
        table=_table(steps, micro),
        code=(decode_step, split_kv),
    )


def told(context: Context, alone: Decode, chosen: Decode) -> str:
    """The message: whether the SMs are full without splitting, and whether the heuristic splits the keys."""
    case = "split" if chosen.parts > 1 else "full" if alone.busy >= FULL else "one"
    facts = {"blocks": alone.blocks, "sms": alone.sms, "parts": chosen.parts}
    shares = {"alone": units.percent(alone.busy), "busy": units.percent(chosen.busy)}
    return context.t(f"decode.{case}", **facts, **shares)


def _curve(context: Context, steps: list[Decode], micro: list[float], chosen: int, floor: float) -> go.Figure:
    line = Curve(context.t("decode.time"), [s.parts for s in steps], micro, points=True)
    x, y = Scale(context.t("decode.parts"), "log"), Scale(context.t("decode.micro"), "log")
    return curves(context.look, [line], x, y, cursor=chosen, ridges=[(floor, context.t("decode.floor"))])


def _table(steps: list[Decode], micro: list[float]) -> dict[str, list[Any]]:
    columns = {name: [getattr(s, name) for s in steps] for name in ("parts", "blocks", "waves")}
    return columns | {"busy": [units.percent(s.busy, 1) for s in steps], "least µs": [round(x, 1) for x in micro]}


def one_query_bytes(m: int = 777, d: int = 64) -> tuple[int, int]:
    """Bytes of one query over m keys: tiled, and standard."""
    t, zero = Tiling(1, m, d, d, 1, 64), np.zeros((m, d), np.float32)
    moved = sum(s.bytes for s in schedule(t, fa2(t.row_tiles, t.col_tiles)))
    return moved, sum(s.bytes for s in standard(zero[:1], zero, zero))


def _proof() -> Proof:
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(n, 64)).astype(np.float32) for n in (1, 777, 777))
    return split_equals_dense(split_kv(q, k, v, (1, 64), 6), q, k, v)


SCENE = Scene("flash_attention", "decode", build, params=(GPU, KEYS, BATCH))
