"""Typed results in the terminal and as JSON, and the exit code that a verdict stands for."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from dpassay.audit.plain import json_text
from dpassay.audit.results import AssumedEstimate, AuditResult, ClaimTest, SoundBound, Verdict
from dpassay.reference.errors import printable


def wide_console(width: int = 150) -> Console:
    """The reader's terminal; `width` columns where nothing says how wide it is (a pipe, a CI log)."""
    return Console() if Console().is_terminal else Console(width=width)


def plain_table(*heads: str) -> Table:
    """A table without lines; what has no room is folded, never cut off, and verdicts stay whole."""
    columns = [Column(head, overflow="fold", no_wrap=head in ("verdict", "finding")) for head in heads]
    return Table(*columns, box=None, header_style="bold")


NO_VERDICT = "No verdict means 'private': an audit shows violations, or says what it would have seen."


def as_dict(result: AuditResult) -> dict[str, Any]:
    """Every field, the verdict, and whether the number holds without an assumption."""
    kinds = {SoundBound: "sound bound", ClaimTest: "test of a claim", AssumedEstimate: "estimate under an assumption"}
    kind = next(name for one, name in kinds.items() if isinstance(result, one))
    found = {"kind": kind, "assumption": getattr(result, "assumption", None), "verdict": result.verdict.value}
    return asdict(result) | found


def _in_words(result: AuditResult) -> tuple[str, str]:
    """What was found, and what that decides."""
    if isinstance(result, ClaimTest):
        return f"{result.claim}: p-value {result.p_value:.3g}", result.verdict.value
    bound = f"{'infinite' if math.isinf(result.epsilon) else f'{result.epsilon:.3f}'} at delta {result.delta:g}"
    if isinstance(result, AssumedEstimate):
        return f"epsilon about {bound}", f"does not decide; it assumes: {result.assumption}"
    return f"epsilon >= {bound}", "(no epsilon claimed)" if result.claimed is None else result.verdict.value


def print_results(results: Sequence[AuditResult], overall: Verdict | None, as_json: bool, note: str = "") -> None:
    """A table of results and, in the end, the joint verdict (None: there was nothing to decide)."""
    if as_json:
        print(json_text({"verdict": overall and overall.value, "results": [as_dict(one) for one in results]}))
        return
    console = wide_console()
    table = Table("method", "statement", "confidence", "samples", "seconds", "verdict", box=None, header_style="bold")
    for one in results:
        effort = (f"{one.confidence:.1%}", f"{one.runs:,}", f"{one.seconds:.2f}")
        statement, verdict = _in_words(one)
        table.add_row(Text(printable(one.method)), Text(printable(statement)), *effort, Text(verdict))
    console.print(table)
    for line in filter(None, (*note.split("\n"), f"Verdict: {overall.value}." if overall else "", NO_VERDICT)):
        console.print(Text(printable(line)), soft_wrap=True)  # names in it are other people's
