"""Run the audit over many cases: in parallel, with progress, keeping what is finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpassay.reference.case import Case
from dpassay.reference.catalogue import find
from dpassay.reference.errors import Broken, require

from .assay import Effort, Row, assay_case
from .fingerprint import fingerprint
from .workers import FIELD, worked


def run_suite(
    cases: Sequence[Case],
    effort: Effort,
    jobs: int,
    done: Sequence[Row] = (),
    each: Callable[[Row], None] = lambda _: None,
    scheduler: str = "",
) -> list[Row]:
    """Assay all cases that are not ``done``; rows in the order of ``cases`` whatever the number of workers.

    ``each`` is called as soon as a row is finished (for progress and for saving).

    Args:
        jobs: worker processes on this machine.
        scheduler: address of a Dask scheduler whose workers are used instead; they look the cases up by their keys.

    Raises:
        Broken: a case does not build or its algorithm raises; the finished rows have been handed to ``each``.
        BadInput: the cluster cannot be reached or goes away, or a worker has other code.
    """
    kept = {row.key: row for row in done}
    rows = {position: kept[case.key] for position, case in enumerate(cases) if case.key in kept}
    todo = [(position, case) for position, case in enumerate(cases) if position not in rows]
    if scheduler:
        found = worked(_looked_up, [(position, case.key, effort) for position, case in todo], jobs, scheduler)
    else:
        words = [(position, case, effort) for position, case in todo]
        found = worked(_numbered, words, 1 if len(todo) < 2 else jobs, "")
    for position, row in found:
        if scheduler:
            same = row.code == fingerprint(cases[position])
            require(same, FIELD, scheduler, f"made {row.key} by other code than is installed here")
        rows[position] = row
        each(row)
    return [rows[position] for position in range(len(cases))]


def _looked_up(position: int, key: str, effort: Effort) -> tuple[int, Row]:
    """On a worker of a cluster: the case of its own catalogue."""
    return _numbered(position, next(case for case in find(key) if case.key == key), effort)


def _numbered(position: int, case: Case, effort: Effort) -> tuple[int, Row]:
    try:
        return position, assay_case(case, effort)
    except (MemoryError, Broken):
        raise
    except Exception as error:
        raise Broken.at(case.key, error) from error
