"""Run the audit over many cases: in parallel, with progress, keeping what is finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dpassay.audit.assaying.assay import assay_case
from dpassay.audit.inputs.registered import find_cases
from dpassay.audit.row import Effort, Row
from dpassay.audit.running.fingerprint import fingerprint
from dpassay.audit.running.workers import FIELD, rarely_collected, worked
from dpassay.audit.search.witness import Witness
from dpassay.reference.case import Case
from dpassay.reference.errors import Broken, require


def run_suite(
    cases: Sequence[Case],
    effort: Effort,
    jobs: int,
    done: Sequence[Row] = (),
    each: Callable[[Row], None] = lambda _: None,
    scheduler: str = "",
    known: Mapping[str, Sequence[Witness]] | None = None,
) -> list[Row]:
    """Assay all cases that are not ``done``; rows in the order of ``cases`` whatever the number of workers.

    ``each`` is called as soon as a row is finished (for progress and for saving).

    Args:
        jobs: worker processes on this machine.
        scheduler: address of a Dask scheduler whose workers are used instead; they look the cases up by their keys.
        known: witnesses of earlier audits by the key of their case, which its search tries first.

    Raises:
        Broken: a case does not build or its algorithm raises; the finished rows have been handed to ``each``.
        BadInput: the cluster cannot be reached or goes away, or a worker has other code.
    """
    kept = {row.key: row for row in done}
    rows = {position: kept[case.key] for position, case in enumerate(cases) if case.key in kept}
    todo = [(position, case) for position, case in enumerate(cases) if position not in rows]
    tried = known or {}
    if scheduler:
        sent = [(position, case.key, effort, tried.get(case.key, ())) for position, case in todo]
        found = worked(_looked_up, sent, jobs, scheduler)
    else:
        words = [(position, case, effort, tried.get(case.key, ())) for position, case in todo]
        found = worked(_numbered, words, 1 if len(todo) < 2 else jobs, "")
    for position, row in found:
        if scheduler:
            same = row.code == fingerprint(cases[position])
            require(same, FIELD, scheduler, f"made {row.key} by other code than is installed here")
        rows[position] = row
        each(row)
    return [rows[position] for position in range(len(cases))]


def _looked_up(position: int, key: str, effort: Effort, known: Sequence[Witness]) -> tuple[int, Row]:
    """On a worker of a cluster: the case of its own catalogue."""
    return _numbered(position, next(case for case in find_cases(key) if case.key == key), effort, known)


def _numbered(position: int, case: Case, effort: Effort, known: Sequence[Witness]) -> tuple[int, Row]:
    try:
        with rarely_collected():
            return position, assay_case(case, effort, known=known)
    except (MemoryError, Broken):
        raise
    except Exception as error:
        raise Broken.at(case.key, error) from error
