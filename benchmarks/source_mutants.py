"""Bugs planted in the source of the algorithms, judged by the exit code of `dpassay audit`: which ones it catches.

python benchmarks/source_mutants.py [--sample 33] [--set outsider] [--only NAME] [--write]

Half an hour of one core. `--keep` adds each bug to a file as it is judged and skips those that the file holds, so that
an interrupted campaign goes on.
"""

import argparse
import sys
from collections import Counter, defaultdict
from dataclasses import asdict
from functools import cache
from pathlib import Path

import audit_figures as figures
import numpy as np

from dpassay.reference.files import parse_toml, read_text

sys.path.append(str(Path(__file__).parents[1] / "tests" / "bugs"))
from source_bugs import BUGS, Bug, Judged, generated, read_patches, run

WRONG = ("missed", "accused", "too slow", "crashed")
UNCOUNTED = (*WRONG, "no change")
HEADER = ("kind", "what is wrong with it", "planted", "caught, or rightly passed", "wrong")


def main() -> None:
    """The table by kind, the shares, and every bug that was missed or accused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=33, help="generated bugs at most: one of each operator")
    parser.add_argument("--only", default="", help="bugs whose name contains this")
    parser.add_argument("--set", default="", dest="bug_set", help="bugs of tests/bugs of this set alone")
    parser.add_argument("--jobs", type=int, default=2, help="bugs at a time")
    parser.add_argument("--write", action="store_true", help="keep the table in benchmarks/results")
    parser.add_argument("--keep", type=Path, help="add each bug to this file, one JSON object a line; it skips them")
    chosen = parser.parse_args()
    judged = _measured(chosen)
    title = "Bugs planted in the source, judged by the exit code"
    figures.finish("source_mutants", title, HEADER, _by_kind(judged), _notes(judged), chosen.write)


def _by_kind(judged: list[Judged]) -> list[tuple[object, ...]]:
    rows, kinds = [], [one.bug.split(":")[2] if one.bug.count(":") > 1 else "written by hand" for one in judged]
    for kind in sorted(set(kinds)):
        group = [one for one, its in zip(judged, kinds, strict=True) if its == kind]
        why = "as people make them" if kind == "written by hand" else group[0].why
        answers = [one.answer for one in group]
        right = answers.count("caught") + answers.count("not accused")
        rows.append((kind, why, len(group), right, sum(answer in WRONG for answer in answers)))
    return rows


def _measured(chosen: argparse.Namespace) -> list[Judged]:
    kept = figures.recorded([chosen.keep] if chosen.keep else [])
    known = [Judged(**{**one, "rows": tuple(one["rows"])}) for one in kept]
    found = {one.bug: one for one in known}
    written = [one.bug() for one in read_patches() if chosen.bug_set in ("", one.set) and chosen.only in one.name]
    made = _sampled([bug for bug in generated() if chosen.only in bug.name], chosen.sample)
    bugs = [bug for bug in (*written, *made) if bug.name not in found]
    for one in run(bugs, chosen.jobs, 0):
        figures.record(chosen.keep, asdict(one))
        print(f"{one.answer} {one.bug} {one.seconds:.0f} s", file=sys.stderr, flush=True)
        found[one.bug] = one
    return list(found.values())


def _sampled(made: list[Bug], most: int) -> list[Bug]:
    """At most so many, evenly over the kinds; seed 41."""
    if not 0 <= most < len(made):
        return made
    kinds: dict[str, list[Bug]] = defaultdict(list)
    for number in np.random.default_rng([0, 41]).permutation(len(made)):
        kinds[made[number].name.split(":")[2]].append(made[number])
    rounds = [bug for turn in range(len(made)) for bugs in kinds.values() for bug in bugs[turn : turn + 1]]
    return sorted(rounds[:most], key=lambda bug: bug.name)


def _notes(judged: list[Judged]) -> list[str]:
    counts = "; ".join(f"{answer}: {count}" for answer, count in sorted(Counter(one.answer for one in judged).items()))
    due = [one.answer for one in judged if one.must and one.answer in ("caught", "missed", "too slow", "crashed")]
    rate = due.count("caught") / len(due) if due else 1.0
    slowest = max((one.seconds for one in judged), default=0.0)
    notes = [
        f"{len(judged)} bugs. {counts}.",
        f"Caught with exit code 1, of those that must be caught and change something: {rate:.1%}.",
        "'within the claim': the planted line changes noise or the number of releases, and what is really released "
        "still adds up to no more than is claimed (a schedule that is calibrated by a dry run of the changed code "
        "makes up for it). 'no change': no run differs from the unchanged code, on the pairs of up to four rows and on "
        "the test vectors of their algorithms.",
        f"The slowest took {slowest:.0f} s.",
    ]
    return [f"- {line}" for line in (*notes, *(_survivor(one) for one in judged if one.answer in UNCOUNTED))]


def _survivor(one: Judged) -> str:
    rows = f"; last tried on {', '.join(one.rows)}" if one.rows else ""
    reason = _reasons().get(one.bug) or _reasons().get(":".join(one.bug.split(":")[::2]), "")
    return f"{one.answer}: `{one.bug}` ({one.why}){rows}{f'. {reason}' if reason else ''}"


@cache
def _reasons() -> dict[str, str]:
    """Why a bug is not reported; of a generated one by file and operator, since its line may move."""
    survivors = parse_toml(read_text(BUGS / "survivors.toml", "notes"), "survivors.toml")["survivor"]
    return {one["name"]: one["why"] for one in survivors} | {one.name: one.survives for one in read_patches()}


if __name__ == "__main__":
    main()
