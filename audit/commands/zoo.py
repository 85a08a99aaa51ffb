"""`dpassay zoo`: run the black-box audit over the bug zoo and score it against the exact truths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer

from dpassay.audit.blackbox.detect import audit_mechanism
from dpassay.audit.plain import json_text
from dpassay.audit.report.verdicts import plain_table, wide_console
from dpassay.audit.results import Verdict
from dpassay.audit.terminal.options import AsJson
from dpassay.audit.terminal.progress import Quiet, progress
from dpassay.audit.zoo.entries import zoo as entries
from dpassay.reference.errors import require


def judged(samples: int, seed: int, only: str = "") -> Iterator[dict[str, Any]]:
    """What the audit said of every entry whose name contains `only`; seeds do not depend on the selection."""
    for index, entry in enumerate(entries()):
        if only in entry.name:
            rng = np.random.default_rng([seed, index])
            pair = (entry.mechanism, entry.dataset, entry.neighbour)
            result = audit_mechanism(*pair, entry.claim, samples, rng, low_bits=entry.low_bits)
            violated = result.verdict is Verdict.VIOLATED
            answer = "right" if violated == entry.broken else "MISSED" if entry.broken else "FALSE ALARM"
            yield {
                "mechanism": entry.name,
                "claimed": entry.claimed,
                "truth": entry.truth,
                "truth is a lower bound": entry.at_least,
                "delta": entry.delta,
                "broken": entry.broken,
                "verdict": result.verdict.value,
                "answer": answer,
                "p_value": result.p_value,
                "samples a side": samples,
                "seconds": result.seconds,
                "score": result.evidence["score"],
            }


def zoo(
    samples: Annotated[int, typer.Option(help="Outputs drawn on each side of each pair.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Seed of the draws, the splits and the learners.")] = 0,
    only: Annotated[str, typer.Option(help="Keep the entries whose name contains this.")] = "",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge correct and broken mechanisms with known truth by the black-box audit, at 95 %.

    "truth" is the exact epsilon of the pair shown, at the claim's delta; a mechanism is broken when it exceeds what is
    claimed. Exit 1: a correct mechanism was called violated (at 5 %, one in twenty may be). Missed bugs do not change
    the exit code: an audit that finds nothing shows nothing.
    """
    require(samples >= 10, "--samples", samples, "must be at least 10")
    require(seed >= 0, "--seed", seed, "must not be negative")
    known = [entry.name for entry in entries() if only in entry.name]
    require(bool(known), "--only", only, "is part of no entry's name")
    with progress("judging", len(known), quiet=quiet) as say:
        rows = []
        for row in judged(samples, seed, only):
            rows.append(row)
            say(f"{row['mechanism']}: {row['answer']}")
    bugs = [row for row in rows if row["broken"]]
    alarms = sum(row["answer"] != "right" and not row["broken"] for row in rows)
    summary = {"bugs": len(bugs), "found": sum(row["answer"] == "right" for row in bugs), "alarms": alarms}
    if as_json:
        print(json_text({"summary": summary, "rows": rows}))
    else:
        _print(rows)
        print(
            f"{summary['found']} of {len(bugs)} bugs found with {samples:,} outputs a side, "
            f"{alarms} false alarms on {len(rows) - len(bugs)} correct mechanisms."
        )
    raise typer.Exit(1 if alarms else 0)


def _print(rows: list[dict[str, Any]]) -> None:
    console = wide_console()
    heads = ("mechanism", "claimed", "truth", "verdict", "answer", "p-value", "seconds", "by the score")
    table = plain_table(*heads)
    for row in rows:
        truth = ("at least " if row["truth is a lower bound"] else "") + f"{row['truth']:.3f}"
        name = row["mechanism"] if row["broken"] else f"{row['mechanism']} (correct)"
        numbers = (f"{row['claimed']:.3f}", truth, row["verdict"], row["answer"], f"{row['p_value']:.2g}")
        table.add_row(name, *numbers, f"{row['seconds']:.2f}", row["score"])
    console.print(table)
