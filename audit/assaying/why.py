"""Why a verdict is what it is: the cause of a row, in one line."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dpassay.audit.evidence.assay import Assay
from dpassay.audit.lockstep.outcome import WHOLE, Movement
from dpassay.audit.plain import number
from dpassay.audit.search.witness import Searched
from dpassay.audit.verdict import UNDERACCOUNTED, Verdict, over_budget, underaccounted
from dpassay.reference.case import ExactDelta
from dpassay.reference.findings import Declared, Finding, Kind


def why(found: Assay, known: str, highest: float, exact: ExactDelta | None, untested: str) -> str:
    """The parts that apply, most serious first.

    Args:
        highest: what the releases of any run add up to at most.
        untested: why what was realised says nothing about the noise, or empty.
    """
    account, realised, by = found.account, found.realised, found.by
    parts = [known] if known else []
    if by == "exact" and exact:
        parts.append(
            f"exact delta {exact.at_claim:.3g} at the claimed epsilon, {exact.at_infinity:.3g} whatever the epsilon"
        )
        parts.append(exact.how)
    elif by == "outputs" and realised is not None:
        parts.append(f"the output alone, without the releases, shows epsilon >= {realised:.3g}")
    parts += _shown(found.findings)
    too_much = over_budget(found.accounted, found.claimed)
    if account.unknown:
        parts.append(f"not accounted: {account.gap}")
    elif too_much:
        parts.append(f"the releases add up to {number(found.accounted, found.claimed)}, more than claimed")
    of_the_run = any(one.kind.leaks or one.kind.overshoots for one in found.findings if one.kind is not Kind.APPARATUS)
    explained = account.unknown or by != "likelihood" or of_the_run
    if not explained and underaccounted(realised, highest):
        more = f"{number(realised, highest)} is realised and {number(highest, realised)} accounted"
        parts.append(f"{more}: {UNDERACCOUNTED}")
    if untested:
        parts.append(untested)
    elif realised is None:
        parts.append(without_bound(found))
    elif found.verdict is not Verdict.VIOLATED:
        parts += _looseness(found, realised)
    if found.verdict is Verdict.VIOLATED and not parts:
        parts.append("more is realised than claimed")
    return "; ".join(parts + _of_the_search(found.searched, too_much))


def without_bound(found: Assay) -> str:
    """Why nothing is realised."""
    return f"no lower bound: {found.by}" if found.bound.runs else f"statistics {found.by}"


def _of_the_search(searched: Searched, told: bool) -> list[str]:
    """What adds to the rest: other sizes that cost too much, what was not reached, what was raised."""
    parts = [one.detail for one in searched.findings if one.kind is Kind.OVER_BUDGET and not told]
    missed = searched.coverage.missed
    if missed:
        parts.append(f"not reached by the search: {missed[0]}" + (f" and {len(missed) - 1} more" * (len(missed) > 1)))
    if searched.worst is not None and searched.worst.alike:
        parts.append("the lower bound is of data whose other records are equal or none: else the losses are not exact")
    if searched.raised:
        parts.append(f"raised on data that the claim covers: {next(iter(searched.raised))}")
    return parts + ([searched.note] if searched.note else [])


def _shown(findings: Sequence[Finding]) -> list[str]:
    parts = []
    leaks = [finding for finding in findings if finding.kind.leaks]
    if leaks:
        more = f" and {len(leaks) - 3} more" if len(leaks) > 3 else ""
        parts.append("replay: " + "; ".join(f"{f.kind.value} ({f.label}, step {f.step})" for f in leaks[:3]) + more)
    exceeded = sorted((one for one in findings if one.kind.overshoots), key=lambda one: one.kind is not Kind.APPARATUS)
    parts += [f"{one.kind.value} at {one.label}: {one.detail}" for one in exceeded[:1]]
    parts += [str(finding) for finding in findings if finding.kind.bookkeeping][:1]
    return parts


def names(findings: Iterable[Declared]) -> str:
    """Kinds and labels, for a sentence."""
    return ", ".join(f"{one.kind.value} ({one.label})" if one.label else one.kind.value for one in findings)


def _looseness(found: Assay, realised: float) -> list[str]:
    """How close the lower bound comes to the upper one, and what the gap is made of."""
    account, accounted, delta, movements = found.account, found.accounted, found.delta, found.movements
    if not (math.isfinite(accounted) and accounted > 0):
        return []
    parts = [f"{realised / accounted:.0%} of the accounted epsilon shown"]
    if realised >= 0.95 * accounted:
        return parts
    short = moved_too_little(movements, found.searched.measured)
    if short:
        parts.append(short)
    parts += [] if found.searched.measured else used_at_times(movements)
    if any(part.kind == "pure" for part, _ in account.common):
        parts.append("pure-DP parts are accounted at their worst case")
    rest = tuple((part, count) for part, count in account.common if part.kind != "above-threshold")
    if len(rest) < len(account.common):
        alone = replace(account, common=rest).epsilon(delta)
        parts.append(f"line searches are accounted at their worst queries, without them {alone:.3g}")
    one_way = account.one_direction(delta)
    if one_way is not None and one_way < 0.98 * accounted:
        parts.append(f"a pair that pulls one way at every step can show {one_way:.3g} at most")
    carried = found.bound.evidence.get("pilot estimate")
    if isinstance(carried, float) and math.isfinite(carried):
        parts.append(f"this pair carries about {carried:.3g} (pilot)")
    return parts


def used_at_times(movements: Mapping[str, Movement]) -> list[str]:
    """Which queries the pair moves by their whole sensitivity, but not in every release."""
    found = [
        f"{one.whole / one.releases:.0%}{'' if place else ' of the releases'} of {label!r}"
        for place, (label, one) in enumerate(
            (label, one) for label, one in sorted(movements.items()) if 0 < one.whole < WHOLE * one.releases
        )
    ]
    more = f" and fewer than all of {len(found) - 3} more" if len(found) > 3 else ""
    return [f"the pair uses the whole claimed sensitivity in {', '.join(found[:3])}{more}"] if found else []


def moved_too_little(movements: Mapping[str, Movement], measured: bool) -> str | None:
    """Which queries the pair moves by less than their sensitivity; what it does move is named first."""
    shares = sorted((movement.share, label) for label, movement in movements.items() if movement.claimed)
    still = [repr(label) for share, label in shares if share < 0.005]  # would read 0%
    moving = [(share, label) for share, label in shares if share >= 0.005]
    short = [(share, label) for share, label in moving if share < 0.95]
    if not (still or short):
        return None
    if not moving:
        return "the pair moves no query"
    named = [f"{label!r} by {share:.0%}" for share, label in (short or moving)]
    text = ", ".join(named[:3])
    if len(named) > 3:
        text += f" and {len(named) - 3} more" + (" by less than 95%" if short else "")
    whole = "the largest movement that was found" if measured else "the claimed sensitivity"
    text = f"the pair moves {text} of {whole}"
    if still:
        text += f", {', '.join(still[:3])}{f' and {len(still) - 3} more' if len(still) > 3 else ''} not at all"
    return text
