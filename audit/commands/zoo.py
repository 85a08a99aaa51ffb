"""`dpassay zoo`: run the black-box audit over the bug zoo and score it against the exact truths."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from dpassay.audit.blackbox.detect import audit_mechanism
from dpassay.audit.blackbox.zoo import zoo as entries
from dpassay.audit.results import Verdict


def zoo(
    samples: Annotated[int, typer.Option(help="outputs drawn on each side of each pair")] = 100_000,
    seed: Annotated[int, typer.Option(help="seed of the draws, the splits and the learners")] = 0,
    only: Annotated[str, typer.Option(help="keep the entries whose name contains this")] = "",
) -> None:
    """Judge every mechanism of the zoo at 95 %; exit status 1 when a correct one is called violated."""
    table = Table("mechanism", "claimed", "truth", "verdict", "right", "p-value", "seconds", "score")
    found = missed = alarms = correct = 0
    for index, entry in enumerate(e for e in entries() if only in e.name):
        rng = np.random.default_rng([seed, index])
        result = audit_mechanism(
            entry.mechanism,
            entry.dataset,
            entry.neighbour,
            entry.claim,
            samples,
            rng,
            low_bits=entry.low_bits,
        )
        violated = result.verdict is Verdict.VIOLATED
        found += violated and entry.broken
        missed += entry.broken and not violated
        alarms += violated and not entry.broken
        correct += not entry.broken
        right = "yes" if violated == entry.broken else ("MISSED" if entry.broken else "FALSE ALARM")
        truth = ("at least " if entry.at_least else "") + f"{entry.truth:.3f}"
        score = str(result.evidence["score"])
        cells = (f"{entry.claimed:.3f}", truth, result.verdict.value, right, f"{result.p_value:.2g}")
        table.add_row(entry.name, *cells, f"{result.seconds:.2f}", score)
    console = Console()
    console.print(table)
    console.print(
        f"{found} of {found + missed} bugs found, {alarms} false alarms on {correct} correct mechanisms"
    )
    if alarms:
        raise typer.Exit(1)
