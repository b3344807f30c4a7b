"""Claims about quantization: bytes equal to ggml's, values on the points of their block, bytes that come back.

`GGML_BYTES` are SHA-256 digests of what ggml C 0.13.1 itself (`ggml_quantize_chunk`, no importance matrix) wrote for
the bundled float32 weights `ffn_in`, in rows of 256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from viz_core import units
from viz_core.proofs.proof import Proof, at_most, nothing_left
from viz_core.quantizers import ggml
from viz_core.quantizers.allowance import allowance
from viz_core.quantizers.quantized import Quantized
from viz_core.quantizers.references import stored
from viz_core.quantizers.rescale import random_signs, rotate
from viz_core.quantizers.samples import sample

# fmt: off
GGML_BYTES = {
    "Q4_0": "560bd92a14512288bc9cfc78d8186833a88c4e31076b59b43ac91b25754b6ea9",
    "Q4_1": "6a436b9c39d85727ac2b4d6f74543ed4db62ca398fc09a1a2ad335bcbf572203",
    "Q5_0": "43a2f650639b0a8c0776337513c27830d5602dc4ac6ddd0cce2ea6bb1a6a2513",
    "Q5_1": "9d1f8d513288020db473023455427a9a844fb2d82bbd7ddf0bb90a080a542f72",
    "Q8_0": "cd35a1f3fab7e410484b3cb8c7297954ad21ed9219f0ea4d979d4c3d06cfc2f1",
    "Q2_K": "e77362571d53e4bb2972a70abd45dd24ba38f52d7043bcb006eac225981ff34d",
    "Q3_K": "f540c0f0850f549d238496038d34def03586b7d5e919c87b27f0fe3c60988f82",
    "Q4_K": "edb8bf55b217f62d8ec29be26f1e3995e080f917137d3d61a079bc9c12985c41",
    "Q5_K": "f197ba93a6c9da773456ca545da4d8a819964d33402f5fd874fe1be48d92e9cc",
    "Q6_K": "2ae4acdbdf764f57003b304c9bc353fc44259c722b95807f6b7cb449619648a2",
    "IQ4_NL": "4428bc3ecd5b1209f38709dc6e2a3c0ab08f771fa6f26e3da2a09d1b03762fa0",
    "IQ4_XS": "f6db7ae6d9ebe5a2eb0873ce1240513ae254d1040b492bc30dde6dc32736c565",
    "TQ1_0": "289954b9d5a6ec3346a83bce11166c9f329c42ecc7c2563e1fcc9343337e336f",
    "TQ2_0": "397343b3e8192ea3c9091014d9cce6cfaf49c5c8b4c286fa81b410dd1afc4d56",
    "MXFP4": "60d0bd474cd77c00305de2032d586b82def174cf9567fa737374854d1566250f",
    "NVFP4": "60f0c8f17eb6d8d877b5ee74399291b535206ed378823805bf99105c50ee704d",
    "Q1_0": "ec513a7bcacd98e0b6d3471ae58a048732501b1d5ba0a908e764938f0d5951b5",
}
# fmt: on


def ggml_bytes(names: Iterable[str] = GGML_BYTES) -> Proof:
    """The bytes of these types equal the ones ggml wrote for the same weights; measured: how many types differ."""
    x = sample("ffn_in").reshape(-1, 256)
    digests = {name: hashlib.sha256(ggml.pack(ggml.GGML[name].quantize(x)).tobytes()).hexdigest() for name in names}
    differ = sum(digest != GGML_BYTES[name] for name, digest in digests.items())
    return at_most("ggml_bytes", differ, 0, cases=len(digests))


def as_references(name: str) -> Proof:
    """Under the settings of each reference, the codes that it gave itself; measured: how many codes differ."""
    cases = stored(name)
    found: dict[str, object] = {"cases": len(cases), "codes": units.count(sum(case.codes.size for case in cases))}
    found["references"] = tuple(dict.fromkeys(case.reference for case in cases))
    if not cases:
        return nothing_left("references")
    return at_most("references", sum(case.differ() for case in cases), 0, **found)


def on_points(q: Quantized, blocks: int = 64) -> Proof:
    """Every value of the first blocks is exactly one of its block's points; measured: the largest distance.

    It fails where only some values of the tensor came back finite, and says nothing where none did.
    """
    if partly_lost(q.values):
        return at_most("on_points", np.inf, 0)
    rows = q.layout.split(q.values)
    if q.scale is None:  # one value a block, and the points are the same for all
        rows = rows.reshape(1, -1)[:, : blocks * 64]
    seen = [(q.points(i).astype(np.float64), row[np.isfinite(row)]) for i, row in enumerate(rows[:blocks])]
    apart = [to_nearest(points, row).max() if points.size else np.inf for points, row in seen if row.size]
    return at_most("on_points", float(max(apart)), 0) if apart else nothing_left("on_points")


def partly_lost(values: np.ndarray) -> bool:
    """Whether some of the values are finite and some are not."""
    finite = np.isfinite(values)
    return bool(finite.any() and not finite.all())


def to_nearest(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """How far each value is from the nearest of the ascending points."""
    after = np.searchsorted(points, values).clip(max=len(points) - 1)
    before = (after - 1).clip(min=0)
    return np.minimum(np.abs(points[after] - values), np.abs(values - points[before]))


def half_a_step(x: np.ndarray, q: Quantized) -> Proof:
    """Values inside the grid move at most half its widest gap and what the rounding of their scale adds.

    Measured: the largest share of what each may move; it fails where only some values came back finite.
    """
    if partly_lost(q.values):
        return at_most("half_a_step", np.inf, 1)
    allowed = allowance(x, q)
    promised = np.isfinite(allowed)
    if not promised.any():
        return nothing_left("half_a_step")
    moved = np.abs(np.subtract(q.blocks[promised], q.layout.split(x)[promised], dtype=np.float64))
    return at_most("half_a_step", float((moved / allowed[promised]).max()), 1)


def bytes_come_back(q: Quantized) -> Proof:
    """Written to bytes and read again the values are the same, bit for bit; measured: the largest difference."""
    again = ggml.read(q.format.name, ggml.pack(q), q.layout.shape)
    return at_most("bytes_come_back", largest_difference(again.values, q.values), 0)


def rotation_keeps_products(q: np.ndarray, k: np.ndarray) -> Proof:
    """q kᵀ is the same after both were rotated; measured: the largest difference over the largest product."""
    signs = random_signs(q.shape[1])
    plain = q @ k.T
    apart = np.abs(rotate(q, signs) @ rotate(k, signs).T - plain).max()
    return at_most("rotation", float(apart / max(float(np.abs(plain).max()), 1e-30)), 1e-5)


def largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    """Of two arrays: 0 where both are the same infinity or both NaN, ∞ where only one is finite."""
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where(same, 0, np.abs(a.astype(np.float64) - b))
    return float(np.nan_to_num(apart, nan=np.inf).max(initial=0))
