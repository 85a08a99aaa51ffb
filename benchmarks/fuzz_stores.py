"""Damage to a store (SQLite): pages and headers, other tables, older and newer schemas, records that are none.

Most of the records that are changed get a digest and a seal that fit: damage stops at the digest, so what a record says
is tried behind it.
"""

from __future__ import annotations

import json
import random
import sqlite3
from functools import reduce
from operator import xor

from fuzz_changes import changed_bytes
from fuzz_documents import changed_value

from dpassay.audit.running.store import _digest

PAGE = 4096
UNFIT = (sqlite3.Error, ValueError, RecursionError, OverflowError, MemoryError, IndexError, TypeError)
STATEMENTS = (
    "PRAGMA user_version = 0", "PRAGMA user_version = 2", "PRAGMA user_version = -1", "PRAGMA application_id = 0",
    "DROP TABLE seal", "DROP TABLE records", "DELETE FROM seal", "DELETE FROM records", "ALTER TABLE seal ADD x TEXT",
    "CREATE TABLE more (a)", "CREATE VIEW seen AS SELECT * FROM records", "ALTER TABLE records RENAME TO rows",
    "CREATE TRIGGER often AFTER INSERT ON records BEGIN DELETE FROM records; END", "CREATE INDEX i ON records (digest)",
    "UPDATE records SET body = zeroblob(100)", "UPDATE records SET body = 1e999", "UPDATE records SET kind = x'ff'",
    "UPDATE records SET digest = 12", "UPDATE seal SET digest = ''", "UPDATE seal SET digest = 'zz'",
    "UPDATE seal SET digest = x'00'", "UPDATE records SET key = key || char(27) || char(0)",
    "PRAGMA journal_mode = WAL",
    "PRAGMA encoding = 'UTF-16'", "UPDATE records SET body = '[' || body",
    "UPDATE records SET body = replace(body, '{', '[')",
)  # fmt: skip


def changed_store(raw: bytes, chance: random.Random) -> bytes:
    """One or two changes of a store's file."""
    for _ in range(chance.choice((1, 1, 2))):
        how = chance.random()
        try:
            if how < 0.45:
                raw = _records(raw, chance)
                continue
            if how < 0.6:
                raw = _statement(raw, chance.choice(STATEMENTS))
                continue
        except UNFIT:
            pass  # an earlier change has left no database, or JSON that cannot be written
        raw = _pages(raw, chance) if how < 0.9 else changed_bytes(raw, chance)
    return raw


def _statement(raw: bytes, statement: str) -> bytes:
    with sqlite3.connect(":memory:") as database:
        database.deserialize(raw)
        database.execute(statement)
        database.commit()
        return database.serialize()


def _records(raw: bytes, chance: random.Random) -> bytes:
    """One record says something else; perhaps under another kind or key."""
    with sqlite3.connect(":memory:") as database:
        database.deserialize(raw)
        rows = database.execute("SELECT rowid, kind, key, body, digest FROM records").fetchall()
        number, kind, key, body, digest = chance.choice(rows)
        how = chance.random()
        if how < 0.85:
            body = json.dumps(changed_value(json.loads(body), chance))
        elif how < 0.95:
            key = chance.choice((key + "\x1b[2J", "", "x", "../../x"))
        else:
            kind = chance.choice(("", "row", "about", "report", "x"))
        if chance.random() < 0.7:
            digest = _digest(kind, key, body)
        changed = (kind, key, body, digest, number)
        database.execute("UPDATE records SET kind = ?, key = ?, body = ?, digest = ? WHERE rowid = ?", changed)
        digests = [int(one, 16) for (one,) in database.execute("SELECT digest FROM records")]
        database.execute("UPDATE seal SET digest = ?", (f"{reduce(xor, digests, 0):064x}",))
        database.commit()
        return database.serialize()


def _pages(raw: bytes, chance: random.Random) -> bytes:
    """The header of the file or of a page overwritten; a page zeroed, doubled, or cut off."""
    pages = max(1, len(raw) // PAGE)
    start, how = PAGE * chance.randrange(pages), chance.random()
    if how < 0.6:
        at = chance.choice((chance.randrange(100), start + chance.randrange(16), start + chance.randrange(PAGE)))
        put = bytes([chance.choice((0, 1, 2, 5, 10, 13, 127, 128, 255))]) * chance.choice((1, 2, 4))
        return raw[:at] + put + raw[at + len(put) :]
    if how < 0.7:
        return raw[:start] + bytes(PAGE) + raw[start + PAGE :]
    if how < 0.8:
        return raw + raw[start : start + PAGE]
    return raw[: start + chance.choice((0, 1, 100, PAGE // 2))]
