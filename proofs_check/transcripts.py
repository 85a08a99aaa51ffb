"""How often the algorithms of ``reference/`` release something, read off their transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache

from dpassay.proofs_check.formula import FormulaError
from dpassay.reference.dro import double_spider, recursive_spider
from dpassay.reference.dro.divergences import chi_square
from dpassay.reference.dro.schedules import Constants, Plan, double_spider_printed, recursive_spider_printed
from dpassay.reference.dro.worst_case import compositional_pair, dual_pair
from dpassay.reference.tape import LiveTape

RECORDS = 6  # the counts do not depend on the data
Sizes = tuple[tuple[str, int], ...]


def _double_spider(T: int, q: int) -> Counter[str]:
    tape, plan = LiveTape(0), Plan(n=RECORDS, steps=T, phase=q, batch=3)
    schedule = double_spider_printed(plan, Constants(), 1.0, 1e-5)
    double_spider.run(dual_pair(chi_square(), RECORDS).here, schedule, tape)
    return _labels(tape)


def _recursive_spider(T: int, q: int) -> Counter[str]:
    tape, plan = LiveTape(0), Plan(n=RECORDS, steps=T, phase=q, batch=3)
    recursive_spider.run(compositional_pair(RECORDS).here, recursive_spider_printed(plan, 1.0, 1e-5), tape)
    return _labels(tape)


def _labels(tape: LiveTape) -> Counter[str]:
    return Counter(release.label for release in tape.transcript.releases)


ALGORITHMS: dict[str, Callable[..., Counter[str]]] = {
    "dro/double_spider": _double_spider,
    "dro/recursive_spider": _recursive_spider,
}


@lru_cache(maxsize=256)
def _run(algorithm: str, sizes: Sizes) -> Counter[str]:
    return ALGORITHMS[algorithm](**dict(sizes))


def count(algorithm: str, label: str, numbers: Mapping[str, int]) -> int:
    """Releases of an algorithm whose label starts with ``label``, in a run of these sizes.

    Args:
        algorithm: a key of ``ALGORITHMS``.
        label: prefix of the release labels; empty counts all.
        numbers: sizes by name; those that the algorithm does not take are ignored.

    Raises:
        FormulaError: an unknown algorithm, or a size that it needs is missing.
    """
    if algorithm not in ALGORITHMS:
        raise FormulaError(f"releases: {algorithm!r} is not one of {', '.join(ALGORITHMS)}")
    function = ALGORITHMS[algorithm]
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    missing = [name for name in wanted if name not in numbers]
    if missing:
        raise FormulaError(f"releases of {algorithm}: {missing[0]} is not given")
    made = _run(algorithm, tuple((name, int(numbers[name])) for name in wanted))
    return sum(times for name, times in made.items() if name.startswith(label))
