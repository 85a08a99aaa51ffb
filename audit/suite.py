"""Run the audit over many cases: in parallel, with progress, keeping what is finished."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from joblib import Parallel, delayed

from dpassay.reference.case import Case
from dpassay.reference.errors import Broken

from .assay import Effort, Row, assay_case


def run_suite(
    cases: Sequence[Case],
    effort: Effort,
    jobs: int,
    done: Sequence[Row] = (),
    each: Callable[[Row], None] = lambda _: None,
) -> list[Row]:
    """Assay all cases that are not ``done``; rows in the order of ``cases`` whatever the number of workers.

    ``each`` is called as soon as a row is finished (for progress and for saving).

    Raises:
        Broken: a case does not build or its algorithm raises; the finished rows have been handed to ``each``.
    """
    kept = {row.key: row for row in done}
    rows = {position: kept[case.key] for position, case in enumerate(cases) if case.key in kept}
    todo = [(position, case) for position, case in enumerate(cases) if position not in rows]
    found: Iterator[tuple[int, Row]]
    if jobs == 1 or len(todo) < 2:
        found = (_numbered(position, case, effort) for position, case in todo)
    else:
        # one BLAS thread a worker: the matrices are small, and threads would fight over the cores
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        found = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(_numbered)(position, case, effort) for position, case in todo
        )
    for position, row in found:
        rows[position] = row
        each(row)
    return [rows[position] for position in range(len(cases))]


def _numbered(position: int, case: Case, effort: Effort) -> tuple[int, Row]:
    try:
        return position, assay_case(case, effort)
    except (MemoryError, Broken):
        raise
    except Exception as error:
        raise Broken.at(case.key, error) from error
