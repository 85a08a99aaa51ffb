"""A check held against the lock file: what changed, what the lock would be now, and the difference between the two."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dpassay.audit.row import Row

from .audited import resolve
from .compare import Change, added, compare, vanished
from .lock import Block, Lock, block_of, lock_text, new_lock
from .model import Algorithm, BlackBox, Claim, ClaimsFile, Program
from .reached import lines_of


@dataclass(frozen=True)
class Compared:
    """What a check says beside the lock.

    Args:
        changes: all that differs, in the order of the claims.
        now: the lock as it would be written.
        diff: from the lock to that, as lines; empty if they are the same.
    """

    changes: tuple[Change, ...]
    now: Lock
    diff: tuple[str, ...]

    def failing(self, file: ClaimsFile) -> list[Change]:
        """The changes that make the check fail: not those of claims that are warnings."""
        mild = {one.name for one in file.claim if one.severity == "warning"}
        return [one for one in self.changes if one.fails and (one.claim not in mild or one.what == "severity")]


def against(
    path: Path, old: Lock | None, file: ClaimsFile, rows: Mapping[int, Row], codes: Mapping[int, str]
) -> Compared:
    """Compare.

    Args:
        path: of the lock file, for the heads of the difference.
        old: the lock, or None if there is none yet.
        rows: what was checked, by position in the file; the blocks of other claims stay as they are.
        codes: hash of what each claim reaches, by position.
    """
    known = dict(old.claims) if old else {}
    blocks: dict[str, Block] = {}
    changes: list[Change] = []
    for number, claim in enumerate(file.claim):
        before = known.get(claim.name)
        if number in rows:
            now = block_of(rows[number], claim.pairs, mechanism_of(claim), _space(claim), codes[number])
            blocks[claim.name] = now
            if before is not None:
                changes += compare(claim.name, before, now, _source(claim, before, now))
            elif old is not None:
                changes.append(added(claim.name))
        elif before is not None:
            blocks[claim.name] = before
    names = {one.name for one in file.claim}
    changes += [vanished(name) for name in known if name not in names]
    lock = new_lock(blocks, file.confidence)
    return Compared(tuple(changes), lock, _diff(path, old, lock))


def with_changes(row: Row, changes: Sequence[Change]) -> Row:
    """The row with what is worse than in the lock."""
    found = [one.text for one in changes if one.claim == row.claim]
    return replace(row, changes=found) if found else row


def mechanism_of(claim: Claim) -> str:
    """What a claim is about, in one line."""
    if isinstance(claim, Program):
        return f"{claim.program} ({_named(claim)})"
    if isinstance(claim, Algorithm):
        return _named(claim)
    if isinstance(claim, BlackBox):
        return claim.function or claim.command or ""
    return " against ".join(getattr(claim, "outputs", None) or getattr(claim, "scores", []))


def _named(claim: Algorithm) -> str:
    case = resolve(claim).case
    return case.key if case else claim.algorithm


def _space(claim: Claim) -> str:
    return (claim.space or "") if isinstance(claim, Algorithm) else ""


def _source(claim: Claim, before: Block, now: Block) -> frozenset[str]:
    """Asked for only where lines are missed."""
    fresh = set(now.missed) - set(before.missed)
    return lines_of(resolve(claim)) if fresh and isinstance(claim, Algorithm) else frozenset()


def _diff(path: Path, old: Lock | None, new: Lock) -> tuple[str, ...]:
    before = lock_text(old).splitlines() if old else []
    name = path.as_posix()
    lines = difflib.unified_diff(before, lock_text(new).splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=1)
    return tuple(lines)
