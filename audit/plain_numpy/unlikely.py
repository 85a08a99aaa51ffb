"""Answers that are as good as never given: what follows them is what the delta of a claim is for.

A search dictates answers that no run may ever give. Propose-test-release hands out a number with little noise where a
noisy distance passes a test that it passes with probability delta at most, and it keeps its claim. So what is found
after an answer that is no more probable than delta, on either side, accuses nobody. Delta has to cover all such answers
of a run together; where they are more probable than that, nothing is said.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.results import SoundBound
from dpassay.audit.row import Effort
from dpassay.audit.search.engine import search
from dpassay.audit.verdict import judge
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.laws.law import Law
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Space

from .places import WAY_OUT, NotUnderstood

if TYPE_CHECKING:
    from dpassay.audit.evidence.assay import Assay

    from .by_pair import OfOnePair
    from .mechanism import PlainMechanism

_ROUNDING = 1e-6  # relative, of a probability
_FURTHER = 4  # times the examples of the audit


class Unlikely:
    """Remembers what was found after such answers, and how probable all of them are in one run.

    Args:
        lines: where they were given.
        found: kind and label of what was found after them.
        most: probability of all of them in one run, the largest of all runs.
    """

    def __init__(self, delta: float):
        self._delta = delta * (1 + _ROUNDING)
        self.lines: set[str] = set()
        self.found: set[tuple[Kind, str]] = set()
        self.most = 0.0

    def comes_first(self, run: ScriptedRun) -> bool:
        """Does the run give an answer that neither side gives with a probability above delta?"""
        lines, total = set(), 0.0
        for release, there in zip(run.transcript.releases, run.there, strict=False):  # shorter where a run broke off
            rare = self._rare(release.law, there)
            total += sum(rare.values())
            if any(release.value == value for value in rare):
                lines.add(release.label)
        self.lines |= lines
        self.most = max(self.most, total)
        return bool(lines)

    def _rare(self, here: Law, there: Law) -> dict[object, float]:
        """Outcomes that neither law gives with a probability above delta, with the larger one of the two."""
        one, other = here.outcomes(), there.outcomes()
        if one is None or other is None:
            return {}
        found = {value: math.exp(max(one.log_density(value), other.log_density(value))) for value in one.support}
        return {value: probability for value, probability in found.items() if probability <= self._delta}

    def note(self, findings: list[Finding]) -> None:
        """What was found after such an answer."""
        self.found |= {(one.kind, one.label) for one in findings}

    @property
    def doubt(self) -> NotUnderstood | None:
        """Why nothing can be said; None where delta covers all such answers of every run that was made."""
        if not self.found or self.most <= self._delta:
            return None
        what = "gives answers of a probability of at most delta each, and what follows them breaks the claim"
        sizes = f"they add up to {self.most:.3g} in one run, more than delta"
        return NotUnderstood("comparison", ", ".join(sorted(self.lines)), f"{what}; {sizes}; {WAY_OUT}")


def without_unlikely(
    found: Assay,
    run: PlainMechanism,
    premises: OfOnePair,
    where: Space | Pair[Any],
    claim: PrivacyClaim,
    effort: Effort,
) -> Assay:
    """The audit without what was found only after such answers.

    The runs of the likelihood are drawn towards what reveals the most, so they come to such answers too, and do not say
    so: what they found, and the search did not, is searched for again on their pair.
    """
    unlikely = premises.unlikely
    shown = {(one.finding.kind, one.finding.label) for one in found.searched.witnesses}
    open_ones = {(one.kind, one.label) for one in found.findings if one.kind.leaks} - shown - unlikely.found
    pair = where if isinstance(where, Pair) else found.searched.worst.pair if found.searched.worst else None
    if open_ones and unlikely.most and pair is not None:
        examples = _FURTHER * max(1, effort.examples)
        again = search(run, pair, claim, examples=examples, seed=effort.seed + 2, premises=premises, tracing=False)
        shown |= {(one.kind, one.label) for one in again.findings}
    if not unlikely.found:
        return found
    kept = [one for one in found.findings if (one.kind, one.label) not in unlikely.found - shown]
    answer = f"an answer of a probability of {unlikely.most:.3g} ({', '.join(sorted(unlikely.lines))})"
    told = f"not counted, since delta covers it: what follows {answer}"
    if len(kept) == len(found.findings):
        return replace(found, why=f"{found.why}; {told}" if found.why else told)
    verdict = judge(
        claimed=claim.epsilon,
        realised=found.realised,
        power=found.bound.power if isinstance(found.bound, SoundBound) else None,
        accounted=None if found.account.unknown else found.accounted,
        findings=kept,
    )
    return replace(found, verdict=verdict, findings=tuple(kept), why=told)
