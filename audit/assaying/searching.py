"""The search as part of an audit: of an instance, or of a case of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence

from dpassay.audit.row import Effort
from dpassay.audit.search.engine import search
from dpassay.audit.search.premises import Premises
from dpassay.audit.search.witness import Searched, Witness
from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.space import Space

_OF_A_PAIR = 3  # a pair without a space has only its released values to search: this part of the examples will do


def search_instance(
    instance: Instance,
    claim: PrivacyClaim,
    effort: Effort,
    space: Space | None,
    known: Sequence[Witness] = (),
    premises: Premises | None = None,
    calls: int | None = None,
) -> Searched:
    """Search the space of a case, its own pairs first; without a space the released values on its pair.

    The schedule of the instance is used where the space makes none; ``premises`` are those of a search without a space.
    """
    if effort.examples < 1:
        return Searched()
    if space is None:
        few = max(1, effort.examples // _OF_A_PAIR)
        return search(
            instance.mechanism,
            instance.pair,
            claim,
            examples=few,
            seed=effort.seed,
            known=known,
            premises=premises,
            calls=calls,
        )
    run = instance.mechanism if space.schedule is None else instance.run
    pairs = [(instance.mechanism, pair) for pair in (instance.pair, *instance.others)]
    return search(run, space, claim, examples=effort.examples, seed=effort.seed, explicit=pairs, known=known)


def search_case(case: Case, instance: Instance, effort: Effort, known: Sequence[Witness] = ()) -> Searched:
    """The search of a case of the catalogue; what it misses for a reason that the case gives is set apart.

    Args:
        known: witnesses of earlier searches, which are tried first.
    """
    searched = search_instance(instance, case.claim, effort, case.space() if case.space else None, known)
    searched.coverage = searched.coverage.explained_by(case.unreached)
    return searched


def about_run(algorithm: str, space: str, claim: PrivacyClaim) -> dict[str, str | float]:
    """What a witness says was run."""
    return {
        "algorithm": algorithm,
        "space": space,
        "epsilon": claim.epsilon,
        "delta": claim.delta,
        "relation": claim.relation,
    }
