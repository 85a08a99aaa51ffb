"""What a name on the command line stands for: cases of the catalogue, of other packages, or one's own algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import Case, Instance, NoSchedule, PrivacyClaim, unscheduled
from dpassay.reference.errors import BadInput, require
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.space import Space

from .foreign import foreign_code, is_code
from .own import open_own
from .plain_numpy.measured import is_plain, measured
from .plain_numpy.mechanism import PlainMechanism
from .registered import find_cases, registered
from .search.engine import search

_LOOSE = PrivacyClaim(1e300, 1e-5)  # a claim that nothing reaches: the search only looks for far neighbours


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

    Raises:
        Nothing: it is made by :func:`subjects`.

    Example:
        >>> from dpassay.audit.subject import subjects
        >>> (found,) = subjects("baselines/dp_sgd:full-batch")
        >>> found.key, found.claim.epsilon
        ('baselines/dp_sgd:full-batch@baseline', 2.0)

    Source: the project's own.
    """

    key: str
    run: Callable[..., Any]
    where: Space | Pair[Any]
    claim: PrivacyClaim | None = None
    case: Case | None = None

    def instance(self, examples: int = 150, seed: int = 0) -> Instance:
        """Something that runs on a pair: that of the case, or the pair that a search moves the furthest.

        Raises:
            BadInput: one's own algorithm always raises.
        """
        if self.case is not None:
            return self.case.build()
        with foreign_code("algorithm", self.key):
            run = self.run
            if is_plain(run):
                plain = run if isinstance(run, PlainMechanism) else PlainMechanism(run)
                run = measured(plain, self.where, _LOOSE, examples, seed)
            if isinstance(self.where, Pair):
                return Instance(self._unscheduled(run), NoSchedule(), self.where)
            found = search(run, self.where, replace(_LOOSE, relation=self.where.relation), examples=examples, seed=seed)
        if found.worst is None:
            raise BadInput("algorithm", self.key, "no example could be run to its end")
        return Instance(self._unscheduled(found.worst.mechanism), NoSchedule(), found.worst.pair)

    def _unscheduled(self, mechanism: Callable[..., Any]) -> Callable[..., Any]:
        """It still says which module it comes from."""
        found = unscheduled(mechanism)
        found.__module__ = self.key.partition(":")[0]
        return found

    def as_case(self, claim: PrivacyClaim | None = None, examples: int = 150, seed: int = 0) -> Case:
        """The case, or one's own algorithm as a case on its worst pair.

        Args:
            claim: for one's own algorithm; default: what its longest run adds up to, at delta 1e-5.
        """
        if self.case is not None:
            return self.case
        instance = self.instance(examples, seed)
        relation: Relation = "replace-one" if isinstance(self.where, Pair) else self.where.relation
        if claim is None:
            epsilon = instance.accounted(relation).epsilon(_LOOSE.delta)
            why = f"adds up to {epsilon:g}: the releases must declare sensitivities and noise"
            require(0 < epsilon < float("inf"), "algorithm", self.key, why)
            claim = PrivacyClaim(epsilon, _LOOSE.delta, relation=relation)
        name = self.key.replace("/", ".")
        build = partial(_itself, instance)
        return Case(f"own/{name}", "baseline", self.key, Cite("own", self.key), claim, build)


def _itself(instance: Instance) -> Instance:
    return instance


def subjects(
    name: str, *, space: str | None = None, relation: Relation | None = None, field: str = "algorithm"
) -> list[Subject]:
    """What a name stands for.

    Args:
        name: a paper, an id or a key of the catalogue, or of a case that another package registers through the entry
            point group ``dpassay.cases``; or MODULE:NAME of one's own algorithm, on a tape or plain NumPy.
        space: MODULE:NAME of the space (or a function that makes one) for one's own algorithm.
        relation: of the neighbours, for one's own algorithm; default: that of the space.
        field: what to call the name in messages.

    Returns:
        At least one; exactly one for MODULE:NAME.

    Raises:
        BadInput: there is none, or it cannot be loaded.
        Broken: another package's entry point cannot be loaded.
    """
    if is_code(name) and not any(name == case.key for case in registered()):
        run, where = open_own(name, space, relation, field)
        return [Subject(name, run, where)]
    for option, value in (("space", space), ("relation", relation)):
        require(value is None, option, value, f"is for an algorithm of your own; {name} has its own")
    return [_of_case(case) for case in find_cases(name, field)]


def _of_case(case: Case) -> Subject:
    instance = case.build()
    where = case.space() if case.space else instance.pair
    scheduled = isinstance(where, Space) and where.schedule is not None
    return Subject(case.key, instance.run if scheduled else instance.mechanism, where, case.claim, case)
