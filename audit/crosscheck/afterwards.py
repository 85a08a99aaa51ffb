"""Is what a change touches computed from released and public values alone, and no bound of a query? Then no record
reaches it but through a release.

The statement that is changed is run as it was and as it is changed: on the vector; with every number that a function of
the problem returns moved a little, which must not move it; and with other released values, which must.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .bounding import into_a_bound
from .causes import run_of
from .edits import statements
from .jitter import Jitter
from .mutants import Mutant, old_text, values_at
from .planting import function_of, source
from .rounding import Run
from .source import Source

SIZE = 1e-3  # of the amounts, relative: far above rounding, too little to matter for a bound that is reached
NAME = re.compile(r"^[A-Za-z_][\w.]*$")
OF_A_QUERY = re.compile("clip|threshold|cap|bound|std|sigma|noise|scale|sensitiv|size|batch|indices|rows|records|mean")


def afterwards(run: Run, vector: Mapping[str, Any], mutant: Mutant) -> bool:
    """Does the changed line work on released values alone? False where that is not known."""
    if mutant.when or mutant.more or "/" not in mutant.file or mutant.file.startswith(("blocks/", "problems/")):
        return False
    text = Source(source(mutant.file))
    line = _statement(mutant)
    if line is None or any(OF_A_QUERY.search(text.code(one)) for one in line.targets):
        return False
    function = function_of(mutant.file, mutant.change)
    if function is not None and into_a_bound(mutant.file, mutant.change.line, function.lines):
        return False
    first, last = text.span(line.value)
    change = mutant.change
    old = text.raw[first:last].decode()
    new = (text.raw[first : change.first] + change.text.encode() + text.raw[change.last : last]).decode()
    watched = [replace(change, first=first, last=last, text=f"_edit.watched(lambda: ({one}))") for one in (old, new)]
    found = [_of_releases(run, vector, replace(mutant, change=one)) for one in watched]
    return None not in found and any(found)


def exact_for_released(vectors: Sequence[Mapping[str, Any]], mutant: Mutant) -> bool:
    """Does one name stand for another, which records move, on any of these vectors, and the other one on none?"""
    change, old = mutant.change, old_text(mutant)
    if mutant.when or mutant.more or not (NAME.match(old) and NAME.match(change.text)):
        return False
    noted = [f"(_edit.watched(lambda: ({one})), {old})[1]" for one in (old, change.text)]
    known = [replace(mutant, change=replace(change, text=one)) for one in noted]
    try:
        moved = [[_moved_by_records(vector, one) for vector in vectors] for one in known]
    except (SyntaxError, TypeError, ValueError):  # it stands where no value can be noted
        return False
    return False in moved[0] and True not in moved[0] and True in moved[1]


def _moved_by_records(vector: Mapping[str, Any], mutant: Mutant) -> bool | None:
    """None where nothing is computed there."""
    run = run_of(vector)
    if run is None:
        return None
    plain = values_at(run, vector, mutant, None)
    return None if not plain else not _alike(plain, values_at(run, vector, mutant, Jitter(SIZE, 7)))


def _statement(mutant: Mutant) -> ast.Assign | None:
    """The assignment in whose value the change is."""
    text, change = Source(source(mutant.file)), mutant.change
    for one in statements(ast.parse(source(mutant.file)).body):
        if isinstance(one, ast.Assign):
            first, last = text.span(one.value)
            if first <= change.first and change.last <= last:
                return one
    return None


def _of_releases(run: Run, vector: Mapping[str, Any], mutant: Mutant) -> bool | None:
    """Do its values follow what was released? None where records move them, or that is not known."""
    moved = {**vector, "events": [_released_otherwise(event) for event in vector["events"]]}
    jitter = Jitter(SIZE, 7)
    try:
        plain = values_at(run, vector, mutant, None)
        same = plain and _alike(plain, values_at(run, vector, mutant, jitter))
        return not _alike(plain, values_at(run, moved, mutant, None)) if same and jitter.largest else None
    except (SyntaxError, TypeError, ValueError):  # it stands where no value can be noted
        return None


def _released_otherwise(event: Mapping[str, Any]) -> Mapping[str, Any]:
    value = event.get("value")
    if event["event"] != "release" or isinstance(value, bool | int) or value is None:
        return event
    return {**event, "value": np.multiply(value, 1 + SIZE).tolist()}


def _alike(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(_flat(one), _flat(other), strict=True))


def _flat(values: Sequence[Any]) -> list[Any]:
    found = []
    for one in values:
        found += _flat(one) if isinstance(one, tuple | list) else [one]
    return found
