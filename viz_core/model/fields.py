"""Checked fields of a model's description: the one place where a value from a file becomes a number to compute with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from viz_core.i18n import Problem
from viz_core.model.notes import shown

MISSING = object()


def whole(table: Mapping[str, Any], name: str, default: Any = MISSING, *, least: int = 1, most: int = 10**7) -> int:
    """An integer least ≤ x ≤ most; 32.0 counts as 32, True and "32" do not. A missing or null field takes `default`."""
    value = table.get(name)
    if value is None:
        if default is MISSING:
            raise Problem("model_config_missing", name=name)
        return int(default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value != int(value):
        raise Problem("model_config_number", name=name, value=shown(value))
    if not least <= value <= most:
        raise Problem("model_config_range", name=name, value=shown(value), least=least, most=most)
    return int(value)


def real(table: Mapping[str, Any], name: str, default: float | None = None, *, most: float = 1e12) -> float:
    """A finite number 0 < x ≤ most."""
    value = table.get(name)
    if value is None:
        if default is None:
            raise Problem("model_config_missing", name=name)
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Problem("model_config_number", name=name, value=shown(value))
    if not 0 < value <= most:
        raise Problem("model_config_range", name=name, value=shown(value), least=0, most=most)
    return float(value)


def flag(table: Mapping[str, Any], name: str, default: bool) -> bool:
    """A boolean; a missing or null field takes `default`."""
    value = table.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise Problem("model_config_number", name=name, value=shown(value))
    return value


def ids(table: Mapping[str, Any], name: str) -> tuple[int, ...]:
    """Token ids given as one integer or a list of them; missing → none."""
    value = table.get(name)
    values = [] if value is None else value if isinstance(value, list) else [value]
    return tuple(whole({name: v}, name, least=0) for v in values)
