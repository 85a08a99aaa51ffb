"""The source of an algorithm with the lines that the search did not reach, marked."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError

from dpassay.audit.row import Row
from dpassay.audit.running.fingerprint import fingerprint
from dpassay.audit.search.coverage import own_functions
from dpassay.reference.case import Case

_PLACE = re.compile(r"([^:]+\.py):(\d{1,9}): ?(.*)", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """One line of source: its number in the file, its text, and whether it was left out."""

    number: int
    text: str
    missed: bool


@dataclass(frozen=True)
class Listing:
    """One function: where it stands, and its lines."""

    file: str
    name: str
    lines: tuple[Line, ...]


def listings(row: Row, case: Case | None) -> tuple[list[Listing], int]:
    """The functions of a case with a line that was not reached, and how many functions were reached in full.

    Nothing where the row is of no case, or was made by other code than what is installed: lines could have moved.
    """
    places = unreached(row)
    if case is None or not row.code or fingerprint(case) != row.code:
        return [], 0
    found, whole = [], 0
    for function in own_functions(case.build().run):
        try:
            texts, first = inspect.getsourcelines(function)
        except (OSError, TypeError, TokenError):
            continue
        file = Path(function.__code__.co_filename).name
        lines = tuple(
            Line(number, text.rstrip("\n"), (file, number, text.strip()) in places)
            for number, text in enumerate(texts, first)
        )
        if any(line.missed for line in lines):
            found.append(Listing(file, function.__qualname__, _dedented(lines)))
        else:
            whole += 1
    return found, whole


def unreached(row: Row) -> set[tuple[str, int, str]]:
    """File, number and text of each line that the row says was not reached."""
    matches = (_PLACE.fullmatch(text) for text in row.unreached)
    return {(match[1], int(match[2]), match[3].strip()) for match in matches if match}


def _dedented(lines: Sequence[Line]) -> tuple[Line, ...]:
    margin = min((len(line.text) - len(line.text.lstrip()) for line in lines if line.text.strip()), default=0)
    return tuple(Line(line.number, line.text[margin:], line.missed) for line in lines)
