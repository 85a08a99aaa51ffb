"""The report of an audit on disk: rows by key, each with its own effort, shared by processes without losing any."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json, write_text

from .assay import Row
from .plain import json_text
from .verdict import Verdict
from .version import installed_version

FORMAT = 3
_TYPES = {name: TypeAdapter(hint) for name, hint in get_type_hints(Row).items()}  # of a row's fields


def load(path: Path) -> list[Row]:
    """The rows of a report.

    Raises:
        BadInput: the file cannot be read, is no report, or was made by another version.
    """
    document = read_json(path, "report")
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInput(
            f"{path}: format", _get(document, "format"), f"expected {FORMAT}: it is no report of this version"
        )
    if document.get("dpassay") != installed_version():
        raise BadInput(
            f"{path}: dpassay", document.get("dpassay"), "was made by another version; give another --output"
        )
    rows = document.get("rows")
    if not isinstance(rows, list):
        raise BadInput(f"{path}: rows", rows, "must be a list")
    return [_row(f"{path}: rows[{position}]", data) for position, data in enumerate(rows)]


def save(path: Path, rows: Sequence[Row], order: Sequence[str] = (), replace: bool = False) -> list[Row]:
    """Put rows into the report: rows with other keys stay (unless ``replace``), those with the same key go.

    Another process may write the same report in the meantime: the file is locked, read, and written as a whole.

    Args:
        order: keys in the order in which rows shall stand; others come last, sorted.

    Returns:
        All rows that the report has now.
    """
    with _locked(path):
        known = [] if replace or not path.is_file() else load(path)
        by_key = {row.key: row for row in (*known, *rows)}
        places = {key: place for place, key in enumerate(order)}
        found = sorted(by_key.values(), key=lambda row: (places.get(row.key, len(places)), row.key))
        write_text(path, json_text(document(found)) + "\n", "--output")
    return found


def document(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as the document that a report is, ``docs/schemas/report.schema.json``: every JSON output has this form."""
    return {"format": FORMAT, "dpassay": installed_version(), "rows": [row.as_dict() for row in rows]}


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time, by a lock file beside the report (no lock where the system has none)."""
    if path.exists() and not path.is_file():  # a device
        yield
        return
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(target.with_name(f".{target.name}.lock"), os.O_CREAT | os.O_RDWR, 0o644)
    except OSError as error:
        raise BadInput("--output", str(path), error.strerror or str(error)) from None
    try:
        with suppress(ImportError):
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)  # gives the lock back


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
