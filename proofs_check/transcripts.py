"""How often the algorithms of ``reference/`` release something, read off their transcripts: ``COUNTS`` in ``tied``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from dpassay.reference.papers import PAPERS
from dpassay.reference.tape import LiveTape

from .formula import FormulaError

RECORDS = 6  # the counts do not depend on the data


def labels(tape: LiveTape) -> Counter[str]:
    """How often each label was released."""
    return Counter(release.label for release in tape.transcript.releases)


@lru_cache(maxsize=256)
def _run(function: Any, sizes: tuple[int, ...]) -> Counter[str]:
    made: Counter[str] = function(*sizes)
    return made


def count(algorithm: str, label: str, numbers: Mapping[str, int]) -> int:
    """Releases of an algorithm whose label starts with ``label``, in a run of these sizes.

    Args:
        algorithm: a paper and a key of the ``COUNTS`` that its module in ``tied`` has.
        label: prefix of the release labels; empty counts all.
        numbers: sizes by name; those that the algorithm does not take are ignored.

    Raises:
        FormulaError: an unknown algorithm, or a size that it needs is missing.
    """
    paper, _, name = algorithm.partition("/")
    known = import_module(f"{__package__}.tied.{paper}").COUNTS if paper in PAPERS else {}
    if name not in known:
        raise FormulaError(f"releases: {algorithm!r} is not one of those that the papers' modules count")
    function = known[name]
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    missing = [name for name in wanted if name not in numbers]
    if missing:
        raise FormulaError(f"releases of {algorithm}: {missing[0]} is not given")
    made = _run(function, tuple(int(numbers[name]) for name in wanted))
    return sum(times for one, times in made.items() if one.startswith(label))
