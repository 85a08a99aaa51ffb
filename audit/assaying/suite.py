"""Run the audit over many cases: in parallel, with progress, keeping what is finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dpassay.audit.assaying.assay import assay_case
from dpassay.audit.row import Effort, Row
from dpassay.audit.running.workers import rarely_collected, worked
from dpassay.audit.search.witness import Witness
from dpassay.reference.case import Case
from dpassay.reference.errors import Broken


def run_suite(
    cases: Sequence[Case],
    effort: Effort,
    jobs: int,
    done: Sequence[Row] = (),
    each: Callable[[Row], None] = lambda _: None,
    known: Mapping[str, Sequence[Witness]] | None = None,
) -> list[Row]:
    """Assay all cases that are not ``done``; rows in the order of ``cases`` whatever the number of workers.

    ``each`` is called as soon as a row is finished (for progress and for saving).

    Args:
        jobs: worker processes on this machine.
        known: witnesses of earlier audits by the key of their case, which its search tries first.

    Raises:
        Broken: a case does not build or its algorithm raises; the finished rows have been handed to ``each``.
    """
    kept = {row.key: row for row in done}
    rows = {position: kept[case.key] for position, case in enumerate(cases) if case.key in kept}
    todo = [(position, case) for position, case in enumerate(cases) if position not in rows]
    tried = known or {}
    words = [(position, case, effort, tried.get(case.key, ())) for position, case in todo]
    for position, row in worked(_numbered, words, 1 if len(todo) < 2 else jobs):
        rows[position] = row
        each(row)
    return [rows[position] for position in range(len(cases))]


def _numbered(position: int, case: Case, effort: Effort, known: Sequence[Witness]) -> tuple[int, Row]:
    try:
        with rarely_collected():
            return position, assay_case(case, effort, known=known)
    except (MemoryError, Broken):
        raise
    except Exception as error:
        raise Broken.at(case.key, error) from error
