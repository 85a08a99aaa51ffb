"""Budget and regime: a schedule must fit its data and the range of the lemmas it uses."""

from __future__ import annotations

from dpassay.proofs_check.claim import Claim, Finding

from . import inequality, rates


def check(claim: Claim) -> Finding:
    """Formula keys: ``claim`` (the requirement, e.g. "T*B <= n"), ``let`` (the schedule).

    With ``scale`` the requirement is read up to constants and decided by exponents (``rates``), otherwise exactly.
    """
    finding = rates.check(claim) if "scale" in claim.formula else inequality.check(claim)
    how = "up to constants" if "scale" in claim.formula else "exactly, constants included"
    return Finding(
        finding.verdict,
        f"requirement {claim.formula['claim']} ({how}): {finding.evidence}",
        finding.counterexample,
        finding.points,
        finding.vacuous,
    )
