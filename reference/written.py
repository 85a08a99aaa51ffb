"""What is written of cases as data beside the code: why a search may stay short (``unreached``, ``attainable``).

Unreached: releases and decisions that no run of the case comes to, by place, ``file.py: the beginning of its line``.
Most are decided by the schedule, which is public and is the same for all data: the other way is taken by another
reading or variant of the catalogue. What is not listed and is not reached by a search is a gap of the search, and said
as one.

Attainable: how far a query can really move, by label, where the declared sensitivity is more. A search that stays below
a declared sensitivity has either missed the worst pair, or there is none that moves the query so far. What is written
in ``written.toml`` is the second: the largest share there is, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from .files import parse_toml, read_text

Reasons = Mapping[str, str]
C = TypeVar("C", bound=Any)
_WRITTEN = parse_toml(read_text(Path(__file__).with_suffix(".toml"), "reasons"), "written.toml")


def with_reasons(*cases: C) -> tuple[C, ...]:
    """The rows of a paper, each with what is written of it."""
    return tuple(replace(case, **_written_of(case.key)) for case in cases)


def _written_of(key: str) -> dict[str, Reasons]:
    entries = [entry for entry in _WRITTEN["rows"] if any(fnmatchcase(key, pattern) for pattern in entry["keys"])]
    sets = [_WRITTEN["unreached"][name] for entry in entries for name in entry.get("unreached", ())]
    return {
        "unreached": {place: why for one in sets for place, why in one.items()},
        "attainable": {label: why for entry in entries for label, why in entry.get("attainable", {}).items()},
    }


def reason(label: str, reasons: Reasons) -> str:
    """What is said of a label: under its own name, or under the part before its last slash; empty if nothing is.

    >>> reason("x/3", {"x": "at most 0.98"})
    'at most 0.98'
    """
    return reasons.get(label, reasons.get(label.rpartition("/")[0], ""))
