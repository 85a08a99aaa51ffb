"""How far a query can really move, by label, where the declared sensitivity is more: for ``Case.attainable``.

A search that stays below a declared sensitivity has either missed the worst pair, or there is none that moves the query
so far. What is written here is the second: the largest share there is, and why.
"""

from __future__ import annotations

from collections.abc import Mapping

Reasons = Mapping[str, str]


def reason(label: str, reasons: Reasons) -> str:
    """What is said of a label: under its own name, or under the part before its last slash; empty if nothing is.

    >>> reason("x/3", {"x": "at most 0.98"})
    'at most 0.98'
    """
    return reasons.get(label, reasons.get(label.rpartition("/")[0], ""))
