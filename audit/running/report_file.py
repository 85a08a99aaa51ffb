"""The report of an audit on disk: rows by key, each with its own effort, shared by processes without losing any.

While an audit runs, each row goes into a store as soon as it is finished: ``reports/audit.json`` has
``reports/.audit.json.store`` beside it. When the run ends, also when it is interrupted, the report is written from both
and the store goes. After a kill the store is still there: the next run takes its rows.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from pathlib import Path
from platform import node
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import TypeAdapter, ValidationError

from dpassay.audit.plain import in_words, json_text, number_of
from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import installed_version
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json, write_text

from .store import Store

FORMAT = 5
_ROW = TypeAdapter(Row)
_NEEDED = {one.name for one in fields(Row) if one.default is MISSING and one.default_factory is MISSING}
_FIELD = "--output"
COUNTED = ("lines", "lines reached", "branches", "branches reached")  # of the source that a search covered
_OTHER_VERSION = "was made by another version of dpassay"


def load(path: Path, *, any_version: bool = False) -> list[Row]:
    """The rows of a report; fields that came later, within one format, have their defaults.

    A report that goes on must be of this version of the package; one that is only shown may be of any, in this format.
    """
    document = read_json(path, "report", floats=True)
    found = document.get("format") if isinstance(document, dict) else document
    if found != FORMAT or isinstance(found, bool):
        raise BadInput(f"{path}: format", found, f"expected {FORMAT}: it {_OTHER_VERSION}")
    if not any_version and document.get("dpassay") != installed_version():
        raise BadInput(f"{path}: dpassay", document.get("dpassay"), _OTHER_VERSION)
    rows = document.get("rows")
    if not isinstance(rows, list):
        raise BadInput(f"{path}: rows", rows, "must be a list")
    return [_row(f"{path}: rows[{position}]", data) for position, data in enumerate(rows)]


class Report:
    """The rows of a report that is being made.

    Args:
        path: of the report (JSON). A device gets the rows, and nothing is kept beside it.
        order: keys in the order in which rows shall stand; others come last, sorted.
        anew: rows that are already there go as soon as the first new one is kept.
        resume: rows that a killed run has left are good, also where its report is gone since.
    """

    def __init__(self, path: Path, order: Sequence[str] = (), anew: bool = False, resume: bool = False):
        self._path, self._clear, self._resume, self._writes = path, anew, resume, False
        self._places = {key: place for place, key in enumerate(order)}
        if path.exists() and not path.is_file():  # a device
            self._folder = TemporaryDirectory()
            self._store = Store(Path(self._folder.name) / "store", _FIELD)
        else:
            self._store = _opened(store_of(path), anew)
        if not anew:
            self.rows()  # what cannot go on is refused before the work begins

    def rows(self) -> list[Row]:
        """All rows, in order: those of the report, and in their place those of the store."""
        about = self._store.records("about")
        version = about.get("dpassay", installed_version())
        require(self._clear or version == installed_version(), f"{self._store.path}: dpassay", version, _OTHER_VERSION)
        base = load(self._path) if self._path.is_file() and not about.get("anew") and not self._clear else []
        kept = [_row(f"{self._store.path}: {key}", data) for key, data in self._store.records("row").items()]
        found = {row.key: row for row in [*base, *kept]}.values()
        return sorted(found, key=lambda row: (self._places.get(row.key, len(self._places)), row.key))

    def keep(self, rows: Iterable[Row]) -> None:
        """Put rows into the store, in place of those with the same key; they are on the disk when this returns."""
        records = {row.key: row.as_dict() for row in rows}
        with self._store.transaction():
            if not (self._writes or self._resume or self._path.exists()):
                # of runs that were killed, and their report was deleted: it shall not come back by itself
                writers = (name.rpartition(":") for name in self._store.records("writer"))
                self._clear |= all(host == node() and not _runs(int(process)) for host, _, process in writers)
            if self._clear or not self._store.records("about"):
                about = {"dpassay": installed_version(), "anew": self._clear}
                self._store.put("about", about, clear=True)
            self._store.put("row", records, clear=self._clear)
            if not self._writes:
                self._store.put("writer", {f"{node()}:{os.getpid()}": True}, clear=self._clear)
        self._clear, self._writes = False, True

    def write(self) -> list[Row]:
        """Write the report, which then holds all that the store held; returns its rows."""
        with self._store.transaction():
            rows = self.rows()
            write_text(self._path, json_text(document(rows)) + "\n", _FIELD)
            self._store.remove()
        return rows


def save(path: Path, rows: Sequence[Row], order: Sequence[str] = (), replace: bool = False) -> list[Row]:
    """Put rows into the report: rows with other keys stay (unless ``replace``), those with the same key go.

    Returns all rows that the report has now, in the order of their keys; those that it does not name come last.
    """
    report = Report(path, order, anew=replace)
    report.keep(rows)
    return report.write()


def document(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as the document that a report is, ``docs/schemas/report.schema.json``: every JSON output has this form."""
    return {"format": FORMAT, "dpassay": installed_version(), "rows": [row.as_dict() for row in rows]}


def store_of(path: Path) -> Path:
    """Where the rows of a report are kept while it is made: a hidden file beside it."""
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.store")


def _opened(path: Path, anew: bool) -> Store:
    """The store; one that cannot be used is set aside by a run that writes its report anew, not deleted."""
    try:
        return Store(path, _FIELD)
    except BadInput as error:
        if not (anew and path.is_file() and os.access(path, os.W_OK)):
            raise BadInput(_FIELD, str(path), f"{error.why}; without it, rows of the report are taken") from None
        aside = next(name for k in range(10**6) if not (name := path.with_name(f"{path.name}.{k}")).exists())
        with suppress(FileNotFoundError):
            path.rename(aside)
        print(f"dpassay: {path} {error.why}: set aside as {aside.name}", file=sys.stderr)
        return Store(path, _FIELD)


def _row(where: str, data: Any) -> Row:
    """A row of a report; every field of its type, or :class:`BadInput` names the first that is not.

    A field with a default may be missing: the report is older than it. One that is not known is of a newer version,
    and may mean that the others say less than they seem to.
    """
    require(isinstance(data, dict), where, data, "must be an object")
    later = sorted(set(data) - {one.name for one in fields(Row)})
    require(not later, where, later, "are fields that this version does not know: the report is of a newer one")
    missing = sorted(_NEEDED - set(data))
    require(not missing, where, missing, "are missing: it is no row of a report")
    values = {name: number_of(value) for name, value in data.items()}
    for name in ("movements", "shares"):
        if isinstance(found := values.get(name), dict):
            values[name] = {label: number_of(value) for label, value in found.items()}
    try:
        row = _ROW.validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise BadInput(f"{where}.{name}", values[name], in_words(first)) from None
    _look_into(where, row)
    known = [verdict.value for verdict in Verdict]
    require(row.verdict in known, f"{where}.verdict", row.verdict, f"must be one of {', '.join(known)}")
    return row


def _look_into(where: str, row: Row) -> None:
    """What is read of coverage, places and witnesses is there."""
    counted = row.coverage
    good = not counted or (set(counted) == set(COUNTED) and min(counted.values()) >= 0)
    require(good, f"{where}.coverage", counted, f"must be empty, or count {', '.join(sorted(COUNTED))}")
    for number, one in enumerate(row.places):
        good = all(isinstance(one.get(name), str) for name in ("finding", "file")) and type(one.get("line")) is int
        require(good, f"{where}.places[{number}]", one, "must have finding, file and line")
    for number, one in enumerate(row.witnesses):
        found = one.get("finding")
        good = isinstance(found, dict) and all(isinstance(found.get(name), str) for name in ("kind", "label", "detail"))
        require(good, f"{where}.witnesses[{number}].finding", found, "must have kind, label and detail")


def _runs(pid: int) -> bool:
    """Is there a process of this number? Where that cannot be asked, there may be."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
