"""A second set of source bugs, written by somebody who had not seen the search: caught at first sight, and now.

python benchmarks/source_mutants_strangers.py [--only NAME] [--write] [--keep FILE] [--from FILE ...]

As `source_mutants.py`, each bug on the row that its author named, printed readings too: an hour of one core. `--keep`
adds each bug to a file as it is judged and skips those that the file holds; `--from` reads such files in place of
running (the last record of a bug counts).
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

import audit_figures as figures

from dpassay.audit.lab.source.campaign import reference_folder
from dpassay.audit.lab.source.judge import judge
from dpassay.audit.lab.source.strangers import STRANGERS, Stranger
from dpassay.audit.lab.source.strangers.survivors import FIRST_SIGHT, LEFT
from dpassay.reference.catalogue import find

HEADER = ("about", "planted", "red at first sight", "red now", "not red")


def main() -> None:
    """The table by what a bug is about, and every bug that was missed at first or is missed now."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="bugs whose name contains this")
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results")
    parser.add_argument("--keep", type=Path, help="add each bug to this file, one JSON object a line; it skips them")
    parser.add_argument("--from", dest="source", type=Path, nargs="*", help="files of --keep")
    parser.add_argument("--note", action="append", default=[], help="one more line below the table")
    chosen = parser.parse_args()
    codes = _codes(chosen.source or ([chosen.keep] if chosen.keep else []))
    for one in () if chosen.source else STRANGERS:
        if chosen.only in one.patch.name and one.patch.name not in codes:
            codes[one.patch.name] = _judged(one, chosen.keep)
    figures.finish(
        "source_mutants_strangers",
        "Bugs of a stranger, judged by the exit code",
        HEADER,
        _rows(codes),
        [*_notes(codes), *(f"- {note}" for note in chosen.note)],
        chosen.write,
    )


def _codes(paths: list[Path]) -> dict[str, int | None]:
    return {one["bug"]: one["exit_code"] for one in figures.recorded(paths)}


def _judged(one: Stranger, keep: Path | None) -> int | None:
    reference = reference_folder()
    found = judge(one.patch.bug(reference), find(one.row), reference)
    figures.record(keep, asdict(found))
    print(f"{found.exit_code} {found.bug} {found.seconds:.0f} s", file=sys.stderr, flush=True)
    return found.exit_code


def _rows(codes: dict[str, int | None]) -> list[tuple[str, int, int, int, int]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for one in STRANGERS:
        if one.patch.name in codes:
            groups[one.about].append(one.patch.name)
    return [
        (
            about,
            len(names),
            sum(bool(codes[name]) and name not in FIRST_SIGHT for name in names),
            sum(bool(codes[name]) for name in names),
            sum(not codes[name] for name in names),
        )
        for about, names in sorted(groups.items())
    ]


def _notes(codes: dict[str, int | None]) -> list[str]:
    harmful = [one.patch.name for one in STRANGERS if one.patch.must and one.patch.name in codes]
    red = [name for name in harmful if codes[name]]
    first = [name for name in red if name not in FIRST_SIGHT]
    notes = [
        f"{len(harmful)} bugs: {len(first)} red at first sight, {len(red)} now. {len(codes) - len(harmful)} harmless "
        "changes, which must not be red.",
        "Red is an exit code other than 0: "
        + ", ".join(f"{sum(codes[name] == code for name in harmful)} times {code}" for code in (1, 3))
        + " (3: inconclusive).",
        *(f"Missed at first sight: `{name}`. {FIRST_SIGHT[name]}" for name in harmful if name in FIRST_SIGHT),
        *(f"Missed: `{name}`. {LEFT.get(name, '')}" for name in harmful if not codes[name]),
        *(
            f"Harmless: `{one.patch.name}`, exit code {'none, too slow' if code is None else code}. "
            f"{LEFT.get(one.patch.name, '')}"
            for one in STRANGERS
            if not one.patch.must and (code := codes.get(one.patch.name, 0)) != 0
        ),
    ]
    return [f"- {note.strip()}" for note in notes]


if __name__ == "__main__":
    main()
