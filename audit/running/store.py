"""What a long run has found so far, kept on disk as it comes: a kill at any moment loses no record that was put.

A store is a file of lines. Each line is one write: a checksum, then the records as JSON. A line is appended under a
lock on the file, and is on the disk when :meth:`Store.put` returns. The checksum counts the line before as well, so
that a line that was changed, or is missing between others, is noticed and never used. A last line without its end is
what a kill left of a write that never returned: it is dropped. This guards against damage, not against a forger.
"""

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import parse_json, read_bytes, there

HEADER = b"dpassay store 2\n"
_CHECKPOINT, _STATE = "--checkpoint", "state"
_SYNC = True  # wait for the disk: a power cut loses nothing that was put
_PATIENCE = 60.0  # seconds that a writer waits for another one


class Store:
    """Records of JSON data by kind and key. Nothing is held between two writes, so that there is nothing to close.

    The file is made with the first record; an error calls it ``field`` (``--output``, ``--checkpoint``). One that
    cannot be opened or written, is no store, or is damaged is BadInput.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from dpassay.audit.running.store import Store
        >>> with TemporaryDirectory() as folder:
        ...     store = Store(Path(folder) / "a.store", "store")
        ...     store.put("row", {"a": {"epsilon": 1.0}})
        ...     store.records("row")
        {'a': {'epsilon': 1.0}}
    """

    def __init__(self, path: Path, field: str):
        self.path, self._field = path, field
        self._pending: list[Any] | None = None  # changes of the transaction that is open
        self._forget()
        self._read()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, while no other process writes; may be nested."""
        if self._pending is not None:
            yield
            return
        self._read()  # what is no store of ours is refused before it is touched
        with self._locked() as file:
            self._read()
            self._pending = []
            try:
                yield
                if self._pending:
                    self._append(file, self._pending)
            except BaseException:
                self._forget()
                raise
            finally:
                self._pending = None

    def put(self, kind: str, records: Mapping[str, Any], clear: bool = False) -> None:
        """Keep these records; one of the same kind and key is replaced, with ``clear`` all of this kind are.

        They are on the disk when this returns, or when the transaction around it ends.
        """
        change = json.loads(json.dumps([kind, dict(records), clear], allow_nan=False))
        with self.transaction():
            assert self._pending is not None
            self._pending.append(change)
            self._apply(*change)

    def records(self, kind: str) -> dict[str, Any]:
        """All records of a kind, in the order in which their keys came."""
        if self._pending is None:
            self._read()
        return dict(self._records.get(kind, {}))

    def remove(self) -> None:
        """Take the file away; the last step of a transaction, which then writes nothing."""
        self._pending = []
        with suppress(OSError):
            self.path.unlink()

    def _forget(self) -> None:
        self._records: dict[str, dict[str, Any]] = {}
        self._known, self._checksum = b"", ""  # the whole lines that were read, and the checksum of the last one

    def _read(self) -> None:
        """The lines that came since the last look; all of them where the file is another one than it was."""
        raw = b""
        if there(self.path, self._field):
            try:
                raw = read_bytes(self.path, self._field)
            except BadInput:
                if there(self.path, self._field):
                    raise  # else it was removed at this moment
        if not raw.startswith(self._known):
            self._forget()
        good = raw.startswith(HEADER) or HEADER.startswith(raw)
        require(good, self._field, str(self.path), "is not a store of this version")
        for line in raw[len(self._known) :].splitlines(keepends=True):
            if line.endswith(b"\n"):
                if self._known:
                    self._take(line[:-1])
                self._known += line

    def _take(self, line: bytes) -> None:
        checksum, _, body = line.partition(b" ")
        try:
            good = checksum.decode() == _checksum(self._checksum, body)
            for kind, records, clear in parse_json(body.decode(), str(self.path)) if good else ():
                self._apply(kind, dict(records), clear)
        except (BadInput, ValueError, TypeError):
            good = False
        number = self._known.count(b"\n") + 1
        require(good, self._field, str(self.path), f"is damaged: line {number} is not what was written")
        self._checksum = checksum.decode()

    def _apply(self, kind: str, records: dict[str, Any], clear: bool) -> None:
        if clear:
            self._records.pop(kind, None)
        self._records.setdefault(kind, {}).update(records)

    def _append(self, file: int, changes: list[Any]) -> None:
        """One line more."""
        body, size = json.dumps(changes).encode(), len(self._known)
        line = f"{_checksum(self._checksum, body)} ".encode() + body + b"\n"
        data = line if self._known else HEADER + line
        try:
            os.ftruncate(file, size)  # without what a kill left of a line
            while data:
                data = data[os.write(file, data) :]
            if _SYNC:
                os.fsync(file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(file, size)
            why = f"cannot be written ({error.strerror}); what was kept before is whole"
            raise BadInput(self._field, str(self.path), why) from None

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, open and locked, and still the one of that name: another process may have removed it."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            except OSError as error:
                raise BadInput(self._field, str(self.path), f"cannot be written to ({error.strerror})") from None
            try:
                if _taken(file, self.path):
                    yield file
                    return
            finally:
                os.close(file)
            why = f"is in use by another process for more than {_PATIENCE:.0f} seconds"
            require(time.monotonic() < end, self._field, str(self.path), why)
            time.sleep(0.01)


# -- a checkpoint: a store with one record of its kind, which may be copied to another machine -------------------------
def read_state(path: Path, kind: str) -> dict[str, Any] | None:
    """The state of an audit that may be stopped, or None where there is no checkpoint yet."""
    return _state(Store(path, _CHECKPOINT), kind) if there(path, _CHECKPOINT) else None


def write_state(path: Path, kind: str, state: Mapping[str, Any], before: Mapping[str, Any] | None) -> None:
    """Keep a state in place of ``before``, the one that was read or written last; it is on the disk then.

    Two processes that continue one checkpoint would draw the same randomness twice, so the second one is refused.
    """
    store = Store(path, _CHECKPOINT)
    with store.transaction():
        known = [None if one is None else json.loads(json.dumps(dict(one))) for one in (before, state)]
        why = "was continued by another process: every machine needs its own"
        require(_state(store, kind) in known, _CHECKPOINT, str(path), why)
        store.put(kind, {_STATE: dict(state)})


def _state(store: Store, kind: str) -> dict[str, Any] | None:
    state = store.records(kind).get(_STATE)
    require(state is None or isinstance(state, dict), _CHECKPOINT, str(store.path), f"is no checkpoint of a {kind}")
    return state


def _taken(file: int, path: Path) -> bool:
    """Is the file locked now, and has it still this name?"""
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file), path.stat())
    return False


def _checksum(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()[:32]
