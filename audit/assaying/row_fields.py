"""Fields of a row of the table, said once for all that make rows: from a case, an effort, what showed, an assay."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dpassay.audit.assaying.places import places_of, shown_path
from dpassay.audit.certify.certificate import Certificate
from dpassay.audit.evidence.assay import Assay
from dpassay.audit.results import SoundBound
from dpassay.audit.row import NOT_RUN, Effort, Row
from dpassay.audit.running.fingerprint import fingerprint
from dpassay.audit.running.report_file import COUNTED
from dpassay.audit.search.witness import Made, Searched
from dpassay.audit.verdict import judge
from dpassay.audit.version import versions
from dpassay.reference.accounting.calibrate import Uncalibrated
from dpassay.reference.case import Case
from dpassay.reference.findings import Declared, Kind, compare

from .why import names


def of_case(case: Case) -> dict[str, Any]:
    """What was audited."""
    return {
        "algorithm": case.id,
        "variant": case.variant,
        "reading": case.reading,
        "data": case.data,
        "claimed": case.claim.epsilon,
        "delta": case.claim.delta,
        "relation": case.claim.relation,
        "code": fingerprint(case),
        "attainable": dict(case.attainable),
    }


def of_effort(effort: Effort, seconds: float) -> dict[str, Any]:
    """How hard it was looked at, for how long, and with which versions."""
    return {**asdict(effort), "seconds": seconds, "versions": versions()}


def of_shown(shown: set[Declared], declared: set[Declared]) -> dict[str, Any]:
    """What showed, held to what was declared."""
    found = {}
    for field, several in zip(("undeclared", "missing"), compare(shown, declared), strict=True):
        ordered = sorted(several, key=lambda one: (list(Kind).index(one.kind), one.label))  # as kinds are listed there
        found[field] = [names([one]) for one in ordered]
    return {"expected": not any(found.values()), **found}


def of_assay(found: Assay, run: Callable[..., Any], about: Mapping[str, str | float], effort: Effort) -> dict[str, Any]:
    """What was found; its witnesses say ``about`` which run."""
    made, bound, witnesses = found.certificate, found.bound, found.searched.witnesses
    unbounded = made is not None and made.epsilon is not None and not made.bounded
    lost = (found.cause, False) if found.cause or made is None else (made.open, unbounded)
    return {
        "accounted": found.accounted,
        "accounting": found.account.method,
        "upper_bound": found.upper_bound,
        "realised": found.realised,
        "realised_by": found.by,
        "verdict": found.verdict.value,
        "why": found.why,
        "findings": list(found.findings),
        "movements": {label: movement.share for label, movement in found.movements.items()},
        "places": places_of(run, found.findings, witnesses, found.shown, *lost),
        "curves": dict(found.curves),
        "power": bound.power if isinstance(bound, SoundBound) else None,
        "upper_limit": bound.evidence.get("upper limit") if isinstance(bound, SoundBound) else None,
        "stopped": bound.runs if 0 < bound.runs < effort.runs else 0,
        **_of_certificate(made),
        **_of_search(found.searched, about),
    }


def _of_certificate(made: Certificate | None) -> dict[str, Any]:
    if made is None:
        return {}
    ends = "unbounded" if made.epsilon == math.inf else "open"
    premises = [f"{ends}: {made.open}"] if made.open else [f"taken for granted: {one}" for one in made.axioms]
    source = {line.place: line.source for line in made.lines}
    return {"certified": made.epsilon, "certificate": [*premises, *map(str, made.lines)], "source": source}


def _of_search(searched: Searched, about: Mapping[str, str | float]) -> dict[str, Any]:
    """What a row keeps of a search; its witnesses say what was run."""
    coverage = searched.coverage
    counts = {name: getattr(coverage, name.replace(" ", "_")) for name in COUNTED}
    return {
        "shares": dict(searched.shares),
        "coverage": counts if coverage.lines else {},
        "missed": list(coverage.missed),
        "unreached": list(coverage.unreached),
        "explained": dict(coverage.explained),
        "raised": list(searched.raised),
        "witnesses": [witness.as_dict() | {"about": dict(about)} for witness in searched.witnesses],
    }


def unbuilt_row(case: Case, effort: Effort, error: Uncalibrated, seconds: float, made: Sequence[Made]) -> Row:
    """The row of a case that the calibrator refuses: a finding, since its claim needs noise that does not exist.

    A bare release leaks; without one no noise keeps to the budget, so that it is over it. Where only the cost of a
    release is not known, nothing is shown: inconclusive. ``made``: the lines that leave a release bare.
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
        **of_case(case),
        **of_effort(effort, seconds),
        **of_shown(shown, set(case.declared)),
        accounted=math.inf,
        accounting=f"not accountable: {error.why}",
        upper_bound=False,
        realised=None,
        realised_by=NOT_RUN,
        verdict=verdict.value,
        why=f"{case.known}; {text}" if case.known else text,
        findings=findings,
        places=[
            {"finding": names(list(shown)), "file": shown_path(one.file), "line": one.line, "role": one.role}
            for one in made
        ],
        movements={},
        power=None,
        facts={},
    )
