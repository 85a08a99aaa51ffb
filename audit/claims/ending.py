"""How `dpassay check` ends: which verdicts make it fail, and the lines under its table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from dpassay.audit.exit_codes import FAILED, FINE
from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict, joint_exit_code

from .model import ClaimsFile


class FailOn(StrEnum):
    """The mildest verdict whose exit code is not 0; each includes all that stand before it."""

    NEVER = "never"
    VIOLATED = "violated"
    LEAKS = "leaks"
    OVERSHOOTS = "overshoots"
    OVER_BUDGET = "over-budget"
    INCONCLUSIVE = "inconclusive"

    def counts(self, row: Row) -> bool:
        """Does this row change the exit code?"""
        words = [one.value.replace("-", " ") for one in FailOn]
        return row.severity != "warning" and row.verdict in words[: list(FailOn).index(self) + 1]


def exit_code(rows: Iterable[Row], fail_on: FailOn, changes: bool = False) -> int:
    """1 if a claim that counts fails, or the baseline says so; else 3 if one that counts is inconclusive; else 0."""
    codes = [Verdict(row.verdict).exit_code for row in rows if fail_on.counts(row)]
    return joint_exit_code([*codes, FAILED if changes and fail_on is not FailOn.NEVER else FINE])


def closing_lines(rows: Sequence[Row], file: ClaimsFile, unchecked: int = 0) -> list[str]:
    """The lines under the table, failing claims last.

    Args:
        unchecked: how many could not be checked.
    """
    seen = Counter(row.verdict for row in rows)
    summary = ", ".join(f"{seen[verdict.value]} {verdict.value}" for verdict in Verdict if seen[verdict.value])
    left = len(file.claim) - len(rows) - unchecked
    kept = sum(row.cached for row in rows)
    notes = [f"{kept} from the cache"] * (kept > 0)
    notes += [f"{unchecked} could not be checked"] * (unchecked > 0)
    notes += [f"{left} of the file not checked"] * (left > 0)
    aside = f" ({', '.join(notes)})" if notes else ""
    found = [f"{len(rows)} claim{'s' * (len(rows) != 1)}: {summary or 'none was checked'}{aside}."]
    shared = f"the {len(file.claim)} claims of the file share that, and" if len(file.claim) > 1 else "so"
    found.append(
        f"False alarms: with probability {file.false_alarms:.2g} at most is any claim that holds called violated; "
        f"{shared} each lower bound holds with {100 * file.confidence:.6g} % confidence. "
        "Search, replay and accounting raise none."
    )
    failing = [row for row in rows if Verdict(row.verdict).exit_code or row.changes]
    order = list(Verdict)
    return [*found, *map(failure, sorted(failing, key=lambda one: -order.index(Verdict(one.verdict))))]


def failure(row: Row) -> str:
    """One line for a claim that fails: where, who answers, why."""
    place = next((f"{one['file']}:{one['line']}" for one in row.places), "")
    about = [part for part in (place, f"owner {row.owner}" if row.owner else "") if part]
    verdict = Verdict(row.verdict)
    head = f"FAILED ({row.verdict_shown})" if verdict.failed else "FAILED (changed)" if row.changes else "inconclusive"
    why = row.why or "no cause is known"
    if row.changes and not verdict.failed:
        why = "; ".join(row.changes)
    warning = "warning: " if row.severity == "warning" else ""
    aside = f" [{', '.join(about)}]" if about else ""
    return f"{warning}{head}: {row.key}{aside}: {why}"
