"""The page as a record: rows, counts, versions; the command adds what the ledger says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import versions
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import printable

from .records import MEANING, View
from .rows import row_view


def view_of(rows: Sequence[Row], source: str) -> View:
    """The rows of a report as the page shows them.

    Args:
        source: the name of the report's file.

    Raises:
        BadInput: a witness of the report is none; the row and the field are named.
    """
    cases = {case.key: case for case in CASES}
    counts = Counter(row.verdict for row in rows)
    tiles = tuple((one.value, counts[one.value], MEANING[one]) for one in Verdict if counts[one.value])
    views = tuple(row_view(place, row, cases.get(row.key)) for place, row in enumerate(rows, 1))
    return View(views, printable(source), tiles, environments=environments(rows))


def environments(rows: Sequence[Row]) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """What rows were made with, each sort of environment once, and what wrote the page where that is another."""
    found: dict[str, tuple[Mapping[str, str], int]] = {}
    for row in rows:
        if row.versions:
            name = repr(sorted(row.versions.items()))
            found[name] = (row.versions, found.get(name, ({}, 0))[1] + 1)
    here = versions()
    shown: list[tuple[str, Mapping[str, str]]] = [
        (f"{count} row{'s' * (count != 1)}", what) for what, count in found.values()
    ]
    return tuple(shown if here in [what for what, _ in found.values()] else [*shown, ("this page", here)])


def slug(text: str) -> str:
    """Letters and digits only: for names of classes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
