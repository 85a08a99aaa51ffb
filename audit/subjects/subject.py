"""What a name on the command line stands for: cases of the catalogue, or one's own algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpassay.audit.inputs.foreign import is_code
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import Case, PrivacyClaim
from dpassay.reference.catalogue import find
from dpassay.reference.errors import require
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Space

from .own import open_own


@dataclass(frozen=True, eq=False)
class Subject:
    """One algorithm that a name stands for.

    Args:
        key: of the case, or MODULE:NAME.
        run: ``run(problem, schedule, tape)`` where the space makes schedules, else ``run(problem, tape)``; or plain
            NumPy code, ``run(data, rng)``.
        where: the data that a claim covers: a space, or one pair of neighbours.
        claim: what the case claims; None for one's own algorithm.
        case: None for one's own algorithm.
    """

    key: str
    run: Callable[..., Any]
    where: Space | Pair[Any]
    claim: PrivacyClaim | None = None
    case: Case | None = None


def subjects(name: str, *, space: str | None = None, relation: Relation | None = None) -> list[Subject]:
    """What a name stands for.

    Args:
        name: a paper, an id or a key of the catalogue, or MODULE:NAME of one's own algorithm, on a tape or plain NumPy.
        space: MODULE:NAME of the space (or a function that makes one) for one's own algorithm.
        relation: of the neighbours, for one's own algorithm; default: that of the space.

    Returns:
        At least one; exactly one for MODULE:NAME.

    Raises:
        BadInput: there is none, or it cannot be loaded.
    """
    if is_code(name):
        run, own = open_own(name, space, relation)
        return [Subject(name, run, own)]
    for option, value in (("space", space), ("relation", relation)):
        require(value is None, option, value, f"is for an algorithm of your own; {name} has its own")
    found = []
    for case in find(name):
        instance = case.build()
        where: Space | Pair[Any] = case.space() if case.space else instance.pair
        scheduled = isinstance(where, Space) and where.schedule is not None
        run = instance.run if scheduled else instance.mechanism
        found.append(Subject(case.key, run, where, case.claim, case))
    return found
