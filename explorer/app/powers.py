"""Very large and very small numbers as one writes them by hand."""

from __future__ import annotations

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def powers(value: float, digits: int = 1) -> str:
    """A number as a few digits times a power of ten.

    >>> powers(2.34e19), powers(6.6e-5, 2), powers(9.99)
    ('2.3 × 10¹⁹', '6.60 × 10⁻⁵', '1.0 × 10¹')
    """
    front, power = f"{value:.{digits}e}".split("e")
    return f"{front} × 10{str(int(power)).translate(RAISED)}"
