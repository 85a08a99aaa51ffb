"""The report of an audit on disk: rows by key, each with its own effort, shared by processes without losing any.

While an audit runs, each row goes into a store as soon as it is finished: ``reports/audit.json`` has
``reports/.audit.json.store`` beside it. The report is what is written from the store when the run ends, also when it is
interrupted; after a kill ``--resume`` finds the rows in the store. Without a store the rows of the report are taken.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from pathlib import Path
from types import TracebackType
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from dpassay.audit.plain import json_text
from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import installed_version
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_bytes, read_json, write_text

from .store import Store

FORMAT = 4
_TYPES = {name: TypeAdapter(hint) for name, hint in get_type_hints(Row).items()}  # of a row's fields
_NEEDED = {one.name for one in fields(Row) if one.default is MISSING and one.default_factory is MISSING}
_FIELD = "--output"


def load(path: Path, *, any_version: bool = False) -> list[Row]:
    """The rows of a report; fields that came later, within one format, have their defaults.

    Args:
        any_version: of the package, as far as the format is this one: for a report that is only shown. A report that
            goes on must be of one version.

    Raises:
        BadInput: the file cannot be read, is no report, or was made by another version, or a newer one.
    """
    document = read_json(path, "report", floats=True)
    found = document.get("format") if isinstance(document, dict) else document
    if found != FORMAT or isinstance(found, bool):
        newer = type(found) is int and found > FORMAT
        why = "it is of a newer version of dpassay" if newer else "it is no report of this version"
        raise BadInput(f"{path}: format", found, f"expected {FORMAT}: {why}")
    if not any_version and document.get("dpassay") != installed_version():
        raise BadInput(
            f"{path}: dpassay", document.get("dpassay"), "was made by another version; give another --output"
        )
    rows = document.get("rows")
    if not isinstance(rows, list):
        raise BadInput(f"{path}: rows", rows, "must be a list")
    return [_row(f"{path}: rows[{position}]", data) for position, data in enumerate(rows)]


class Report:
    """The rows of a report that is being made; a context manager.

    Args:
        path: of the report (JSON). A device gets the rows, and nothing is kept beside it.
        order: keys in the order in which rows shall stand; others come last, sorted.
        anew: rows that are already there go as soon as the first new one is kept.

    Raises:
        BadInput: the report or the store cannot be used, or one of them does not belong to the other.
    """

    def __init__(self, path: Path, order: Sequence[str] = (), anew: bool = False):
        self._path, self._clear = path, anew
        self._places = {key: place for place, key in enumerate(order)}
        self._store = Store(None, _FIELD) if _is_device(path) else self._opened(anew)
        try:
            self._begin(anew)
        except BaseException:
            self._store.close()
            raise

    def __enter__(self) -> Report:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.close()

    def rows(self) -> list[Row]:
        """All rows, in order."""
        found = [_row(f"{self._store.name}: {key}", data) for key, data in self._store.records("row").items()]
        return sorted(found, key=lambda row: (self._places.get(row.key, len(self._places)), row.key))

    def keep(self, rows: Iterable[Row]) -> None:
        """Put rows into the store, in place of those with the same key; they are on the disk when this returns."""
        records = {row.key: row.as_dict() for row in rows}
        with self._store.transaction():
            self._store.put("row", records, clear=self._clear)
        self._clear = False

    def write(self) -> list[Row]:
        """Write the report from the store; returns its rows.

        Its digest is kept before, so that a kill between the two leaves no report that the store does not know.
        """
        announced = ""
        while True:  # until no other process has added a row in between
            with self._store.transaction():
                rows = self.rows()
                text = json_text(document(rows)) + "\n"
                digest = _digest(text.encode())
                if digest == announced:
                    write_text(self._path, text, _FIELD)
                    self._store.put("report", {digest: True}, clear=True)
                    return rows
                self._store.put("report", {digest: True})
                announced = digest

    def _opened(self, anew: bool) -> Store:
        path = store_of(self._path)
        try:
            store = Store(path, _FIELD)
            try:
                store.records("about")  # which looks at all of it
            except BadInput:
                store.close()
                raise
            return store
        except BadInput as error:
            if not (anew and path.is_file() and os.access(path, os.W_OK)):
                raise BadInput(_FIELD, str(path), f"{error.why}; without it, rows of the report are taken") from None
            return _set_aside(path, error)

    def _begin(self, anew: bool) -> None:
        """Hold the store against the report, or take the rows of the report."""
        with self._store.transaction():  # in which nobody else writes the report
            there = self._path.is_file()
            digest = _digest(read_bytes(self._path, "report")) if there else ""
            about = self._store.records("about")
            if about and not anew:
                version = about.get("dpassay")
                require(version == installed_version(), f"{self._store.name}: dpassay", version, _OTHER_VERSION)
                known = self._store.records("report")
                why = f"is not what was written there last; remove it, or {self._store.name} with its rows"
                require(not there or digest in known, _FIELD, str(self._path), why)
            elif there and not anew:
                self._store.put("row", {row.key: row.as_dict() for row in load(self._path)})
            self._store.put("about", {"dpassay": installed_version()})
            if there:
                self._store.put("report", {digest: True})


def save(path: Path, rows: Sequence[Row], order: Sequence[str] = (), replace: bool = False) -> list[Row]:
    """Put rows into the report: rows with other keys stay (unless ``replace``), those with the same key go.

    Args:
        order: keys in the order in which rows shall stand; others come last, sorted.

    Returns:
        All rows that the report has now.
    """
    with Report(path, order, anew=replace) as report:
        report.keep(rows)
        return report.write()


def document(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as the document that a report is, ``docs/schemas/report.schema.json``: every JSON output has this form."""
    return {"format": FORMAT, "dpassay": installed_version(), "rows": [row.as_dict() for row in rows]}


def store_of(path: Path) -> Path:
    """Where the rows of a report are kept while it is made: a hidden file beside it."""
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.store")


_COUNTED = {"lines", "lines reached", "branches", "branches reached"}
_OTHER_VERSION = "was made by another version; give another --output"


def _set_aside(path: Path, error: BadInput) -> Store:
    """A store that cannot be used is nobody's to delete; the run that writes its report anew goes on without it."""
    aside = next(name for k in range(10**6) if not (name := path.with_name(f"{path.name}.{k}")).exists())
    with suppress(FileNotFoundError):
        path.rename(aside)
    print(f"dpassay: {path} {error.why}: set aside as {aside.name}", file=sys.stderr)
    return Store(path, _FIELD)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _row(where: str, data: Any) -> Row:
    """A row of a report; every field of its type, or :class:`BadInput` names the first that is not.

    A field with a default may be missing: the report is older than it. One that is not known is of a newer version,
    and may mean that the others say less than they seem to.
    """
    require(isinstance(data, dict), where, data, "must be an object")
    later = sorted(set(data) - set(_TYPES))
    require(not later, where, later, "are fields that this version does not know: the report is of a newer one")
    missing = sorted(_NEEDED - set(data))
    require(not missing, where, missing, "are missing: it is no row of a report")
    values = {**_defaults(), **{name: _number(value) for name, value in data.items()}}
    for name in ("movements", "shares"):
        if isinstance(values[name], dict):
            values[name] = {label: _number(value) for label, value in values[name].items()}
    for name, kind in _TYPES.items():
        try:
            if name == "findings":  # records: made of the objects that stand for them
                values[name] = kind.validate_json(json_text(values[name]), strict=True)
            else:
                kind.validate_python(values[name], strict=True)
        except ValidationError as error:
            raise BadInput(f"{where}.{name}", values[name], error.errors()[0]["msg"]) from None
    _look_into(where, values)
    known = [verdict.value for verdict in Verdict]
    require(values["verdict"] in known, f"{where}.verdict", values["verdict"], f"must be one of {', '.join(known)}")
    return Row(**values)


def _defaults() -> dict[str, Any]:
    """Of the fields that a row may lack; lists and dicts are fresh ones."""
    later = [one for one in fields(Row) if one.name not in _NEEDED]
    return {one.name: one.default if one.default_factory is MISSING else one.default_factory() for one in later}


def _look_into(where: str, values: dict[str, Any]) -> None:
    """What is read of coverage, places and witnesses is there."""
    counted = values["coverage"]
    good = not counted or (set(counted) == _COUNTED and min(counted.values()) >= 0)
    require(good, f"{where}.coverage", counted, f"must be empty, or count {', '.join(sorted(_COUNTED))}")
    for number, one in enumerate(values["places"]):
        good = all(isinstance(one.get(name), str) for name in ("finding", "file")) and type(one.get("line")) is int
        require(good, f"{where}.places[{number}]", one, "must have finding, file and line")
    for number, one in enumerate(values["witnesses"]):
        found = one.get("finding")
        good = isinstance(found, dict) and all(isinstance(found.get(name), str) for name in ("kind", "label", "detail"))
        require(good, f"{where}.witnesses[{number}].finding", found, "must have kind, label and detail")


def _number(value: Any) -> Any:
    """Back from `plain`."""
    words = {"infinity": math.inf, "-infinity": -math.inf, "nan": math.nan}
    return words.get(value, value) if isinstance(value, str) else value
