"""Which verdicts make a check fail: ``--fail-on``, and what a warning is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict, joint_exit_code


class FailOn(StrEnum):
    """The mildest verdict whose exit code is not 0; each includes all that stand before it."""

    VIOLATED = "violated"
    LEAKS = "leaks"
    OVERSHOOTS = "overshoots"
    OVER_BUDGET = "over-budget"
    INCONCLUSIVE = "inconclusive"
    NEVER = "never"

    @property
    def verdicts(self) -> frozenset[Verdict]:
        """That count."""
        if self is FailOn.NEVER:
            return frozenset()
        serious = [verdict for verdict in Verdict if verdict.failed]
        if self is FailOn.INCONCLUSIVE:
            return frozenset([*serious, Verdict.INCONCLUSIVE])
        return frozenset(serious[: serious.index(Verdict(self.value.replace("-", " "))) + 1])


def counts(row: Row, fail_on: FailOn) -> bool:
    """Does this row change the exit code?"""
    return row.severity != "warning" and Verdict(row.verdict) in fail_on.verdicts


def exit_code(rows: Iterable[Row], fail_on: FailOn, changes: bool = False) -> int:
    """1 if a claim that counts fails, or the baseline says so; else 3 if one that counts is inconclusive; else 0."""
    codes = [Verdict(row.verdict).exit_code for row in rows if counts(row, fail_on)]
    return joint_exit_code([*codes, FAILED if changes and fail_on is not FailOn.NEVER else FINE])
