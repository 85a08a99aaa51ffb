"""Short constructors, so that a row reads like the statement it stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpassay.proofs_check.claim import Assumptions, Claim, Kind, Row, Saves, Saving, Severity, Undecidable
from dpassay.reference.papers import PAPERS, Cite

PRIVACY, UTILITY, COSMETIC = Severity.PRIVACY, Severity.UTILITY, Severity.COSMETIC


def rows_of(paper: str) -> Callable[..., Row]:
    """A constructor of rows of one paper: ``row(id, place, statement, claim, **more)``.

    What saves a failing statement is given as ``reading``, ``condition``, ``repair`` or ``degenerate`` (words), and as
    a claim in ``saved_by``. What stands under ``corrected`` is decided by ``corrected_claim``; by what saves the row
    (``corrected_as_saved``; a repair needs no word); in the row that ``corrected_by`` names, without the paper if it is
    this one; or it is ``undecidable``. ``ours``: derived or inferred, not in the paper's words; the statement says so.
    """

    def row(
        name: str,
        place: str,
        statement: str,
        claim: Claim,
        *,
        severity: Severity = COSMETIC,
        corrected: str = "",
        corrected_claim: Claim | None = None,
        corrected_as_saved: bool = False,
        reading: str = "",
        condition: str = "",
        repair: str = "",
        degenerate: str = "",
        saved_by: Claim | None = None,
        garbling: str = "",
        explain: str = "",
        defect: str = "",
        corrected_by: str = "",
        undecidable: Undecidable | None = None,
        ours: bool = False,
    ) -> Row:
        words = zip(Saves, (reading, condition, repair, degenerate), strict=True)
        savings = [Saving(kind, text, saved_by) for kind, text in words if text]
        if len(savings) > 1:
            raise ValueError(f"{paper}/{name}: saved in more than one way")
        if corrected_as_saved and corrected_claim is not None:
            raise ValueError(f"{paper}/{name}: its corrected statement is decided in more than one way")
        elsewhere = corrected_by if corrected_by.split("/")[0] in PAPERS else f"{paper}/{corrected_by}"
        return Row(
            id=f"{paper}/{name}",
            cite=Cite(paper, place),
            statement=statement,
            claim=claim,
            severity=severity,
            corrected=corrected,
            saving=savings[0] if savings else Saving(claim=saved_by),
            garbling=garbling,
            explain=explain,
            corrected_claim=saved_by if corrected_as_saved else corrected_claim,
            defect=f"{paper}/{defect}" if defect else "",
            corrected_by=elsewhere if corrected_by else "",
            undecidable=undecidable,
            ours=ours,
        )

    return row


def _claim(
    kind: Kind,
    formula: dict[str, Any],
    positive: str,
    domain: Mapping[str, str] | None,
    conditions: Sequence[str],
    note: str,
    let: Mapping[str, str] | None,
) -> Claim:
    if let:
        formula["let"] = dict(let)
    return Claim(kind, formula, Assumptions(positive, dict(domain or {}), tuple(conditions), note))


def identity(
    claim: str,
    positive: str = "",
    domain: Mapping[str, str] | None = None,
    *,
    conditions: Sequence[str] = (),
    let: Mapping[str, str] | None = None,
    note: str = "",
) -> Claim:
    """``left == right`` on the region."""
    return _claim(Kind.IDENTITY, {"claim": claim}, positive, domain, conditions, note, let)


def inequality(
    claim: str,
    positive: str = "",
    domain: Mapping[str, str] | None = None,
    *,
    conditions: Sequence[str] = (),
    let: Mapping[str, str] | None = None,
    hints: Sequence[Mapping[str, str]] = (),
    note: str = "",
) -> Claim:
    """``left <= right`` on the region; ``hints`` are points to test first."""
    return _claim(Kind.INEQUALITY, {"claim": claim, "try": list(hints)}, positive, domain, conditions, note, let)


def rates(
    claim: str,
    scale: str,
    positive: str,
    *,
    constants: str = "",
    conditions: Sequence[str] = (),
    let: Mapping[str, str] | None = None,
    tilde: bool = True,
    note: str = "",
) -> Claim:
    """``left <= right`` (O) or ``left == right`` (Theta) in exponents of the scale."""
    formula = {"claim": claim, "scale": scale, "constants": constants, "tilde": tilde}
    return _claim(Kind.RATES, formula, positive, None, conditions, note, let)


def units(claim: str, free: str = "", **names: str) -> Claim:
    """Both sides carry the same dimensions (v value, l length, s sample)."""
    return Claim(Kind.UNITS, {"claim": claim, "units": names, "free": free})


def budget(
    claim: str,
    positive: str = "",
    domain: Mapping[str, str] | None = None,
    *,
    conditions: Sequence[str] = (),
    let: Mapping[str, str] | None = None,
    hints: Sequence[Mapping[str, str]] = (),
    scale: str = "",
    constants: str = "",
    note: str = "",
) -> Claim:
    """A requirement on a schedule: exact, or by exponents when ``scale`` is given."""
    formula: dict[str, Any] = {"claim": claim, "try": list(hints)}
    if scale:
        formula = {"claim": claim, "scale": scale, "constants": constants}
    return _claim(Kind.BUDGET, formula, positive, domain, conditions, note, let)


def privacy(
    std: str,
    sensitivity: str,
    epsilon: str,
    delta: str,
    positive: str = "",
    domain: Mapping[str, str] | None = None,
    *,
    count: str = "1",
    rate: str = "1",
    failure: str = "0",
    conditions: Sequence[str] = (),
    let: Mapping[str, str] | None = None,
    instances: Sequence[Mapping[str, str]] = (),
    releases: Mapping[str, tuple[str, str]] | None = None,
    relation: str = "replace-one",
    note: str = "",
) -> Claim:
    """A printed noise scale is enough for the claimed (epsilon, delta).

    ``releases`` gives names that ``count`` may use: how many releases with a label the reference algorithm makes.
    """
    formula: dict[str, Any] = {
        "std": std,
        "sensitivity": sensitivity,
        "epsilon": epsilon,
        "delta": delta,
        "count": count,
        "rate": rate,
        "failure": failure,
        "instances": list(instances),
    }
    if relation != "replace-one":
        formula["relation"] = relation  # under which the sensitivity was computed
    if releases:
        formula["releases"] = {name: list(source) for name, source in releases.items()}
    return _claim(Kind.PRIVACY, formula, positive, domain, conditions, note, let)


def releases(claim: str, counts: Mapping[str, tuple[str, str]], instances: Sequence[Mapping[str, str]]) -> Claim:
    """A printed count of releases against the transcript of the reference algorithm, run at each instance."""
    sources = {name: list(source) for name, source in counts.items()}
    return Claim(Kind.PRIVACY, {"claim": claim, "releases": sources, "instances": list(instances)})


def montecarlo(
    sampler: str, below: str, probability: str, instances: Sequence[Mapping[str, str]], trials: int = 20_000
) -> Claim:
    """P(value <= below) >= probability for a simulated random object."""
    formula = {
        "sampler": sampler,
        "below": below,
        "probability": probability,
        "instances": list(instances),
        "trials": trials,
    }
    return Claim(Kind.MONTECARLO, formula)


def table(test: str, **arguments: Any) -> Claim:
    """A test of printed numbers."""
    return Claim(Kind.TABLES, {"test": test, **arguments})


def same(
    places: Mapping[str, str],
    positive: str = "",
    domain: Mapping[str, str] | None = None,
    *,
    conditions: Sequence[str] = (),
    let: Mapping[str, str] | None = None,
    note: str = "",
) -> Claim:
    """The same quantity printed in several places."""
    return _claim(Kind.CONSISTENCY, {"same": dict(places)}, positive, domain, conditions, note, let)


def program(given: str, *steps: str) -> Claim:
    """Pseudocode as reads and writes: every name is written before it is read."""
    return Claim(Kind.CONSISTENCY, {"program": list(steps), "given": given})
