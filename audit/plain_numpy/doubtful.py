"""Before plain code is accused: could a draw that is counted as known, and may be meant as secret, explain it?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from dpassay.reference.findings import Finding, Kind
from dpassay.reference.neighbours import Pair

from .leaking import masked
from .mechanism import PlainMechanism
from .places import WAY_OUT, NotUnderstood

FEWER = "--space with Space.matrix(n=(1, 2))"


def _choosing(run: PlainMechanism) -> str:
    """Lines of draws that choose among the records and count as known."""
    return ", ".join(sorted(line for line, of_records in run.public.items() if of_records))


def of_known(run: PlainMechanism | None) -> str:
    """What a reader must know of them where the audit passes without their secrecy."""
    lines = _choosing(run) if run is not None else ""
    return lines and f"which records {lines} chooses has no law here (replacement, weights) and amplifies nothing"


def refuse_doubtful(
    run: PlainMechanism, findings: Collection[Finding], pairs: Sequence[Pair[Any]], seed: int = 0
) -> None:
    """Refuse to accuse where all that was found may come of a draw that the code never said to be public.

    Args:
        run: as it was audited; it knows which draws were counted as known to the adversary.
        findings: all of the audit that failed; none where only the numbers failed.
        pairs: data on which the findings showed.

    Raises:
        NotUnderstood: naming the lines of those draws.
    """
    lines = sorted({*run.public, *run.alone})
    leaks = {(one.kind, one.label) for one in findings if one.kind.leaks}
    if not leaks:
        among = _choosing(run)
        if among:
            what = (
                "chooses among the records in a way that has no law here (with replacement, by weights, one by one): "
                "it is counted as known to the adversary, and nothing is amplified by it"
            )
            raise NotUnderstood("draw", among, f"{what}; draw with replace=False, {WAY_OUT}")
        if run.habits.prompt and run.alone:
            what = "is added to what was released already and counted as known to the adversary, so it protects nothing"
            raise NotUnderstood("noise", ", ".join(sorted(run.alone)), f"{what}; {WAY_OUT}")
        return
    hidden = {(Kind.PUBLIC_VALUE, line) for line in lines}
    for pair in pairs:
        hidden |= masked(run, pair, seed)
    if lines and leaks <= hidden:
        kinds = " and ".join(sorted({kind.value for kind, _ in leaks}))
        what = f"is counted as known to the adversary, and then the {kinds} tells neighbours apart; if it is secret"
        fewer = f"try fewer records ({FEWER}): then every way through the code is followed; or "
        few = any(run.finite_on(pair) for pair in pairs)
        raise NotUnderstood("draw", ", ".join(lines), f"{what}, {fewer if few else ''}{WAY_OUT}")
