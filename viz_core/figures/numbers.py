"""Numbers as words read them: grouped digits, a true minus sign, no exponents below 10¹²."""

from __future__ import annotations


def spoken(value: float) -> str:
    """A number in at most four significant digits, whole ones in full: 10,100, 0.0123, −3.5."""
    if value == int(value) and abs(value) < 1e12:
        text = f"{int(value):,}"
    elif 1000 <= abs(value) < 1e12:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.4g}"
    return text.replace("-", "−")
