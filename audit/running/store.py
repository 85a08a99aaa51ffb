"""What a long run has found so far, kept on disk as it comes: a kill at any moment loses no record that was put.

A store is one SQLite file. Several processes may use it; SQLite lets one of them write at a time, and a write that was
killed half-way is undone by whoever opens the file next. Every record carries a digest of its own content, and the
store a seal over all digests, so that a record that was changed or is missing is noticed and never used. That guards
against damage, not against a forger. Nothing in a store is executed: records are JSON, and a file with any other table,
view or trigger than ours is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import LARGEST, parse_json, status

SCHEMA = 1
_OURS = 0x64706173  # SQLite's application_id: "dpas"
_SYNCHRONOUS = "FULL"  # a power cut loses nothing that was put
_PATIENCE = 60  # seconds that a writer waits for another one
_TABLES = {
    "records": "CREATE TABLE records (kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, "
    "digest TEXT NOT NULL, PRIMARY KEY (kind, key))",
    "seal": "CREATE TABLE seal (one INTEGER PRIMARY KEY CHECK (one = 1), digest TEXT NOT NULL)",
}
_EMPTY = "0" * 64


class Store:
    """Records of JSON data by kind and key.

    Args:
        path: the file, made if it is not there; None keeps the records in memory.
        field: what an error calls the file (``--output``, ``--checkpoint``).

    Raises:
        BadInput: the file cannot be opened, is no store, is damaged, or has another schema.

    Example:
        >>> from dpassay.audit.running.store import Store
        >>> with Store(None, "store") as store:
        ...     store.put("row", {"a": {"epsilon": 1.0}})
        ...     store.records("row")
        {'a': {'epsilon': 1.0}}
    """

    def __init__(self, path: Path | None, field: str):
        self.field, self.name = field, "memory" if path is None else str(path)
        self._depth = 0
        if path is not None and not _there(path, field):
            _make(path, field)
        with self._told():
            self._db = sqlite3.connect(str(path or ":memory:"), timeout=_PATIENCE, isolation_level=None)
        try:
            self._prepare(new=path is None)
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, while no other process writes; may be nested.

        Raises:
            BadInput: the disk is full, the file read-only or damaged, or another process holds it for too long.
        """
        if self._depth:
            yield
            return
        with self._told():
            self._db.execute("BEGIN IMMEDIATE")
        self._depth += 1
        try:
            yield
            with self._told():
                self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise
        finally:
            self._depth -= 1

    def put(self, kind: str, records: Mapping[str, Any], clear: bool = False) -> None:
        """Keep these records; one of the same kind and key is replaced, with ``clear`` all of this kind are.

        They are on the disk when this returns.
        """
        bodies = {key: json.dumps(value, sort_keys=True, allow_nan=False) for key, value in records.items()}
        with self.transaction(), self._told():
            seal = int(self._seal(), 16)
            old = "SELECT digest FROM records WHERE kind = ?" + ("" if clear else " AND key = ?")
            gone = [(kind,)] if clear else [(kind, key) for key in bodies]
            for which in gone:
                for (digest,) in self._db.execute(old, which):
                    seal ^= self._number(digest)
                self._db.execute(old.replace("SELECT digest", "DELETE"), which)
            for key, body in bodies.items():
                digest = _digest(kind, key, body)
                seal ^= int(digest, 16)
                self._db.execute("INSERT INTO records VALUES (?, ?, ?, ?)", (kind, key, body, digest))
            self._db.execute("UPDATE seal SET digest = ?", (f"{seal:064x}",))

    def records(self, kind: str) -> dict[str, Any]:
        """All records of a kind, in the order in which they came.

        Raises:
            BadInput: any record of the store is not what was put, or one is missing.
        """
        with self._snapshot(), self._told():
            found = self._db.execute("SELECT kind, key, body, digest FROM records ORDER BY rowid").fetchall()
            seal, total = self._seal(), 0
        for which, key, body, digest in found:
            texts = all(isinstance(one, str) for one in (which, key, body, digest))
            good = texts and digest == _digest(which, key, body)
            require(good, self.field, self.name, f"is damaged: record {key!r} is not what was written")
            total ^= int(digest, 16)
        require(f"{total:064x}" == seal, self.field, self.name, "is damaged: records are missing")
        return {key: parse_json(body, f"{self.name}: {key}") for which, key, body, _ in found if which == kind}

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """All that is read in here is of one moment: what another process writes meanwhile is seen later."""
        if self._depth:
            yield
            return
        with self._told():
            self._db.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):  # nothing was written
                self._db.execute("ROLLBACK")

    def _seal(self) -> str:
        rows = self._db.execute("SELECT digest FROM seal").fetchall()
        good = len(rows) == 1 and isinstance(rows[0][0], str)
        require(good, self.field, self.name, "is damaged: its seal is missing")
        self._number(rows[0][0])
        return str(rows[0][0])

    def _number(self, digest: Any) -> int:
        try:
            return int(digest, 16)
        except (TypeError, ValueError):
            raise BadInput(self.field, self.name, "is damaged: a digest is none") from None

    def _prepare(self, new: bool) -> None:
        """What is in memory gets the tables; a file must have exactly them."""
        with self._told():
            self._db.execute("PRAGMA trusted_schema = OFF")
            self._db.execute(f"PRAGMA synchronous = {_SYNCHRONOUS}")
            if new:
                _lay_out(self._db)
            ours = self._db.execute("PRAGMA application_id").fetchone()[0] == _OURS
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
        require(ours, self.field, self.name, "is a database of another program")
        require(version == SCHEMA, self.field, self.name, f"has schema {version}, this version reads schema {SCHEMA}")
        require(self._schema() == _TABLES, self.field, self.name, "is damaged: its tables are not ours")

    def _schema(self) -> dict[str, str]:
        with self._told():
            found = self._db.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
        return {str(name): str(sql) for name, sql in found}

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite says, in one line that names the file."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
            said = " ".join(str(error).split())
            why = next((why for words, why in _REASONS.items() if words in said), "is damaged")
            raise BadInput(self.field, self.name, f"{why} ({said})") from None


_REASONS = {
    "readonly": "cannot be written to",
    "unable to open": "cannot be opened",
    "is full": "has no room left on its disk; what was kept before is whole",
    "disk I/O": "cannot be read or written; what was kept before is whole",
    "locked": f"is in use by another process for more than {_PATIENCE} seconds",
    "not a database": "is not a store",
}


def _lay_out(database: sqlite3.Connection) -> None:
    for statement in _TABLES.values():
        database.execute(statement)
    database.execute("INSERT INTO seal VALUES (1, ?)", (_EMPTY,))
    database.execute(f"PRAGMA application_id = {_OURS}")
    database.execute(f"PRAGMA user_version = {SCHEMA}")


def _make(path: Path, field: str) -> None:
    """A new file is complete when it gets its name: an empty one is never ours, but what damage left."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)  # of a process that was killed
        database = sqlite3.connect(draft, isolation_level=None)
        try:
            database.execute(f"PRAGMA synchronous = {_SYNCHRONOUS}")
            database.execute("BEGIN")
            _lay_out(database)
            database.execute("COMMIT")
        finally:
            database.close()
        with suppress(FileExistsError):  # another process was faster, with the same content
            os.link(draft, path)
    except (OSError, ValueError, sqlite3.Error) as error:
        raise BadInput(field, str(path), f"cannot be made ({getattr(error, 'strerror', None) or error})") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _there(path: Path, field: str) -> bool:
    """Is it a regular file of a sensible size, or nothing yet? A pipe would be waited for."""
    try:
        found = status(path)
        if found is None:
            return False
        require(stat.S_ISREG(found.st_mode), field, str(path), "is not a regular file")
        size = found.st_size
        require(0 < size <= LARGEST, field, str(path), f"has {size} bytes: is no store")
        require(os.access(path, os.R_OK), field, str(path), "cannot be read")
    except BadInput:
        raise
    except (OSError, ValueError) as error:
        raise BadInput(field, str(path), getattr(error, "strerror", None) or str(error)) from None
    return True


def _digest(kind: str, key: str, body: str) -> str:
    return hashlib.sha256(json.dumps([kind, key, body]).encode()).hexdigest()
