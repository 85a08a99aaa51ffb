"""Run the audit over many cases: in parallel, with progress, keeping what is finished."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from dpassay.reference.case import Case
from dpassay.reference.errors import BadInput, require

from .plain import json_text
from .sandwich import Effort, Row, assay

FORMAT = 2


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
        "dpassay": _version(),
        "effort": asdict(effort),
        "rows": [row.as_dict() for row in rows],
    }
    text = json_text(document) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(path.suffix + ".part")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise BadInput("--output", str(path), error.strerror or str(error)) from None


def require_writable(path: Path) -> None:
    """Say before the work begins that its report cannot be written.

    Raises:
        BadInput: the folder cannot be made or written to, or the path is a folder.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        require(not path.is_dir(), "--output", str(path), "is a folder")
        probe = path.with_suffix(path.suffix + ".part")
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadInput("--output", str(path), error.strerror or str(error)) from None


def load(path: Path, effort: Effort) -> list[Row]:
    """Rows of an earlier report made with the same effort (for --resume).

    Raises:
        BadInput: the file is not a report, or was made with another effort or version.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadInput(str(path), "unreadable", str(error)) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInput(f"{path}: format", _get(document, "format"), f"expected {FORMAT}")
    if document.get("effort") != asdict(effort) or document.get("dpassay") != _version():
        raise BadInput(f"{path}: effort", document.get("effort"), "was made with another effort; drop --resume")
    names = {field.name for field in fields(Row)}
    rows = []
    for position, data in enumerate(document.get("rows", [])):
        if not isinstance(data, dict) or set(data) != names:
            raise BadInput(f"{path}: rows[{position}]", "malformed", "was not written by this version")
        rows.append(Row(**{name: _read(value) for name, value in data.items()}))
    return rows


def _version() -> str:
    try:
        return version("dpassay")
    except PackageNotFoundError:
        return "not installed"


def _get(document: Any, name: str) -> Any:
    return document.get(name) if isinstance(document, dict) else document


def _read(value: Any) -> Any:
    """Back from `plain`."""
    return math.inf if value == "infinity" else value
