"""Damage to a store: lines changed, left out, doubled, cut off; records that say something else.

Most of the records that are changed get a checksum that fits, and so do the lines behind them: damage stops at the
checksum, so what a record says is tried behind it.
"""

from __future__ import annotations

import json
import random
from contextlib import suppress

from fuzz_changes import changed_bytes
from fuzz_documents import changed_value

from dpassay.audit.running.store import _checksum


def changed_store(raw: bytes, chance: random.Random) -> bytes:
    """One or two changes of a store's file."""
    for _ in range(chance.choice((1, 1, 2))):
        how = chance.random()
        if how < 0.6:
            raw = _records(raw, chance)
        elif how < 0.8:
            raw = _lines(raw, chance)
        else:
            raw = changed_bytes(raw, chance)
    return raw


def _records(raw: bytes, chance: random.Random) -> bytes:
    """One change of a store says something else; perhaps under another kind or key."""
    header, *lines = raw.splitlines(keepends=True)
    before, out, chosen = "", [header], chance.randrange(max(1, len(lines)))
    fits = chance.random() < 0.8
    for number, line in enumerate(lines):
        body = line.partition(b" ")[2].rstrip(b"\n")
        if number == chosen:
            with suppress(ValueError, RecursionError):  # an earlier change has left no JSON
                body = json.dumps(changed_value(json.loads(body), chance)).encode()
        before = _checksum(before, body) if fits else line.partition(b" ")[0].decode(errors="replace")
        out.append(before.encode() + b" " + body + b"\n")
    return b"".join(out)


def _lines(raw: bytes, chance: random.Random) -> bytes:
    """A line left out, doubled, moved to the end, or cut off."""
    lines = raw.splitlines(keepends=True)
    at = chance.randrange(max(1, len(lines)))
    line, how = lines[at : at + 1], chance.randrange(4)
    if how == 3:
        return b"".join(lines[:at]) + b"".join(line)[: chance.randrange(100)]
    return b"".join([*lines[:at], *(line * 2 if how == 1 else []), *lines[at + 1 :], *(line if how == 2 else [])])
