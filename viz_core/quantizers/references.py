"""Where references differ on one format: ties, overflow, the MX scale rule, and the scale that codes are found with.

Every switch turns one choice of a format and leaves the rest. `WHO` says which reference takes which setting (torch
2.13, ml_dtypes 0.6.0, ggml 0.13.1, torchao 0.18.0, microxcaling), by their sources; data/references.npz holds codes
that they themselves gave, see data/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from viz_core.quantizers.direct import Direct
from viz_core.quantizers.format import Format
from viz_core.quantizers.grid import Integers
from viz_core.quantizers.microscaling import PowerScale
from viz_core.quantizers.minifloat import Minifloat
from viz_core.quantizers.quantized import Quantized
from viz_core.quantizers.registry import FORMATS

Switch = Literal["ties", "overflow", "rule", "seen"]
Settings = tuple[tuple[Switch, str], ...]
"""Switches that are turned, and to what; () is the format as it is."""
SETTINGS: dict[Switch, tuple[str, ...]] = {
    "ties": ("even", "away", "zero"),
    "overflow": ("saturate", "nan"),
    "rule": ("floor", "ceil", "even", "rceil"),
    "seen": ("exact", "stored"),
}
EIGHT, SHORT = ("E4M3", "E5M2"), ("E2M3", "E3M2", "E2M1")
MX = ("MXFP8 E4M3", "MXFP8 E5M2", "MXFP6 E2M3", "MXFP6 E3M2", "MXFP4")
NAMES = (*MX[::-1], *EIGHT, *SHORT, "NVFP4 one level", "int4 g64", "Q8_0", "Q4_0")
"""Formats with such a switch."""
WHO: tuple[tuple[str, Switch, tuple[str, ...], tuple[str, ...]], ...] = (
    ("torch", "ties", ("even",), EIGHT),
    ("ml_dtypes", "ties", ("even",), EIGHT + SHORT),
    ("torchao", "ties", ("even",), (*MX, "int4 g64", "NVFP4 one level")),
    ("microxcaling", "ties", ("away",), MX),
    ("ggml", "ties", ("zero",), ("MXFP4",)),
    ("ggml", "ties", ("away",), ("Q8_0",)),
    ("ggml", "ties", ("up",), ("Q4_0",)),
    ("torch", "overflow", ("saturate",), ("E4M3",)),
    ("torch", "overflow", ("nan",), ("E5M2",)),
    ("ml_dtypes", "overflow", ("nan",), EIGHT),
    ("torchao", "rule", SETTINGS["rule"], MX),
    ("microxcaling", "rule", ("floor",), MX),
    ("ggml", "rule", ("floor",), ("MXFP4",)),
    ("ggml", "seen", ("exact",), ("Q8_0", "Q4_0")),
    ("torchao", "seen", ("stored",), ("NVFP4 one level",)),
)
"""Reference, switch, its settings, and for which formats."""
PATH = Path(__file__).parent / "data" / "references.npz"


def who(name: str, switch: Switch, setting: str) -> tuple[str, ...]:
    """The references that take this setting for that format."""
    return tuple(ref for ref, of, settings, names in WHO if of == switch and setting in settings and name in names)


def own(form: Format) -> dict[Switch, str]:
    """The switches that a format has, and how they stand in it."""
    out: dict[Switch, str] = {}
    if isinstance(form.fit, PowerScale):
        out["rule"] = form.fit.rule
    if isinstance(form.grid, Minifloat | Integers):
        out["ties"] = form.grid.ties
    if form.fit is None and isinstance(form.grid, Minifloat) and form.grid.special != "finite":
        out["overflow"] = form.grid.overflow
    if isinstance(form.fit, Direct) and "rule" not in out:
        out["seen"] = form.fit.seen
    return out


def turned(form: Format, settings: Settings) -> Format:
    """The format with these switches turned; those that it has not are passed over."""
    has = own(form)
    grid = {switch: value for switch, value in settings if switch in ("ties", "overflow") and switch in has}
    fit = {switch: value for switch, value in settings if switch in ("rule", "seen") and switch in has}
    made: dict[str, Any] = {"grid": replace(form.grid, **grid)} if grid else {}  # type: ignore[type-var]
    made |= {"fit": replace(form.fit, **fit)} if fit else {}  # type: ignore[type-var]
    return replace(form, **made)


@dataclass(frozen=True, slots=True)
class Turned:
    """What became of a tensor: SQNR in dB, values that went elsewhere than as the format is, and values beyond its
    largest number.
    """

    sqnr: float
    elsewhere: int
    saturated: int


def elsewhere(one: np.ndarray, other: np.ndarray) -> int:
    """How many values differ; NaN equals NaN, and −0 is 0."""
    return int(((one != other) & ~(np.isnan(one) & np.isnan(other))).sum())


def saturated(x: np.ndarray, q: Quantized) -> int:
    """How many values of `x` lie beyond the outermost points of their block."""
    with np.errstate(invalid="ignore", over="ignore"):
        ends = q.format.grid.levels[[0, -1]] * q.steps[:, None]
    blocks = q.layout.split(x)
    return int(((blocks < ends.min(axis=1)[:, None]) | (blocks > ends.max(axis=1)[:, None])).sum())


@dataclass(frozen=True)
class Stored:
    """Codes that a reference gave for values `x`, (rows, 512) or (n,): the format, and how its switches are turned."""

    name: str
    settings: Settings
    reference: str
    x: np.ndarray
    codes: np.ndarray

    def differ(self) -> int:
        """How many of our codes are others; the two zeros of a float are one."""
        form = turned(FORMATS[self.name], self.settings)
        ours = form.quantize(self.x).codes.reshape(-1).astype(np.int16)
        theirs = self.codes.reshape(-1).astype(np.int16)
        if isinstance(form.grid, Minifloat):
            value = form.grid.by_code
            return elsewhere(value[ours], value[theirs])
        return int((ours != theirs).sum())


@cache
def stored(name: str) -> tuple[Stored, ...]:
    """What references gave for that format; keys of the file are `format;switch=setting;reference`."""
    out = []
    with np.load(PATH, allow_pickle=False) as file:
        for key in file.files:
            if key.startswith(f"{name};"):
                _, settings, reference = key.split(";")
                pairs: Any = tuple(tuple(pair.split("=")) for pair in settings.split(",") if pair)
                x = file["casts" if FORMATS[name].fit is None else "blocks"]
                out.append(Stored(name, pairs, reference, x[: len(file[key])], file[key]))
    return tuple(out)
