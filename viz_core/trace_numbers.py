"""How a series' numbers are rounded and worded: once, here, so that every screen shows the same digits."""

from __future__ import annotations

import math

from viz_core.trace import Series

BYTES = ("B", "KiB", "MiB", "GiB", "TiB")
SI = ("", "k", "M", "G", "T", "P", "E")


def unit(series: Series) -> tuple[float, int | None, str]:
    """The divisor, the decimals (None: scientific) and the unit in which a series is shown."""
    if series.unit != "bytes" and not series.unit.startswith("~"):
        return 1.0, series.places, series.unit
    base, names = (1024.0, BYTES) if series.unit == "bytes" else (1000.0, SI)
    largest = max((abs(v) for v in series.values if v is not None and math.isfinite(v)), default=0.0)
    power = sum(largest >= base**k for k in range(1, len(names)))
    return base**power, 1 if power else 0, names[power] + series.unit.removeprefix("bytes").removeprefix("~")


def drawn(value: float | None, divisor: float, places: int | None) -> float:
    """The number that the line is drawn by; NaN is a gap.

    With decimals it is the number as shown times 10 ** places: whole, so that the browser only sets the decimal point.
    In scientific notation it is the logarithm of the magnitude.
    """
    if value is None or (places is None and (value == 0 or not math.isfinite(value))):
        return math.nan
    if places is None:
        return math.log10(abs(value))
    if not math.isfinite(value):
        return value
    plain = divisor == 1 and value == int(value)  # nothing to round: the usual case, and a long film has many
    whole = value * 10.0**places if plain else float(f"{value / divisor:.{places}f}".replace(".", ""))
    assert abs(whole) < 2**53, f"{value}: too many digits, choose a unit with a prefix"
    return whole


def shown(value: float | None) -> str:
    """A number in scientific notation with two digits; "" for a gap."""
    if not value or not math.isfinite(value):
        return {None: "", 0: "0", math.inf: "∞"}.get(value, "−∞")
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}".replace("-", "−")
