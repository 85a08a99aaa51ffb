"""Claimed, added up, realised: three numbers of epsilon for each searched model, with what shows the last one.

A pure claim is held to the exact log ratio of the probabilities of values that came out: on the pair and the values
where the search saw the largest, that is a lower bound of epsilon, without statistics. A claim with a delta is audited
on the pair that the search found, or on one that is known to move every query by all that is declared, unless the other
is clearly worse. The likelihood of its releases is known, so the bound is sound at its confidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpassay.audit.assaying.assay import examine
from dpassay.audit.assaying.worst import chosen
from dpassay.audit.results import AssumedEstimate, GivenSecrets
from dpassay.audit.row import Effort
from dpassay.audit.search.witness import Searched
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import Instance, NoSchedule, PrivacyClaim, unscheduled
from dpassay.reference.errors import BadInput
from dpassay.reference.tape import LiveTape

from .model import LOSS, Model

EFFORT = Effort(runs=200, pilot=100, examples=0)


@dataclass(frozen=True)
class Realised:
    """Epsilon of one model under one relation.

    Args:
        claimed: what the model is told to keep, or what the library says of the training.
        delta: at which all numbers are meant.
        added: what the releases add up to; for a pure claim the sum over all mechanisms of one run, each by the
            sensitivity that the library tells it. None where one of them has no known cost.
        epsilon: what is realised at least; None where nothing is shown.
        by: what shows it.
    """

    claimed: float
    delta: float
    added: float | None
    epsilon: float | None
    by: str


def realised(model: Model, relation: Relation, searched: Searched, seed: int) -> Realised:
    """The numbers of a model that has been searched."""
    if model.delta > 0:
        found = _audited(model, relation, searched, seed)
        if found.epsilon is None and relation in model.shown:
            bound, by = model.shown[relation]()
            return replace(found, epsilon=bound, by=by)
        return found
    share = searched.shares.get(LOSS)
    epsilon = None if not share else share * model.epsilon
    return Realised(model.epsilon, 0.0, _sum(searched), epsilon, "loss of one outcome, exact" if share else "")


def _sum(searched: Searched) -> float | None:
    """Over the releases of one run on the pair that moved the furthest."""
    if searched.worst is None:
        return None
    tape = LiveTape(0)
    try:
        searched.worst.mechanism(searched.worst.pair.here, tape)
    except Exception:  # code of others, on whatever values this seed draws
        return None
    total = 0.0
    for release in tape.transcript.releases:
        cost = None if release.sensitivity is None else release.law.cost(release.sensitivity)
        if cost is None or cost.kind == "gaussian":
            return None
        total += cost.size
    return total


def _audited(model: Model, relation: Relation, searched: Searched, seed: int) -> Realised:
    """The likelihood audit on one pair; which one is decided before any value that it sees is drawn."""
    if searched.worst is None:
        return Realised(model.epsilon, model.delta, searched.accounted, None, "")
    claim = PrivacyClaim(model.epsilon, model.delta, None, relation)
    effort = Effort(EFFORT.runs, EFFORT.pilot, EFFORT.confidence, seed, 0)
    worst = chosen(searched.worst, model.run, model.spaces[relation], model.pairs.get(relation, {}))
    instance = Instance(unscheduled(worst.mechanism), NoSchedule(), worst.pair)
    try:
        found = examine(instance, claim, effort, searched=searched)
    except BadInput:  # the pair cannot be replayed in full: the searched findings say why
        return Realised(model.epsilon, model.delta, searched.accounted, None, "")
    by = f"{found.by}, {effort.runs} runs, {effort.confidence:.0%}" if found.by == "likelihood" else found.by
    if found.realised is None:
        by = f"no sound bound: {_reason(found.bound)}" if isinstance(found.bound, AssumedEstimate) else ""
    return Realised(model.epsilon, model.delta, found.accounted, found.realised, by)


def _reason(bound: AssumedEstimate) -> str:
    return "batches or seeds are secret" if isinstance(bound, GivenSecrets) else bound.assumption
