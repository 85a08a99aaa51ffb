"""A row whose schedule cannot be made: no noise meets the budget, because something is released without noise."""

from __future__ import annotations

import math

from dpassay.audit.row import Effort, Row
from dpassay.audit.verdict import judge
from dpassay.reference.accounting.calibrate import Uncalibrated
from dpassay.reference.case import Case
from dpassay.reference.findings import Declared, Kind

from . import row_fields


def unbuilt_row(case: Case, effort: Effort, error: Uncalibrated, seconds: float) -> Row:
    """The row of a case that the calibrator refuses: a finding, since its claim needs noise that does not exist.

    A bare release leaks; without one no noise keeps to the budget, so that it is over it. Where only the cost of a
    release is not known, nothing is shown: inconclusive.
    """
    finding = error.finding
    findings = [] if finding is None or finding.kind.of_the_run else [finding]
    over = finding is not None and finding.kind is Kind.OVER_BUDGET
    text = f"the noise cannot be calibrated: {finding.detail if finding else error}"
    verdict = judge(
        claimed=case.claim.epsilon, accounted=math.inf if over else None, findings=findings, untested=str(error)
    )
    shown = set() if finding is None else {Declared(finding.kind, finding.label)}
    return Row(
        **row_fields.of_case(case),
        **row_fields.of_effort(effort, seconds),
        **row_fields.of_shown(shown, set(case.declared)),
        accounted=math.inf,
        accounting=f"not accountable: {error.why}",
        upper_bound=False,
        realised=None,
        realised_by="not run",
        verdict=verdict.value,
        why=f"{case.known}; {text}" if case.known else text,
        findings=findings,
        movements={},
        power=None,
        facts={},
    )
