"""What a name on the command line stands for: cases of the catalogue, of other packages, or one's own algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dpassay.audit.inputs.foreign import foreign_code, is_code
from dpassay.audit.inputs.registered import find_cases, registered
from dpassay.audit.plain_numpy.audited import measured
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.plain_numpy.signature import is_plain
from dpassay.audit.search.engine import search
from dpassay.audit.search.ground import Setting
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import Case, Instance, NoSchedule, PrivacyClaim, unscheduled
from dpassay.reference.errors import BadInput, require
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Space

from .own import open_own

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
        >>> from dpassay.audit.subjects.subject import subjects
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
        return self.instance_of(self.worst(examples, seed))

    def instance_of(self, setting: Setting) -> Instance:
        """A setting as an instance: it still says which module its run comes from."""
        found = unscheduled(setting.mechanism)
        found.__module__ = self.key.partition(":")[0]
        return Instance(found, NoSchedule(), setting.pair)

    def adds_up_to(self, instance: Instance) -> PrivacyClaim:
        """What the longest run of an instance adds up to, at delta 1e-5.

        Raises:
            BadInput: that is nothing, or infinite.
        """
        relation: Relation = "replace-one" if isinstance(self.where, Pair) else self.where.relation
        epsilon = instance.accounted(relation).epsilon(_LOOSE.delta)
        why = f"adds up to {epsilon:g}: the releases must declare sensitivities and noise"
        require(0 < epsilon < float("inf"), "algorithm", self.key, why)
        return PrivacyClaim(epsilon, _LOOSE.delta, relation=relation)

    def on_tape(self, examples: int = 150, seed: int = 0) -> Callable[..., Any]:
        """One's own run as something that runs on a tape; plain NumPy code is measured, for its sensitivities.

        Raises:
            BadInput: plain code whose noise is not understood.
        """
        run = self.run
        if not is_plain(run):
            return run
        plain = run if isinstance(run, PlainMechanism) else PlainMechanism(run)
        with foreign_code("algorithm", self.key):
            return measured(plain, self.where, _LOOSE, examples, seed)

    def worst(self, examples: int = 150, seed: int = 0) -> Setting:
        """The data of one's own algorithm that a search moves the furthest; the given pair, where there is one.

        Raises:
            BadInput: it always raises.
        """
        run = self.on_tape(examples, seed)
        if isinstance(self.where, Pair):
            return Setting(run, self.where)
        with foreign_code("algorithm", self.key):
            found = search(run, self.where, replace(_LOOSE, relation=self.where.relation), examples=examples, seed=seed)
        if found.worst is None:
            raise BadInput("algorithm", self.key, "no example could be run to its end")
        return found.worst


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
