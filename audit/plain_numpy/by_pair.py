"""What the releases of plain code add up to for one pair of neighbours: its own sequence of movements.

Nobody declares how far a query of plain code may move, so an audit takes the largest movement of each release that it
found. Two releases may owe theirs to different pairs. No pair then costs their sum, and a claim is about pairs: private
least squares releases X'X and X'y, and no record moves both the most. So every run of the search is accounted by how
far its own pair moves each query, and where only the sum over pairs breaks the claim, more pairs are looked at. What is
declared counts as declared, as on a tape: there the declaration says that every pair may move each query so far.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.results import SoundBound
from dpassay.audit.row import Effort
from dpassay.audit.search.engine import search
from dpassay.audit.search.premises import Claimed, Premises
from dpassay.audit.verdict import Verdict, judge, over_budget
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.laws.law import Law
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Space
from dpassay.reference.transcript import Draw, Note, Release

from .chosen import Chosen
from .mechanism import PlainMechanism
from .rounds import SharedAnswer
from .unlikely import Unlikely

if TYPE_CHECKING:
    from dpassay.audit.evidence.assay import Assay


Event = Release | Draw | Note
_FURTHER = 4  # times the examples of the audit: two things must come together in one pair


class OfOnePair(Premises):
    """Accounts each run by how far its own pair moves each query.

    Args:
        declared: labels whose sensitivity is declared; it stays.
    """

    def __init__(self, claim: Claimed, relation: Relation, declared: Collection[str]):
        super().__init__(claim, relation)
        self._declared = declared
        self.unlikely = Unlikely(claim.delta)

    def findings(self, run: ScriptedRun, by_rows: bool) -> list[Finding]:
        """As for all premises, on the transcript with this pair's movements; none after an answer that delta covers."""
        if not self.unlikely.comes_first(run):
            return self._judged(run, by_rows)
        self.unlikely.note(OfOnePair(self._claim, self._relation, self._declared)._judged(run, by_rows))
        return []

    def _judged(self, run: ScriptedRun, by_rows: bool) -> list[Finding]:
        twice = 2.0 if self._relation == "add-remove" and by_rows else 1.0  # the accountant takes half of it
        releases, transcript = run.transcript.releases, run.transcript
        if len(run.moves) != len(releases):  # something left beside the releases, and that is found
            return super().findings(run, by_rows)
        priced = {
            id(one): _of_pair(one, law, max(twice * move, 2 * join), twice)
            for one, law, move, join in zip(releases, run.there, run.moves, run.joins, strict=True)
            if one.label not in self._declared
        }
        events = [priced.get(id(one), one) for one in transcript.events]
        found = super().findings(replace(run, transcript=replace(transcript, events=events)), by_rows)
        if not any(one.kind is Kind.OVER_BUDGET for one in found):
            there = {id(one): law for one, law in zip(releases, run.there, strict=True)}
            answered = _answered_otherwise(transcript.events, events, there, twice)
            if answered:
                found += self._over_budget(replace(transcript, events=answered))
        return found


def _answered_otherwise(
    events: Sequence[Event], priced: Sequence[Event], there: Mapping[int, Law], twice: float
) -> list[Event]:
    """The run up to the answer whose opposite would have cost the most, of those that share noise, and that opposite.

    Until then the code has seen the same, so some run begins like this. Empty: no such answer.
    """
    most, spent = 0.0, 0.0
    found: list[Event] = []
    for number, (event, one) in enumerate(zip(events, priced, strict=True)):
        if not (isinstance(event, Release) and isinstance(event.law, SharedAnswer) and isinstance(one, Release)):
            continue
        other = event.law.between(there[id(event)], not event.value)
        if other is not None and isinstance(one.law, Chosen) and spent + twice * other > most:
            most = spent + twice * other
            found = [*priced[:number], replace(one, sensitivity=twice * other, value=not event.value)]
        spent += one.sensitivity or 0.0
    return found


def _of_pair(release: Release, there: Law, moved: float, twice: float) -> Release:
    """The release with what it costs on one pair; answers that share noise say it themselves."""
    if isinstance(release.law, SharedAnswer):
        cost = release.law.between(there, release.value)
        if cost is not None:
            law = Chosen(release.law.support, release.law.log_probabilities)
            return replace(release, law=law, sensitivity=twice * cost)
    return replace(release, sensitivity=moved)


def of_one_pair(run: PlainMechanism, claim: PrivacyClaim, where: Space | Pair[Any] | None = None) -> OfOnePair:
    """What the searches of an audit of plain code hold a run to; a given pair is taken as it is, whatever it lacks."""
    relation: Relation = "replace-one" if isinstance(where, Pair) else claim.relation
    return OfOnePair(claim, relation, set(run.habits.sensitivities))


def by_pair(
    run: PlainMechanism,
    found: Assay,
    where: Space | Pair[object],
    claim: PrivacyClaim,
    effort: Effort,
    premises: OfOnePair,
) -> Assay:
    """An audit that ended over budget by a sum over pairs, judged by the pair that costs the most instead."""
    if found.verdict is not Verdict.OVER_BUDGET or over_budget(found.searched.accounted, claim.epsilon):
        return found
    searched = search(
        run,
        where,
        claim,
        examples=_FURTHER * max(1, effort.examples),
        seed=effort.seed + 1,
        premises=premises,
        tracing=False,
    )
    if searched.gap:
        return found
    most = max(searched.accounted or 0.0, found.searched.accounted or 0.0, found.realised or 0.0)
    added = [one for one in searched.witnesses if one.finding.kind is Kind.OVER_BUDGET]
    witnesses = [*found.searched.witnesses, *added]
    kept = replace(found.searched, witnesses=witnesses, findings=[one.finding for one in witnesses], accounted=most)
    verdict = judge(
        claimed=claim.epsilon,
        realised=found.realised,
        power=found.bound.power if isinstance(found.bound, SoundBound) else None,
        accounted=most,
        findings=found.findings,
    )
    why = (
        f"the most that the search found for one pair of neighbours adds up to {most:.4g}; the largest movement of "
        f"each release, by different pairs, to {found.accounted:.4g}"
    )
    return replace(found, verdict=verdict, why=why, accounted=most, searched=kept)
