"""The fourth reading beside the other three: what becomes of the paper's privacy statement behind a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpassay.audit.row import Row

from .progress import progress


def with_proofs(rows: Sequence[Row], jobs: int = 1, quiet: bool = True) -> list[Row]:
    """The rows with ``proved`` filled in: the status of the privacy statements about each printed case."""
    printed = {row.algorithm for row in rows if row.reading == "printed"}
    if not printed:  # statements take seconds to derive
        return [replace(row, proved="-") for row in rows]
    from dpassay.proofs_check.derivation.ledger import examine, with_sources
    from dpassay.proofs_check.derivation.model import statements

    every = statements()
    mine = [one for one in every if "privacy" in one.sides and printed & set(one.algorithms)]
    together = with_sources(mine, every)
    with progress("deriving", len(together), quiet=quiet) as say:
        examined = examine(together, jobs, say)
    said = {
        algorithm: "; ".join(f"{one.statement.name} {one.status.label}" for one in examined
                             if algorithm in one.statement.algorithms and "privacy" in one.statement.sides)
        for algorithm in printed
    }  # fmt: skip
    return [replace(row, proved=(row.reading == "printed" and said[row.algorithm]) or "-") for row in rows]
