"""The ledger as text: LEDGER.md, one row explained, and the summary lines."""

from __future__ import annotations

from collections.abc import Sequence

from dpassay.reference.papers import PAPERS

from . import coverage
from .claim import Kind, Result, Severity, Verdict
from .ledger import summary

FAILED = (Verdict.REFUTED, Verdict.ILL_DEFINED)
_HARD = (Kind.PRIVACY, Kind.TABLES)
_WEIGHT = {Severity.PRIVACY: 0, Severity.UTILITY: 1, Severity.COSMETIC: 2}


def summary_line(results: Sequence[Result]) -> str:
    """One line: so many of each verdict, vacuous passes and rescued rows apart."""
    counts = {verdict: sum(result.verdict is verdict for result in results) for verdict in Verdict}
    points = sum(result.finding.points for result in results if result.verdict is Verdict.CHECKED)
    parts = [f"{counts[v]} {v}" + (f" ({points} points)" if v is Verdict.CHECKED else "") for v in Verdict]
    rescued = sum(result.rescued for result in results)
    vacuous = sum(result.finding.vacuous for result in results)
    return f"{', '.join(parts)}; {rescued} failed rows hold in the charitable reading; {vacuous} vacuous"


def one_line(result: Result) -> str:
    """``verdict  id  statement`` for a list at a terminal."""
    return f"{result.verdict:<12} {result.row.id:<44} {result.row.statement}"


def _order(result: Result) -> tuple[int, bool, bool, bool, bool, float]:
    row = result.row
    soft = row.claim.kind not in _HARD
    return _WEIGHT[row.severity], row.ours, result.rescued, bool(row.garbling), soft, -result.finding.excess


def serious(results: Sequence[Result], count: int = 12, per_paper: int = 4) -> list[Result]:
    """The most serious failed rows, one for each part of a paper.

    In order: what breaks privacy, what the paper says in so many words, what no checked reading rescues, what the
    rendering cannot be blamed for, what exact accounting (the largest excess first) or a printed table shows. At most
    ``per_paper`` of one paper.
    """
    failed = [result for result in results if result.verdict in FAILED]
    failed.sort(key=_order)
    chosen: list[Result] = []
    for result in failed:
        part = result.row.id.rsplit("/", 1)[0]
        parts = [other.row.id.rsplit("/", 1)[0] for other in chosen]
        if part not in parts and sum(p.startswith(result.row.cite.paper) for p in parts) < per_paper:
            chosen.append(result)
    return chosen[:count]


def summary_table(results: Sequence[Result]) -> str:
    """Markdown: rows per paper and verdict."""
    table = summary(results)
    heads = [*(str(v) for v in Verdict), "vacuous", "rescued", "rows"]
    lines = ["| paper | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    lines += [f"| {paper} | " + " | ".join(str(line[head]) for head in heads) + " |" for paper, line in table.items()]
    totals = [sum(line[head] for line in table.values()) for head in heads]
    return "\n".join([*lines, "| all | " + " | ".join(map(str, totals)) + " |"])


def findings_table(results: Sequence[Result], count: int = 12) -> str:
    """Markdown: the most serious findings."""
    lines = [
        "| finding | where | statement | evidence | charitable reading |",
        "|---|---|---|---|---|",
    ]
    for result in serious(results, count):
        row = result.row
        lines.append(
            f"| `{row.id}` ({row.severity}) | {_cell(row.cite.place)} | {_cell(row.statement)} | "
            f"{_cell(_short(result.finding.evidence))} | {_cell(_reading(result))} |"
        )
    return "\n".join(lines)


def _reading(result: Result) -> str:
    text = result.row.charitable.text
    if not text:
        return "none found"
    return f"{text} ({'holds' if result.reading.holds else result.reading.verdict})" if result.reading else text


def _short(text: str, length: int = 220) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


BEGIN, END = "<!-- ledger:begin -->", "<!-- ledger:end -->"


def readme_block(results: Sequence[Result]) -> str:
    """Markdown for the README, between its markers: rows per verdict and paper, and the dozen most serious findings."""
    lines = [
        f"{len(results)} rows about the five papers, decided by machine (`dpassay prove`; all of them: `LEDGER.md`).",
        "`rescued` rows fail as printed and hold in a charitable reading that is given with them.",
        "",
        summary_table(results),
        "",
        "The most serious findings, at most four of one paper; `dpassay prove --id ID --explain` shows one:",
        "",
        findings_table(results),
    ]
    return "\n".join(lines)


def with_block(text: str, block: str) -> str:
    """The text with what stands between the ledger's markers replaced.

    Raises:
        ValueError: the markers are missing, or in the wrong order.
    """
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 or end < start:
        raise ValueError(f"needs the lines {BEGIN} and {END}, in this order")
    return f"{text[: start + len(BEGIN)]}\n{block}\n{text[end:]}"


def markdown(results: Sequence[Result]) -> str:
    """LEDGER.md."""
    lines = [
        "# Ledger",
        "",
        "Generated by `dpassay prove`; do not edit. One row per checkable statement of the five papers,",
        "as printed in their plain-text renderings. `proved`: symbolically or by interval arithmetic.",
        "`checked`: on points, not a proof. `refuted`: with numbers to plug in. `ill-defined`: cannot be",
        "executed, or two places disagree. `unknown`: not passed. `rescued`: fails as printed and holds in",
        "the charitable reading that is given with the row.",
        "",
        summary_table(results),
        "",
        "## The most serious findings",
        "",
        findings_table(results),
    ]
    for paper in PAPERS:
        own = [result for result in results if result.row.cite.paper == paper]
        if own:
            lines += [
                "",
                f"## {paper}",
                "",
                "| id | where | statement | verdict | evidence |",
                "|---|---|---|---|---|",
            ]
            lines += [_line(result) for result in own]
    lines += ["", "## Coverage of the numbered statements", ""]
    lines += ["In brackets the number of rows that name a statement; the rest with the reason why they have none."]
    lines += coverage.markdown([result.row for result in results], [p for p in PAPERS if p in summary(results)])
    return "\n".join(lines) + "\n"


def _line(result: Result) -> str:
    row = result.row
    verdict = f"**{result.verdict}**" if result.verdict in FAILED else str(result.verdict)
    if result.verdict in FAILED:
        verdict += f", {row.severity}" + (", rescued" if result.rescued else "")
    extra = f" Corrected: {row.corrected}." if row.corrected else ""
    if row.charitable.text and not result.finding.holds:
        extra += f" Charitable: {_reading(result)}."
    extra += f" Rendering: {row.garbling}." if row.garbling else ""
    name = row.id.split("/", 1)[1]
    evidence = _cell(_short(result.finding.evidence) + extra)
    return f"| {name} | {_cell(row.cite.place)} | {_cell(row.statement)} | {verdict} | {evidence} |"
