"""What ties the papers' formulas to the code of ``reference/``: ``TIES`` and ``COUNTS`` of each paper's module here.

A tie has a printed formula and a function of the reference that computes the same quantity, both evaluated at the same
numbers; a test says when they differ. How often an algorithm releases something is read off transcripts.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import ceil, floor
from typing import Any

from dpassay.proofs_check.formula import FormulaError
from dpassay.reference.papers import PAPERS
from dpassay.reference.tape import LiveTape

Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Tie:
    """One formula and the function that must give the same numbers."""

    source: str  # where the code lives, below ``reference``
    numbers: tuple[Numbers, ...]  # points, name to number
    place: str  # where the paper prints the formula
    formula: str
    code: Callable[[Numbers], float]
    rounding: Callable[[float], float] | None = None  # of the formula's value to a count, if the reference rounds it


def tied(source: str, numbers: tuple[Numbers, ...], *rows: tuple[Any, ...]) -> list[Tie]:
    """Ties of one function at the same numbers; a row has what else a tie has."""
    return [Tie(source, numbers, *row) for row in rows]


@cache
def ties() -> tuple[Tie, ...]:
    """Every tie, in the order of the papers."""
    return tuple(tie for key in PAPERS for tie in import_module(f"{__name__}.{key}").TIES)


def up(value: float) -> float:
    """Rounded up, but for rounding errors of the formula."""
    return float(ceil(value - 1e-9))


def down(value: float) -> float:
    """Rounded down, but for rounding errors of the formula."""
    return float(floor(value + 1e-9))


def labels(tape: LiveTape) -> Counter[str]:
    """How often each label was released."""
    return Counter(release.label for release in tape.transcript.releases)


def count(algorithm: str, label: str, numbers: Mapping[str, int]) -> int:
    """Releases of an algorithm whose label starts with ``label``, in a run of these sizes.

    Args:
        algorithm: a paper and a key of the ``COUNTS`` that its module here has.
        label: prefix of the release labels; empty counts all.
        numbers: sizes by name; those that the algorithm does not take are ignored.

    Raises:
        FormulaError: an unknown algorithm, or a size that it needs is missing.
    """
    paper, _, name = algorithm.partition("/")
    known = getattr(import_module(f"{__name__}.{paper}"), "COUNTS", {}) if paper in PAPERS else {}
    if name not in known:
        raise FormulaError(f"releases: {algorithm!r} is not one of those that the papers' modules count")
    wanted = known[name].__code__.co_varnames[: known[name].__code__.co_argcount]
    missing = [name for name in wanted if name not in numbers]
    if missing:
        raise FormulaError(f"releases of {algorithm}: {missing[0]} is not given")
    made = _run(known[name], tuple(int(numbers[name]) for name in wanted))
    return sum(times for one, times in made.items() if one.startswith(label))


@cache
def _run(function: Callable[..., Counter[str]], sizes: tuple[int, ...]) -> Counter[str]:
    return function(*sizes)
