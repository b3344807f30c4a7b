"""Numbers as words read them: grouped digits, a true minus sign, powers of ten written out."""

from __future__ import annotations

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def spoken(value: float) -> str:
    """A number in at most four significant digits, whole ones in full: 10,100, 0.0123, −3.5."""
    if value == int(value) and abs(value) < 1e12:
        text = f"{int(value):,}"
    elif 1000 <= abs(value) < 1e12:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.4g}"
        if "e" in text:
            digits, power = text.split("e")
            text = f"{digits} × 10{str(int(power)).translate(RAISED)}"
    return text.replace("-", "−")
