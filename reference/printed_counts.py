"""Which whole numbers a printed mean and spread can be of."""

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, inf, sqrt


def possible_counts(figure: str, runs: int, ddof: int = 1, largest: float = inf) -> list[int] | None:
    """Non-negative integers with the printed mean and spread after rounding, or None if there are none."""
    (low, high), spreads = (rounding_to(text) for text in figure.split("±"))
    spread_low, spread_high = (max(Fraction(0), edge) for edge in spreads)
    for total in range(max(0, ceil(low * runs)), floor(high * runs) + 1):
        base = Fraction(total * total, runs)
        squares_low = ceil(base + spread_low**2 * (runs - ddof))
        squares_high = floor(base + spread_high**2 * (runs - ddof))
        for squares in range(squares_low, squares_high + 1):
            found = _with_sums(total, squares, runs, min(largest, total))
            if found is not None:
                return found
    return None


def rounding_to(text: str) -> tuple[Fraction, Fraction]:
    """Between which two numbers one lies that is printed like this."""
    half = Fraction(10) ** int(Decimal(text).as_tuple().exponent) / 2
    return Fraction(text) - half, Fraction(text) + half


def _with_sums(total: int, squares: int, count: int, largest: float) -> list[int] | None:
    """`count` integers in [0, largest], descending, with the given sum and sum of squares: a pruned search."""
    if count == 1:
        return [total] if total * total == squares and total <= largest else None
    if total * total > count * squares or squares > total * max(largest, 0) or (total - squares) % 2:
        return None
    centre = Fraction(total, count)
    reach = sqrt(max(0.0, float(squares - total * centre)) * (count - 1) / count)  # how far one value can be off
    top = min(largest, floor(float(centre) + reach) + 1)
    for first in range(int(top), max(ceil(float(centre)) - 1, -1), -1):
        rest = _with_sums(total - first, squares - first * first, count - 1, first)
        if rest is not None:
            return [first, *rest]
    return None
