"""What an audit says in the end: eight verdicts, and the one function that finds the right one."""

from collections.abc import Iterable
from enum import StrEnum

from dpassay.reference.findings import Finding

from .exit_codes import FAILED, FINE, INCONCLUSIVE

TIGHT_SHARE = 0.9  # a bound of at least this share of the claim is called tight
POWER_SHOWN = 0.8  # an audit that would have seen the stated violation this often may say "consistent"
UNDERACCOUNTED = "the accounting is wrong, or a run cost more than the one that was accounted"
ROUNDING = 1e-6  # the account is a sum of floats: by this share it may lie above the claim it was calibrated to


class Verdict(StrEnum):
    """The outcomes of an audit, worst first; none of them is "private".

    Raises:
        ValueError: for a word that is no outcome.

    Example:
        >>> from dpassay.audit import Verdict
        >>> Verdict("tight") is Verdict.TIGHT, f"{Verdict.OVER_BUDGET}", Verdict.LEAKS.exit_code
        (True, 'over budget', 1)

    Source: ``docs/auditor.md``.
    """

    VIOLATED = "violated"  # more is realised than claimed, at the stated confidence
    LEAKS = "leaks"  # something private reaches the outside beside the releases
    OVERSHOOTS = "overshoots"  # what is accounted is no upper bound: a query moves by more, or more is realised
    OVER_BUDGET = "over budget"  # the releases add up to more than claimed
    CERTIFIED = "certified"  # not refuted, and no two neighbours can show more than the claim
    TIGHT = "tight"  # not refuted, and the bound reaches the claim up to `TIGHT_SHARE`
    CONSISTENT = "consistent"  # not refuted by an audit whose power was shown
    INCONCLUSIVE = "inconclusive"  # not refuted, and nothing says the audit would have seen a violation

    @property
    def failed(self) -> bool:
        """The claim does not stand as it is."""
        return self in (Verdict.VIOLATED, Verdict.LEAKS, Verdict.OVERSHOOTS, Verdict.OVER_BUDGET)

    @property
    def exit_code(self) -> int:
        """1 where the claim failed, 3 for ``inconclusive``, else 0."""
        return FAILED if self.failed else INCONCLUSIVE if self is Verdict.INCONCLUSIVE else FINE


def judge(
    *,
    claimed: float | None,
    realised: float | None = None,
    refuted: bool = False,
    power: float | None = None,
    accounted: float | None = None,
    findings: Iterable[Finding] = (),
    untested: str = "",
) -> Verdict:
    """The verdict on one claim, from all that is known; every command and every result asks this function.

    Args:
        claimed: epsilon, at the delta of all other numbers; None where no epsilon is claimed.
        realised: a sound lower bound of epsilon; None where there is none.
        refuted: a sound test without an epsilon refuted the claim.
        power: probability that the audit would have seen the violation it looked for.
        accounted: what the releases add up to (may be infinite); None where they were not accounted.
        findings: what lockstep runs or replays found.
        untested: why nothing could have been seen (an empty audit), or empty.
    """
    found = list(findings)
    kinds = {finding.kind for finding in found}
    if refuted or (claimed is not None and realised is not None and realised > claimed):
        return Verdict.VIOLATED
    if any(finding.kind.leaks and not finding.given_secrets for finding in found):
        return Verdict.LEAKS
    if any(kind.overshoots for kind in kinds):
        return Verdict.OVERSHOOTS
    if underaccounted(realised, accounted):
        return Verdict.OVERSHOOTS
    if over_budget(accounted, claimed):
        return Verdict.OVER_BUDGET
    if untested or any(kind.bookkeeping or kind.leaks for kind in kinds):  # a leak that secret choices may cover
        return Verdict.INCONCLUSIVE
    # any bound reaches a claim of 0
    if claimed is not None and realised is not None and realised > 0 and realised >= TIGHT_SHARE * claimed:
        return Verdict.TIGHT
    return Verdict.CONSISTENT if power is not None and power >= POWER_SHOWN else Verdict.INCONCLUSIVE


def over_budget(accounted: float | None, claimed: float | None) -> bool:
    """The releases add up to more than claimed, beyond rounding."""
    return accounted is not None and claimed is not None and accounted > claimed * (1 + ROUNDING)


def underaccounted(realised: float | None, accounted: float | None) -> bool:
    """More is realised than the releases add up to, beyond rounding: realised <= accounted is broken."""
    return realised is not None and accounted is not None and realised > accounted * (1 + ROUNDING)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The first of these in the order of :class:`Verdict`; ``inconclusive`` if there are none."""
    order = list(Verdict)
    return min(verdicts, key=order.index, default=Verdict.INCONCLUSIVE)


def joint_exit_code(codes: Iterable[int]) -> int:
    """Of many rows: 1 if any failed, else 3 if any is inconclusive, else 0."""
    found = set(codes)
    return next((code for code in (FAILED, INCONCLUSIVE) if code in found), FINE)
