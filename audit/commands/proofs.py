"""The fourth reading beside the other three: what the proof ledger says of the statements behind a privacy claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpassay.audit.row import Row
from dpassay.proofs_check.cases import proofs_of
from dpassay.proofs_check.claim import FAILED, Result, Saves, Verdict

from .options import PROOF_CACHE as CACHE
from .progress import progress

_HOLDS = (Verdict.PROVED, Verdict.CHECKED)
_MILD = (Saves.READING, Saves.CONDITION)


def with_proofs(rows: Sequence[Row], jobs: int = 1, quiet: bool = True) -> list[Row]:
    """The rows with ``proved`` filled in: verdicts of the ledger's privacy statements about each printed case."""
    prefixes = {prefix for row in rows for prefix in _prefixes(row)}
    if not prefixes:  # the ledger takes seconds to load
        return [replace(row, proved=summarise([])) for row in rows]
    from dpassay.proofs_check.ledger import about, check_rows

    wanted = about(prefixes)
    with progress("reading the ledger", len(wanted), quiet=quiet) as say:
        results = check_rows(wanted, jobs, CACHE, lambda result: say(result.row.id))
    return [replace(row, proved=summarise(_of(row, results))) for row in rows]


def _of(row: Row, results: Iterable[Result]) -> list[Result]:
    return [result for result in results if result.row.id.startswith(_prefixes(row))]


def _prefixes(row: Row) -> tuple[str, ...]:
    return proofs_of(row.algorithm, row.reading)


def summarise(results: Sequence[Result]) -> str:
    """``3 hold, 2 fail (1 hold read otherwise or under a condition): first failing ids``; a dash without rows."""
    if not results:
        return "-"
    failed = [result for result in results if result.verdict in FAILED]
    counts = Counter("fail" if r in failed else "hold" if r.verdict in _HOLDS else "open" for r in results)
    text = ", ".join(f"{counts[word]} {word}" for word in ("hold", "fail", "open") if counts[word])
    mild = [result for result in failed if result.saved_by in _MILD]
    if mild:
        text += f" ({len(mild)} hold read otherwise or under a condition)"
    if failed:
        worst = sorted(failed, key=lambda result: result in mild)  # those that only a changed text saves come first
        names = [result.row.id.split("/", 1)[1] for result in worst]
        text += ": " + ", ".join(names[:2]) + (", ..." if len(names) > 2 else "")
    return text
