"""What a problem or an algorithm takes for granted of numbers that it computed.

On numbers nothing happens. Values of which only bounds are known (``dpassay.audit.certify``) take the bound over, and
the certificate names the axiom. A problem says in ``RECORDS`` which of its fields hold its records, one along the
first axis, and what one record may be: a bound on its 2-norm (a number, or the name of the field that holds it), the
smallest and largest number in it, or None for any finite numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")
Domain = float | str | tuple[float, float] | None
Records = Mapping[str, Domain]


def within(values: T, low: float, high: float, axiom: str) -> T:
    """The values, of which ``axiom`` says that they lie in [low, high]."""
    assumed: Any = getattr(values, "assumed", None)
    found: T = values if assumed is None else assumed(axiom, low=low, high=high)
    return found


def moves_by(value: T, distance: float, axiom: str) -> T:
    """The value, of which ``axiom`` says that replacing one record moves it by at most ``distance`` (2-norm)."""
    assumed: Any = getattr(value, "assumed", None)
    found: T = value if assumed is None else assumed(axiom, moves=distance)
    return found


def rows_within(rows: T, norm: float, axiom: str) -> T:
    """Rows, one a record, of which ``axiom`` says that they are at most ``norm`` long (2-norm)."""
    assumed: Any = getattr(rows, "assumed", None)
    found: T = rows if assumed is None else assumed(axiom, norm=norm)
    return found


def settled(truth: Any) -> bool:
    """The truth; of values of which only bounds are known, what the bounds of their domain decide."""
    decided: Any = getattr(truth, "settled", None)
    return bool(truth) if decided is None else bool(decided())
