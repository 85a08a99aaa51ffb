"""Run the audit over many cases: in parallel, with progress, keeping what is finished."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_type_hints

from joblib import Parallel, delayed
from pydantic import TypeAdapter, ValidationError

from dpassay.reference.case import Case
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json, write_text

from .assay import Effort, Row, assay
from .plain import json_text
from .results import Verdict
from .version import installed_version

FORMAT = 2
_TYPES = {name: TypeAdapter(hint) for name, hint in get_type_hints(Row).items()}  # of a row's fields


def run_suite(
    cases: Sequence[Case],
    effort: Effort,
    jobs: int,
    done: Sequence[Row] = (),
    each: Callable[[Row], None] = lambda _: None,
) -> list[Row]:
    """Assay all cases that are not ``done``; rows in the order of ``cases`` whatever the number of workers.

    ``each`` is called as soon as a row is finished (for progress and for saving).
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
    return position, assay(case, effort)


def save(path: Path, rows: Sequence[Row], effort: Effort) -> None:
    """Write the report as canonical JSON, atomically."""
    document = {
        "format": FORMAT,
        "dpassay": installed_version(),
        "effort": asdict(effort),
        "rows": [row.as_dict() for row in rows],
    }
    write_text(path, json_text(document) + "\n", "--output")


def load(path: Path, effort: Effort) -> list[Row]:
    """Rows of an earlier report made with the same effort (for --resume).

    Raises:
        BadInput: the file is not a report, or was made with another effort or version.
    """
    document = read_json(path, "report")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInput(f"{path}: format", _get(document, "format"), f"expected {FORMAT}")
    if document.get("effort") != asdict(effort) or document.get("dpassay") != installed_version():
        raise BadInput(f"{path}: effort", document.get("effort"), "was made with another effort; drop --resume")
    rows = document.get("rows")
    if not isinstance(rows, list):
        raise BadInput(f"{path}: rows", rows, "must be a list")
    return [_row(f"{path}: rows[{position}]", data) for position, data in enumerate(rows)]


def _row(where: str, data: Any) -> Row:
    """A row of a report; every field of its type, or :class:`BadInput` names the first that is not."""
    if not isinstance(data, dict) or set(data) != set(_TYPES):
        raise BadInput(where, "malformed", "was not written by this version")
    values = {name: _number(value) for name, value in data.items()}
    if isinstance(values["movements"], dict):
        values["movements"] = {label: _number(value) for label, value in values["movements"].items()}
    for name, kind in _TYPES.items():
        try:
            kind.validate_python(values[name], strict=True)
        except ValidationError as error:
            raise BadInput(f"{where}.{name}", data[name], error.errors()[0]["msg"]) from None
    known = [verdict.value for verdict in Verdict]
    require(values["verdict"] in known, f"{where}.verdict", values["verdict"], f"must be one of {', '.join(known)}")
    return Row(**values)


def _get(document: Any, name: str) -> Any:
    return document.get(name) if isinstance(document, dict) else document


def _number(value: Any) -> Any:
    """Back from `plain`."""
    words = {"infinity": math.inf, "-infinity": -math.inf, "nan": math.nan}
    return words.get(value, value) if isinstance(value, str) else value
