"""The page as a record: rows, counts, versions; the command adds what the ledger says."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Sequence
from importlib import metadata

from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import installed_version
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
    return View(views, printable(source), tiles, versions=versions())


def versions() -> dict[str, str]:
    """What the page was written with: no more is known of the machine that made the report."""
    found = {"dpassay": installed_version(), "Python": platform.python_version()}
    for name in ("numpy", "scipy", "dp-accounting", "hypothesis"):
        found[name] = metadata.version(name)
    return found | {"system": f"{platform.system()} {platform.machine()}"}


def slug(text: str) -> str:
    """Letters and digits only: for names of classes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
