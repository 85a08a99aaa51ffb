"""Cases of the catalogue and of other packages, which register theirs through entry points; nothing else is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES, find
from dpassay.reference.errors import BadInput, Broken

GROUP = "dpassay.cases"  # entry points: a Case, a sequence of them, or a function without arguments that returns either


def find_cases(name: str) -> list[Case]:
    """The cases of the catalogue, or of other packages, with this name.

    Raises:
        BadInput: there is none.
    """
    try:
        return find(name)
    except BadInput as error:
        found = [case for case in registered() if name in case.names]
        if not found:
            raise BadInput("algorithm", name, error.why) from None
        return found


def all_cases() -> list[Case]:
    """The catalogue, then what other packages register."""
    return [*CASES, *registered()]


@cache
def registered() -> tuple[Case, ...]:
    """Cases of other packages, by the names of their entry points.

    Raises:
        Broken: an entry point cannot be loaded, or is no case.
    """
    known = {case.key for case in CASES}
    found: list[Case] = []
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        for case in _loaded(point):
            if case.key in known:
                raise Broken(f"entry point {point.name} of {GROUP}: {case.key} is a key that is taken")
            known.add(case.key)
            found.append(case)
    return tuple(found)


def _loaded(point: EntryPoint) -> Iterable[Case]:
    try:
        value = point.load()
        if callable(value) and not isinstance(value, Case):
            value = value()
        cases = [value] if isinstance(value, Case) else list(value)
    except Exception as error:
        raise Broken.at(f"entry point {point.name} of {GROUP}", error) from error
    for case in cases:
        if not isinstance(case, Case):
            raise Broken(f"entry point {point.name} of {GROUP}: {type(case).__name__} is no Case")
    return cases
