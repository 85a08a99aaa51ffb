"""The fourth reading beside the other three: what the proof ledger says of the statements behind a privacy claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpassay.audit.assay import Row
from dpassay.proofs_check.cases import proofs_of
from dpassay.proofs_check.claim import Result, Verdict
from dpassay.proofs_check.ledger import about, check_rows

from .prove import CACHE

_FAILED = (Verdict.REFUTED, Verdict.ILL_DEFINED)


def with_proofs(rows: Sequence[Row], jobs: int = 1) -> list[Row]:
    """The rows with ``proved`` filled in: verdicts of the ledger's privacy statements about each printed case."""
    results = check_rows(about({prefix for row in rows for prefix in _prefixes(row)}), jobs, CACHE)
    return [replace(row, proved=summarise(_of(row, results))) for row in rows]


def _of(row: Row, results: Iterable[Result]) -> list[Result]:
    return [result for result in results if result.row.id.startswith(_prefixes(row))]


def _prefixes(row: Row) -> tuple[str, ...]:
    return proofs_of(row.algorithm, row.reading)


def summarise(results: Sequence[Result]) -> str:
    """``3 hold, 2 fail (1 holds when read charitably): first failing ids``; a dash where the ledger has nothing."""
    if not results:
        return "-"
    failed = [result for result in results if result.verdict in _FAILED]
    counts = Counter("fail" if result in failed else "hold" if result.finding.holds else "open" for result in results)
    text = ", ".join(f"{counts[word]} {word}" for word in ("hold", "fail", "open") if counts[word])
    rescued = sum(result.rescued for result in failed)
    if rescued:
        text += f" ({rescued} rescued)"
    if failed:
        worst = sorted(failed, key=lambda result: result.rescued)  # those that no reading rescues come first
        names = [result.row.id.split("/", 1)[1] for result in worst]
        text += ": " + ", ".join(names[:2]) + (", ..." if len(names) > 2 else "")
    return text
