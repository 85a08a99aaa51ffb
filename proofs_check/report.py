"""The ledger as text: LEDGER.md, one row explained, and the summary lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpassay.reference.papers import PAPERS

from . import graph
from .claim import FAILED, Kind, Result, Row, Saves, Verdict
from .corrections import Correction, State, corrected_share, corrections
from .effects import ORDER, effect, effects_line, settled_lines
from .inventory import told
from .joint import joint
from .ledger import FAILING, UNSAVED, summary

_HARD = (Kind.PRIVACY, Kind.TABLES)


def summary_line(results: Sequence[Result]) -> str:
    """One line: so many of each verdict, sharp rows, defects, and what saves the failing rows."""
    counts = Counter(result.verdict for result in results)
    points = sum(result.finding.points for result in results if result.verdict is Verdict.CHECKED)
    parts = [f"{counts[v]} {v}" + (f" ({points} points)" if v is Verdict.CHECKED else "") for v in Verdict]
    failed = [result for result in results if result.failed]
    saved = [f"{sum(r.saved_by is kind for r in failed)} by a {kind}" for kind in Saves]
    saved[-1] = saved[-1].replace("by a degenerate", "in a degenerate case only")
    line = ", ".join(parts)
    if failed:
        line += f"; {len(failed)} failing rows show {len({r.row.shows for r in failed})} defects"
        line += f" and are saved: {', '.join(saved)}, {sum(r.saved_by is None for r in failed)} not at all"
    return f"{line}; {sharp_share(results)}"


def sharp_share(results: Sequence[Result]) -> str:
    """Which share of the passing rows has a mutant that is refuted."""
    passing = [result for result in results if result.finding.passes]
    sharp = sum(result.verdict is not Verdict.EMPTY for result in passing)
    return f"{sharp} of {len(passing)} passing rows are sharp" + (f" ({sharp / len(passing):.0%})" if passing else "")


def one_line(result: Result) -> str:
    """``verdict  id  statement`` for a list at a terminal."""
    return f"{result.verdict:<12} {result.row.id:<44} {result.row.statement}"


def _order(result: Result) -> tuple[int, bool, bool, bool, float]:
    row = result.row
    soft = row.claim.kind not in _HARD
    return ORDER.index(effect(result).weight), row.ours, bool(row.garbling), soft, -result.finding.excess


def serious(results: Sequence[Result], count: int = 12, per_paper: int = 4) -> list[Result]:
    """The most serious failed rows, one for each part of a paper.

    In order: what falls by the row alone (privacy, utility, then what holds under its saving), what the paper says in
    so many words, what the rendering cannot be blamed for, what exact accounting (the largest excess first) or a
    printed table shows. At most ``per_paper`` of one paper.
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
    return _counts(results, [*map(str, Verdict), "rows"], "all")


def failures_table(results: Sequence[Result]) -> str:
    """Markdown: the failing rows of each paper, the defects they show, and what saves them."""
    return _counts(results, [FAILING, "defects", *map(str, Saves), UNSAVED], "together")


def _counts(results: Sequence[Result], heads: Sequence[str], total: str) -> str:
    table = summary(results)
    lines = ["| paper | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    lines += [f"| {paper} | " + " | ".join(str(line[head]) for head in heads) + " |" for paper, line in table.items()]
    totals = [sum(line[head] for line in table.values()) for head in heads]
    return "\n".join([*lines, f"| {total} | " + " | ".join(map(str, totals)) + " |"])


def findings_table(results: Sequence[Result], count: int = 12) -> str:
    """Markdown: the most serious findings."""
    lines = [
        "| finding | where | statement | evidence | what saves it |",
        "|---|---|---|---|---|",
    ]
    for result in serious(results, count):
        row = result.row
        lines.append(
            f"| `{row.id}` ({effect(result)}) | {_cell(row.cite.place)} | {_cell(row.statement)} | "
            f"{_cell(_short(result.finding.evidence))} | {_cell(_saving(result))} |"
        )
    return "\n".join(lines)


def _saving(result: Result) -> str:
    saving = result.row.saving
    if not saving.text:
        return "nothing found"
    decided = f" ({result.saving.verdict})" if result.saving else ""
    return f"{saving.kind}: {saving.text}{decided}"


def _short(text: str, length: int = 220) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def readme_block(results: Sequence[Result]) -> str:
    """Markdown for the README, between its markers: rows per verdict and paper, and the dozen most serious findings."""
    lines = [
        f"{len(results)} rows about the papers, decided by machine (`dpassay prove`; all of them: `LEDGER.md`).",
        "Failing rows are saved by a `reading` (the same text, read otherwise), a `condition` (an added assumption), a",
        "`repair` (a changed text), only in a `degenerate` case, or not at all.",
        "",
        summary_table(results),
        "",
        f"{sharp_share(results)}; {corrected_share(results)}.",
        "",
        f"{effects_line(results)}.",
        "",
        failures_table(results),
        "",
        *_STATUS,
        *theorems(results, ("Theorem", "Corollary")),
        "The most serious findings, at most four of one paper; `dpassay prove --id ID --explain` shows one:",
        "",
        findings_table(results),
    ]
    return "\n".join(lines)


_STATUS = (
    "What becomes of the statements, from the rows that decide their steps and the statements that they use.",
    "`proved here`: every step that has a row passes. `holds under`: steps need a reading or a condition.",
    "`unsupported`: a step, or a statement that it uses, fails as printed, and no reading or condition saves it.",
    "`false`: the statement itself fails as printed. A dash: no row decides that side. Steps without a row are not",
    "covered.",
    "",
)


_INVENTORY = (
    "Assertions of the texts, each with its place, and what decides it (`docs/inventory.md`); and the questions that",
    "are asked of each theorem, lemma and algorithm (`docs/proofs.md`). A test holds that nothing new is open.",
)


_CHOICES = (
    "What saves the rows of one paper, taken together: a point that satisfies all of it, or what excludes what. The",
    "conditions are those that the rows name, and may be wider than needed. `ell` stands for log(1/delta).",
    "",
)


def choices(papers: Sequence[str]) -> list[str]:
    """Markdown: for each paper the point, and the contradictions among what saves its rows."""
    lines = ["| paper | excluded | why | the rest holds at |", "|---|---|---|---|"]
    for paper in papers:
        found = joint(paper)
        point = ", ".join(f"{name} = {value:.3g}" for name, value in found.point.items()) or "-"
        if not found.conflicts:
            lines.append(f"| {paper} | nothing | - | {point} |")
        for one in found.conflicts:
            rows = ", ".join(f"`{row.split('/', 1)[1]}`" for row in one.rows)
            lines.append(f"| {paper} | {rows} | {_cell(one.why)} | {point} |")
    return lines


def theorems(results: Sequence[Result], kinds: Sequence[str]) -> list[str]:
    """Markdown: a table of statements for each paper."""
    papers = dict.fromkeys(result.row.cite.paper for result in results)
    lines: list[str] = []
    for paper in papers:
        lines += [f"### {paper}: statements", "", *graph.table(paper, results, kinds), ""]
    return lines


def markdown(results: Sequence[Result]) -> str:
    """LEDGER.md."""
    lines = [
        "# Ledger",
        "",
        "Generated by `dpassay prove`; do not edit. One row per checkable statement of the papers,",
        "as printed in their plain-text renderings. `proved`: symbolically or by interval arithmetic.",
        "`checked`: on many points of the region and by a search, not a proof. `spot-checked`: on few points; does",
        "not count as checked. `refuted`: with numbers to plug in. `ill-defined`: cannot be executed, or two places",
        "disagree. `empty`: it passes, and so does each of its mutants, or it holds by its form alone: it decides",
        "nothing. `unknown`: not passed. A failing row is saved by a `reading` (the same text, or another place of the",
        "paper, read otherwise), a `condition` (an added assumption), a `repair` (a changed text), or only in a",
        "`degenerate` case. `Sharp` names the nearest mutant of a passing row that is refuted. Several rows may show",
        "one defect. Beside a failing row stands what falls by it alone, from the graph of what rests on what.",
        "",
        summary_table(results),
        "",
        f"{sharp_share(results)}; {corrected_share(results)}.",
        "",
        f"{effects_line(results)}.",
        "",
        failures_table(results),
        "",
        "## Theorems",
        "",
        *_STATUS,
        *theorems(results, graph.SHOWN),
        "Where the author of a row and the graph differ: the tables above follow the author, the rows below the graph.",
        "",
        *settled_lines(results),
        "",
        "## Choices made together",
        "",
        *_CHOICES,
        *choices([paper for paper in PAPERS if paper in summary(results)]),
        "",
        "## The most serious findings",
        "",
        findings_table(results),
    ]
    decided = corrections(results)
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
            lines += [_line(result, decided.get(result.row.id)) for result in own]
    papers = [paper for paper in PAPERS if paper in summary(results)]
    lines += ["", "## Everything that the papers say", "", *_INVENTORY, "", *told.table(papers)]
    return "\n".join(lines) + "\n"


def _line(result: Result, corrected: Correction | None) -> str:
    row = result.row
    verdict = f"**{result.verdict}**, {effect(result)}" if result.failed else str(result.verdict)
    if result.failed and row.defect:
        verdict += f" (as `{row.defect.split('/', 1)[1]}`)"
    name = row.id.split("/", 1)[1]
    evidence = _cell(_short(result.finding.evidence) + _more(result, corrected))
    return f"| {name} | {_cell(row.cite.place)} | {_cell(row.statement)} | {verdict} | {evidence} |"


def _decided(row: Row, found: Correction) -> str:
    """How a corrected statement is decided, in a word."""
    if found.state is State.ELSEWHERE:
        return f"decided by `{found.why.removeprefix(row.cite.paper + '/')}`"
    return "open" if found.state is State.OPEN else found.why


def _more(result: Result, corrected: Correction | None) -> str:
    row, parts = result.row, []
    if result.sharpness is not None and result.sharpness.hollow:
        parts.append(f"Decides nothing: {result.sharpness.hollow}")
    elif result.sharpness is not None:
        parts.append(f"Sharp: refuted with {result.sharpness.nearest}")
    if corrected is not None:
        parts.append(f"Corrected: {row.corrected} ({_decided(row, corrected)})")
    if row.saving.text and result.failed:
        said = _saving(result)
        parts.append(said[0].upper() + said[1:])
    if row.garbling:
        parts.append(f"Rendering: {row.garbling}")
    return "".join(f" {part}." for part in parts)
