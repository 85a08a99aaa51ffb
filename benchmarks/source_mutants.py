"""Bugs planted in the source of the algorithms, judged by the exit code of `dpassay audit`: which ones it catches.

python benchmarks/source_mutants.py [--quick] [--write] [--from FILE]

A quarter of an hour and more on two cores. `--from` reads what `dpassay mutants --source --json` printed, in place of
running it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import audit_figures as figures

from dpassay.audit.lab.source.campaign import WRONG, by_kind, choose, rate, run, summary
from dpassay.audit.lab.source.judge import Judged

HEADER = ("kind", "what is wrong with it", "planted", "caught, or rightly passed", "wrong")


def main() -> None:
    """The table by kind, the shares, and every bug that was missed or accused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="six generated bugs, none written by hand")
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results")
    parser.add_argument("--from", dest="source", type=Path, nargs="*", help="what the command printed with --json")
    chosen = parser.parse_args()
    judged = _read(chosen.source) if chosen.source else _measured(chosen.quick)
    rows = by_kind(judged)
    for row in rows:
        figures.show(HEADER, row)
    notes = _notes(judged)
    print("\n".join(notes))
    if chosen.write:
        figures.write("source_mutants", "Bugs planted in the source, judged by the exit code", HEADER, rows, notes)


def _read(paths: list[Path]) -> list[Judged]:
    found = []
    for path in paths:
        for one in json.loads(path.read_text(encoding="utf-8"))["bugs"]:
            found.append(Judged(**{**one, "rows": tuple(one["rows"]), "verdicts": tuple(one["verdicts"])}))
    return found


def _measured(quick: bool) -> list[Judged]:
    bugs = choose("", 6 if quick else 100, 0, hand=not quick)
    return list(run(bugs, 2, 1, 0))


def _notes(judged: list[Judged]) -> list[str]:
    counts = "; ".join(f"{answer}: {count}" for answer, count in summary(judged).items())
    slowest = max((one.seconds for one in judged), default=0.0)
    notes = [
        f"{len(judged)} bugs. {counts}.",
        f"Caught with exit code 1, of those that must be caught and change something: {rate(judged):.1%}.",
        "'within the claim': the planted line changes noise or the number of releases, and what is really released "
        "still adds up to no more than is claimed (a schedule that is calibrated by a dry run of the changed code "
        "makes up for it). 'no change': no run on the audited rows' pairs differs from the unchanged code.",
        f"The slowest took {slowest:.0f} s.",
    ]
    named = [f"{one.answer}: {one.bug} ({one.why}); rows {', '.join(one.rows)}" for one in judged if wrong(one)]
    return [f"- {line}" for line in (*notes, *named)]


def wrong(one: Judged) -> bool:
    """Missed, accused, crashed or too slow."""
    return one.answer in WRONG


if __name__ == "__main__":
    main()
