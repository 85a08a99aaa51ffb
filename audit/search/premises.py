"""The premises of adaptive composition, judged on one scripted run.

Nothing private reaches the outside beside the releases; no query moves by more than it declares; the releases add up to
at most the claim; the worlds make the same calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpassay.audit.lockstep.hub import ScriptedHub
from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.transcript import Transcript

_ROUNDING = 1e-9  # relative; of a moved distance
_NOTABLY = 1.5  # times the spending of one that kept to the claim: less is not accounted, as that may take seconds
_MORE = 1e-6  # relative; a claim may be used up to rounding


class Premises:
    """Judges runs against one claim, and remembers the largest movements and the largest account.

    Args:
        shares: by label the largest movement over the declared sensitivity.
        accounted: the largest epsilon that a transcript added up to; None where no run could be accounted.
        gap: why some run could not be; empty if all could.
    """

    hub_type: Callable[..., ScriptedHub] | None = None  # what runs are watched by
    cut = 300  # calls after which an example is cut off: others show more for the time
    many = math.inf  # releases from which on a run is accounted only if it spends notably more than those before

    def __init__(self, claim: PrivacyClaim, relation: Relation):
        self._claim, self._relation = claim, relation
        self._epsilons: dict[Account, float] = {}
        self._allowed = 0.0  # the largest spending of a long run that kept to the claim
        self.shares: dict[str, float] = {}
        self.accounted: float | None = None
        self.gap = ""

    def findings(self, run: ScriptedRun, by_rows: bool) -> list[Finding]:
        """What breaks a premise.

        Args:
            by_rows: the neighbours were made of rows, so under add-remove one of them lacks the record: the accountant
                takes half of the declared sensitivity then, and the query may move by no more.
        """
        found = list(run.findings)
        whole = 0.5 if self._relation == "add-remove" and by_rows else 1.0
        for label, share in run.shares.items():
            joined = run.movements[label].joined  # where it is too large, that is found already
            self.shares[label] = max(self.shares.get(label, 0.0), share / whole, joined)
            known = any(one.kind is Kind.SENSITIVITY_EXCEEDED and one.label == label for one in found)
            if share > whole * (1 + _ROUNDING) and not known:
                counted = "half" if whole < 1 else "all"
                detail = f"a record moves the query by {share:.4g} of its sensitivity, {counted} is counted"
                found.append(Finding(Kind.SENSITIVITY_EXCEEDED, label, 0, detail))
        if run.complete and len(run.transcript.releases) <= self.many:
            return found + self._over_budget(run.transcript)
        return found + self._of_a_long_run(run)

    def _of_a_long_run(self, run: ScriptedRun) -> list[Finding]:
        """What a run had released when it was cut off costs no more than all of it would."""
        if not (run.too_long or run.complete):
            return []
        costs = [release.law.cost(release.sensitivity or 0.0) for release in run.transcript.releases]
        # a rank, no bound: the sum of squared sensitivities over noise
        spending = math.fsum(min(one.size, 1e100) ** 2 for one in costs if one is not None)
        if spending <= _NOTABLY * self._allowed:
            return []
        found = self._over_budget(run.transcript)
        if not found:
            self._allowed = max(self._allowed, spending)
        return found

    def _over_budget(self, transcript: Transcript) -> list[Finding]:
        cost = account(transcript, self._relation)
        if cost.unknown:  # nothing is declared, or no cost is known: so nothing adds up
            self.gap = self.gap or cost.gap
            return []
        if cost not in self._epsilons:
            self._epsilons[cost] = cost.epsilon(self._claim.delta)
        epsilon = self._epsilons[cost]
        self.accounted = max(epsilon, self.accounted or 0.0)
        if epsilon <= self._claim.epsilon * (1 + _MORE):
            return []
        why = f"the releases add up to epsilon {epsilon:.4g}, claimed {self._claim.epsilon:.4g}"
        if math.isinf(epsilon):
            why = f"the releases have no finite epsilon: {cost.gap}"
        return [Finding(Kind.OVER_BUDGET, "", len(transcript.events), why)]
