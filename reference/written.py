"""What is written of classes and cases as data beside the code: formulas, and reasons why a search may stay short.

Formulas stand in the ``formulas.toml`` of a class's folder, in plain notation and in a table ``module.Class``, for
whoever computes with them in another language; a test vector shows them with the object
(``dpassay.audit.crosscheck``).

Reasons are the fields ``Case.unreached`` and ``Case.attainable``.

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
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from .files import parse_toml, read_text

Formulas = Mapping[str, str]
Reasons = Mapping[str, str]
C = TypeVar("C", bound=Any)
_HOME = "dpassay.reference."
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


def formulas_of(kind: type, name: str = "") -> Formulas:
    """What is written of a class: its own ``FORMULAS``, the table in its folder, or those of the class it extends.

    Of a class whose objects hold functions the table bears the object's name (``logistic``, ``kl_cvar(0.2)``).
    """
    for one in kind.__mro__:
        found: Formulas | None = vars(one).get("FORMULAS")
        if found is None and one.__module__.startswith(_HOME):
            *folders, file = one.__module__.removeprefix(_HOME).split(".")
            tables = _read(Path(__file__).parent.joinpath(*folders, "formulas.toml")).get(file, {})
            found = tables.get(one.__qualname__) or tables.get(name.partition("(")[0])
        if found is not None:
            return found
    return {}


@cache
def _read(path: Path) -> dict[str, Any]:
    return parse_toml(read_text(path, "formulas"), str(path)) if path.exists() else {}
