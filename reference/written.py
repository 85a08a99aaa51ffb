"""What is written of cases as data beside the code: why a search may stay short (``unreached``, ``attainable``).

Unreached: releases and decisions that no run of the case comes to, by place, ``file.py: the beginning of its line``.
Most are decided by the schedule, which is public and is the same for all data: the other way is taken by another
reading or variant of the catalogue. What is not listed and is not reached by a search is a gap of the search, and said
as one.

Attainable: how far a query can really move, by label, where the declared sensitivity is more. A search that stays below
a declared sensitivity has either missed the worst pair, or there is none that moves the query so far. What is written
in ``written.toml`` is the second: the largest share there is, and why.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from .files import parse_toml, read_text

Reasons = Mapping[str, str]


@cache
def _table() -> dict[str, Any]:
    return parse_toml(read_text(Path(__file__).with_suffix(".toml"), "reasons"), "written.toml")


def written_of(key: str, what: str) -> Reasons:
    """The reasons of a row, ``unreached`` or ``attainable``."""
    entries = [entry for entry in _table()["rows"] if any(fnmatchcase(key, pattern) for pattern in entry["keys"])]
    found = [entry.get(what, {}) for entry in entries]
    if what == "unreached":  # sets of them, by name
        found = [_table()[what][name] for names in found for name in names]
    return {place: why for one in found for place, why in one.items()}


def reason(label: str, reasons: Reasons) -> str:
    """What is said of a label: under its own name, or under the part before its last slash; empty if nothing is.

    >>> reason("x/3", {"x": "at most 0.98"})
    'at most 0.98'
    """
    return reasons.get(label, reasons.get(label.rpartition("/")[0], ""))
