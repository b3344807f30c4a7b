"""ggml's records ↔ raw fields: which bits of a block hold codes, sub-scales and minima (ggml-common.h, ggml 0.13.1).

`unpack` takes a record apart into unsigned integers, `pack` puts them together; scales stay as they are stored. Both
sides are written once per shape of packing, so the bit map of a block (`bitmap.py`) is read off them, not drawn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Fields = dict[str, np.ndarray]
"""codes (b, n), and where the type has them scales and mins (b, sub-blocks), d and dmin (b, 1); unsigned integers."""


def _stacked(packed: np.ndarray, bits: int, run: int) -> np.ndarray:
    """Codes of `bits` bits: bytes (b, m) hold 8/bits values, `run` neighbours first, low bits first."""
    parts = packed.reshape(len(packed), -1, 1, run) >> (np.arange(0, 8, bits, dtype=np.uint8)[:, None])
    return (parts & np.uint8((1 << bits) - 1)).reshape(len(packed), -1)


def _stack(codes: np.ndarray, bits: int, run: int) -> np.ndarray:
    """The inverse of `_stacked`: codes (b, n) to bytes (b, n · bits / 8), their upper bits dropped."""
    kind = np.dtype(np.uint64 if run % 8 == 0 else np.uint8)  # eight codes at a time where a run allows
    mask = kind.type(int.from_bytes(bytes([(1 << bits) - 1]) * kind.itemsize, "little"))
    words = np.ascontiguousarray(codes).view(kind).reshape(-1) & mask
    stacked, step = words.copy(), run // kind.itemsize
    for i in range(1, 8 // bits):  # one long loop, whose results between the first runs are not used
        stacked[: -i * step] |= words[i * step :] << kind.type(i * bits)
    return stacked.view(f"V{run}")[:: 8 // bits].copy().view(np.uint8).reshape(len(codes), -1)


def _word_bits(packed: np.ndarray) -> np.ndarray:
    return np.unpackbits(packed, axis=1, bitorder="little")


def _k4_unpack(scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eight 6-bit scales and minima in 12 bytes: four whole, four split into nibbles and high pairs."""
    a, b, c = scales[:, :4], scales[:, 4:8], scales[:, 8:]
    scale = np.concatenate([a & 63, (c & 15) | (a >> 6 << 4)], axis=1)
    return scale, np.concatenate([b & 63, (c >> 4) | (b >> 6 << 4)], axis=1)


def _k4_pack(scale: np.ndarray, low: np.ndarray) -> np.ndarray:
    a = scale[:, :4] | (scale[:, 4:] >> 4 << 6)
    b = low[:, :4] | (low[:, 4:] >> 4 << 6)
    return np.concatenate([a, b, (scale[:, 4:] & 15) | ((low[:, 4:] & 15) << 4)], axis=1)


def _q3_unpack(scales: np.ndarray) -> np.ndarray:
    """Sixteen 6-bit scales in 12 bytes: nibbles in eight, high pairs in four."""
    low = np.concatenate([scales[:, :8] & 15, scales[:, :8] >> 4], axis=1)
    return low | (_stacked(scales[:, 8:], 2, 4) << 4)


def _q3_pack(scale: np.ndarray) -> np.ndarray:
    low = (scale[:, :8] & 15) | ((scale[:, 8:] & 15) << 4)
    return np.concatenate([low, _stack(scale >> 4, 2, 4)], axis=1)


def _trits_unpack(packed: np.ndarray, count: int) -> np.ndarray:
    """Base-3 digits, most significant first, of bytes that hold ⌈256 · number / 243⌉."""
    powers = np.array([1, 3, 9, 27, 81], np.uint8)[:count, None]
    return ((packed[:, None, :] * powers).astype(np.uint16) * 3 >> 8).astype(np.uint8).reshape(len(packed), -1)


def _trits_pack(codes: np.ndarray, count: int, run: int) -> np.ndarray:
    digits = codes.reshape(len(codes), count, run).astype(np.uint16)
    powers = np.array([81, 27, 9, 3, 1], np.uint16)[:count, None]
    return ((np.sum(digits * powers, axis=1) * 256 + 242) // 243).astype(np.uint8)


def _tq1_unpack(r: np.ndarray) -> np.ndarray:
    parts = [_trits_unpack(r["qs"][:, :32], 5), _trits_unpack(r["qs"][:, 32:], 5), _trits_unpack(r["qh"], 4)]
    return np.concatenate(parts, axis=1)


def _tq1_pack(c: np.ndarray) -> dict[str, np.ndarray]:
    qs = np.concatenate([_trits_pack(c[:, :160], 5, 32), _trits_pack(c[:, 160:240], 5, 16)], axis=1)
    return {"qs": qs, "qh": _trits_pack(c[:, 240:], 4, 4)}


def _q6_low(low: np.ndarray) -> np.ndarray:
    return np.stack([_stack(part, 4, 64) for part in (low[:, :128], low[:, 128:])], axis=1).reshape(len(low), -1)


_CODES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], dict[str, np.ndarray]]]] = {
    "Q1_0": (lambda r: _word_bits(r["qs"]), lambda c: {"qs": np.packbits(c, axis=1, bitorder="little")}),
    "Q5": (
        lambda r: _stacked(r["qs"], 4, 16) | (_word_bits(r["qh"]) << 4),
        lambda c: {"qs": _stack(c, 4, 16), "qh": np.packbits(c >> 4, axis=1, bitorder="little")},
    ),
    "Q8_0": (lambda r: r["qs"].view(np.uint8), lambda c: {"qs": c.view(np.int8)}),
    "Q2_K": (lambda r: _stacked(r["qs"], 2, 32), lambda c: {"qs": _stack(c, 2, 32)}),
    "Q3_K": (
        lambda r: _stacked(r["qs"], 2, 32) | (_stacked(r["hmask"], 1, 32) << 2),
        lambda c: {"qs": _stack(c, 2, 32), "hmask": _stack(c >> 2, 1, 32)},
    ),
    "Q4_K": (lambda r: _stacked(r["qs"], 4, 32), lambda c: {"qs": _stack(c, 4, 32)}),
    "Q5_K": (
        lambda r: _stacked(r["qs"], 4, 32) | (_stacked(r["qh"], 1, 32) << 4),
        lambda c: {"qs": _stack(c, 4, 32), "qh": _stack(c >> 4, 1, 32)},
    ),
    "Q6_K": (
        lambda r: _stacked(r["ql"], 4, 64) | (_stacked(r["qh"], 2, 32) << 4),
        lambda c: {"ql": _stack(c, 4, 64), "qh": _stack(c >> 4, 2, 32)},
    ),
    "TQ1_0": (_tq1_unpack, _tq1_pack),
    "NVFP4": (lambda r: _stacked(r["qs"], 4, 8), lambda c: {"qs": _stack(c, 4, 8)}),
    "Q4": (lambda r: _stacked(r["qs"], 4, 16), lambda c: {"qs": _stack(c, 4, 16)}),
}
_SAME = {"Q4_0": "Q4", "Q4_1": "Q4", "IQ4_NL": "Q4", "MXFP4": "Q4", "Q5_0": "Q5", "Q5_1": "Q5", "IQ4_XS": "Q4",
         "TQ2_0": "Q2_K"}  # fmt: skip
_HALVES = ("d", "m", "dmin")


def unpack(type_name: str, records: np.ndarray) -> Fields:
    """Raw fields of block records (b,) of `ggml_blocks.BLOCKS[type_name].layout`."""
    fields = {"codes": _CODES[_SAME.get(type_name, type_name)][0](records)}
    for name in _HALVES:
        if name in (records.dtype.names or ()):
            fields[name] = records[name].view(np.uint8 if type_name == "NVFP4" else np.uint16)
    if type_name == "MXFP4":
        fields["d"] = records["e"]
    elif type_name == "Q2_K":
        fields["scales"], fields["mins"] = records["scales"] & 15, records["scales"] >> 4
    elif type_name == "Q3_K":
        fields["scales"] = _q3_unpack(records["scales"])
    elif type_name in ("Q4_K", "Q5_K"):
        fields["scales"], fields["mins"] = _k4_unpack(records["scales"])
    elif type_name == "Q6_K":
        fields["scales"] = records["scales"].view(np.uint8)
    elif type_name == "IQ4_XS":
        high = _stacked(records["scales_h"].view(np.uint8).reshape(len(records), -1), 2, 1)
        fields["scales"] = _stacked(records["scales_l"], 4, 1) | (high << 4)
    return fields


def _store(part: np.ndarray, field: np.ndarray) -> None:
    """`part` (b, m) into a field of records, each row as one thing to copy: a sixth of the time of single bytes."""
    row = f"V{part.shape[1] * part.itemsize}"
    field.view(row)[...] = np.ascontiguousarray(part).view(row)


def pack(type_name: str, fields: Fields, records: np.ndarray) -> None:
    """Raw fields into block records (b,); the inverse of `unpack`."""
    for name, part in _CODES[_SAME.get(type_name, type_name)][1](fields["codes"].astype(np.uint8, copy=False)).items():
        _store(part, records[name])
    for name in _HALVES:
        if name in fields and type_name != "MXFP4":
            records[name] = fields[name].view(records.dtype[name].base)
    scales, mins = fields.get("scales"), fields.get("mins")
    if type_name == "MXFP4":
        records["e"] = fields["d"]
    elif scales is not None and mins is not None:
        records["scales"] = scales | (mins << 4) if type_name == "Q2_K" else _k4_pack(scales, mins)
    elif scales is not None and type_name == "Q3_K":
        records["scales"] = _q3_pack(scales)
    elif scales is not None and type_name == "Q6_K":
        records["scales"] = scales.view(np.int8)
    elif scales is not None:
        records["scales_l"] = _stack(scales, 4, 1)
        records["scales_h"] = np.ascontiguousarray(_stack(scales >> 4, 2, 1)).view("<u2")
