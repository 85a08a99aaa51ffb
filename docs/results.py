"""The generated tables of the pages: written from a report, and held against a later one.

    python docs/results.py reports/audit.json           docs/results.md, then what follows from it
    python docs/results.py reports/audit.json --check   exit 1 if they say something else
    python docs/results.py                              README and plot again from docs/results.md

``docs/results.md`` has the whole audit table (and the ledger's, by ``dpassay prove --readme``). The README's short
table and the plot ``docs/results.svg`` are made of that page alone, so a test holds them without an audit.

The check of the page allows the numbers 5 %: another BLAS or NumPy may round another way, and the walk over epsilon may
then stop one grid point aside. Rows, order and verdicts must be the same.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.marked import AUDIT, LEDGER, SHORT
from dpassay.audit.plain import number
from dpassay.audit.running.report_file import load
from dpassay.audit.verdict import Verdict
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.files import read_text, write_text

_BROKEN, _FINE, _UPPER = "#b3261e", "#1b6e3c", "#555555"
_EDGE = 2000.0  # where "infinite" is drawn, as a multiple of the claim
_LEAST = 0.04  # the left edge


def draw(lines: Sequence[Line]) -> str:
    """The plot: accounted and realised as multiples of the claim. The same lines give the same text."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure  # slow to load, and needed for the plot alone

    settings = {"svg.hashsalt": "dpassay", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"}
    with rc_context(settings):
        figure = Figure(figsize=(9.2, 0.235 * len(lines) + 1.1), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for height, line in enumerate(reversed(lines)):
            accounted = np.clip(line.accounted / line.claimed, _LEAST * 1.1, _EDGE)
            axes.hlines(height, 1, accounted, color=_UPPER, lw=0.8, alpha=0.5)
            marker, size, width = ("|", 9, 2) if line.bounded else ("x", 5, 1)
            axes.plot(accounted, height, marker, color=_UPPER, ms=size, mew=width)
            if not math.isnan(line.realised):
                colour = _BROKEN if line.verdict.failed else _FINE
                axes.plot(np.clip(line.realised / line.claimed, _LEAST * 1.1, _EDGE), height, "o", color=colour, ms=5)
        axes.axvline(1.0, color="black", lw=1)
        axes.set_yticks(range(len(lines)), [line.key for line in reversed(lines)], fontsize=7.5)
        axes.set_ylim(-0.8, len(lines) - 0.2)
        axes.set_xscale("log")
        axes.set_xlim(_LEAST, _EDGE * 1.6)
        axes.set_xticks([0.1, 1, 10, 100, _EDGE], ["0.1", "1", "10", "100", "infinite"])
        axes.minorticks_off()
        axes.set_xlabel(
            "epsilon as a multiple of the claim: realised at 95 % confidence (dot),\n"
            "accounted (bar; a cross where it bounds nothing)"
        )
        axes.set_title("A dot to the right of the line refutes the claim", fontsize=10, loc="left")
        axes.grid(axis="x", alpha=0.25)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Description": fingerprint(lines)})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def fingerprint(lines: Sequence[Line]) -> str:
    """What the plot was made of; it stands in the file, so that a test sees a plot of other numbers."""
    shown = json.dumps([line.cells[:7] for line in lines])
    return f"rows {hashlib.sha256(shown.encode()).hexdigest()[:16]}"


RESULTS, README, PLOT = Path("docs/results.md"), Path("README.md"), Path("docs/results.svg")
COLUMNS = ("algorithm", "reading", "claimed", "certified", "accounted", "realised >=", "verdict", "why")
CAUSES = {  # the README's rows: a key of the catalogue, and the cause in at most 60 characters
    "baselines/dp_sgd:poisson@baseline": "none: the claim is nearly used up",
    "output_perturbation/algorithm1:early-stop@printed": "believes a solver whose promise nothing checks",
    "second_order_erm/opt@printed": "the number of steps is computed from private data",
    "second_order_erm/opt:worst@repaired": "none: a fixed number of steps, exact accounting",
    "dro/double_spider:chi_square@printed": "clips the mean: one record moves it by 2 C, not 2 C / N",
    "dro/double_spider:chi_square@repaired": "none: clips each record, exact accounting",
    "minimax_sosp/dp_rgda:rowclip-n9-d1-T8-K1-q4-b9@printed": "the noise leaves out v beside u, factor 2, a constant",
    "adaptive_batch/stochastic_spider:theorem-3.17-d16-T7-O1@printed": "the tree's noise lacks the factor log(1/delta)",
}
LONGEST_CAUSE = 60
ROWS = {case.key for case in CASES if case.quick}  # a report that was gone on from may have others
NO_BOUND = " (no bound)"  # something leaves beside the releases, or a query moves by more than it declares
_TOLERANCE = 0.05


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown table of a report's rows."""
    return _markdown(COLUMNS, [_cells(row) for row in rows])


def short_block(results: str) -> str:
    """The README's table and the ledger's counts, from the text of ``docs/results.md``."""
    rows = {line.key: line.cells for line in lines_of(results)}
    for key in CAUSES:
        require(key in rows, "row", key, f"is not in {RESULTS}: choose another one for the README")
    chosen = [[f"`{key.partition('@')[0]}`", *rows[key][1:7], cause] for key, cause in CAUSES.items()]
    counts = LEDGER.read(results, str(RESULTS)).strip().partition(" (")[0]  # the ledger's first sentence
    closing = f"The papers make {counts} ([all tables](docs/results.md))."
    return _markdown([*COLUMNS[:7], "cause"], chosen) + "\n\n" + closing


@dataclass(frozen=True)
class Line:
    """One line of the audit table of ``docs/results.md``.

    Args:
        key: of the case: `` `dro/x` chi_square``, ``printed`` is ``dro/x:chi_square@printed``.
        claimed, accounted, realised: epsilons; NaN where there is none.
        bounded: what is accounted bounds what is lost.
        cells: as they are printed.
    """

    key: str
    claimed: float
    accounted: float
    realised: float
    bounded: bool
    verdict: Verdict
    cells: tuple[str, ...]


def lines_of(results: str) -> list[Line]:
    """The audit table of ``docs/results.md``."""
    found = []
    for text in AUDIT.read(results, str(RESULTS)).strip().splitlines()[2:]:
        cells = _row(text)
        name, _, variant = cells[0].partition("` ")
        key = name.strip("`") + (f":{variant}" if variant else "") + f"@{cells[1]}"
        words = (cells[place].split(" ")[0] for place in (2, 4, 5))
        claimed, accounted, realised = (math.nan if word in ("-", "?") else float(word) for word in words)
        bounded, verdict = not cells[4].endswith(NO_BOUND), Verdict(cells[6].strip("*"))
        found.append(Line(key, claimed, accounted, realised, bounded, verdict, tuple(cells)))
    return found


def differences(found: str, expected: str) -> list[str]:
    """What two tables say differently; empty if they agree up to the tolerance."""
    ours, theirs = ([_row(line) for line in text.strip().splitlines()[2:]] for text in (found, expected))
    names = [row[:2] for row in ours]
    if names != [row[:2] for row in theirs]:
        return [f"rows: {len(ours)} against {len(theirs)}, or in another order"]
    return [
        f"{one[0]} {one[1]}: {heading} {mine} against {other}"
        for one, two in zip(ours, theirs, strict=True)
        for heading, mine, other in zip(COLUMNS[:7], one[:7], two[:7], strict=True)
        if not _agree(mine, other)
    ]


def main(words: Sequence[str]) -> int:
    """See the module's docstring; works in the root of a checkout."""
    check = "--check" in words
    reports = [Path(word) for word in words if not word.startswith("--")]
    require(len(reports) <= 1 and bool(reports or not check), "arguments", list(words), "one report, perhaps --check")
    page = read_text(RESULTS, "page")
    inside = AUDIT.read(page, str(RESULTS))
    if reports:
        read = load(reports[0])  # every field of its type: it may come from somebody else
        rows = [row.as_dict() for row in read if row.key in ROWS]
        if check:
            found = differences(inside, table(rows))
            print("\n".join(found) or f"{RESULTS}: the table agrees with {reports[0]}")
            return int(bool(found))
        write_text(RESULTS, AUDIT.written(page, table(rows), str(RESULTS)), "page")
    results = read_text(RESULTS, "page")
    write_text(README, SHORT.written(read_text(README, "README"), short_block(results), str(README)), "README")
    write_text(PLOT, draw(lines_of(results)), "plot")
    return 0


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _cells(row: dict[str, Any]) -> list[str]:
    name = f"`{cell(row['algorithm']).replace('`', chr(39))}`" + (f" {cell(row['variant'])}" if row["variant"] else "")
    mark = "" if row["realised"] is None or row["realised_by"] == "likelihood" else f" ({cell(row['realised_by'])})"
    bound = "" if row.get("upper_bound", True) else NO_BOUND
    certified = "open" if row.get("certified") is None else number(row["certified"])
    numbers = [number(row["claimed"]), certified, number(row["accounted"]) + bound, number(row["realised"]) + mark]
    verdict = f"**{row['verdict']}**" if Verdict(row["verdict"]).failed else row["verdict"]
    return [name, cell(row["reading"]), *numbers, verdict, cell(row["why"])]


def cell(text: str) -> str:
    """One cell of a table: no control character, no end of the cell, no link, no HTML."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", printable(text).replace("|", "\\|").replace("[", "\\["))


def _row(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def _agree(one: str, other: str) -> bool:
    """The same words, or numbers that are near each other."""
    if one.endswith(NO_BOUND) == other.endswith(NO_BOUND):
        with suppress(ValueError):
            mine, theirs = (float(cell.removesuffix(NO_BOUND)) for cell in (one, other))
            return math.isclose(mine, theirs, rel_tol=_TOLERANCE)
    return one == other


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadInput as error:
        print(error, file=sys.stderr)
        sys.exit(2)
