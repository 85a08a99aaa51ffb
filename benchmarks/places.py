"""Which line a red audit names first, and how far it is from the planted bug.

python benchmarks/places.py [--write]

A sample, the same in every run: of the bugs of `tests/bugs` every seventh, of `tests/audit/programs/wrong.py` every
third. The planted lines are those that the edit changes (where it deletes, the next one), or that are marked.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path

import audit_figures as figures

from dpassay.audit.mutate.lent import HOME
from dpassay.audit.report.problems import Level, problems
from dpassay.audit.running.report_file import load

sys.path.append(str(Path(__file__).parents[1] / "tests" / "bugs"))
from source_bugs import BUGS, Bug, planted_copy, read_patches, rows_of, run_command

PROGRAMS = BUGS.parent / "audit" / "programs" / "wrong.py"
HEAD = re.compile(r"(?:def|class) (\w+)")
EFFORT = ["--examples", "40", "--runs", "60", "--pilot", "50", "--jobs", "1"]
FAR, NEAR = 10**9, 3  # lines: in another file, and what counts
HEADER = ("planted bug", "verdict", "planted at", "named, the first line first", "first", "nearest")


def planted(folder: Path) -> Iterator[tuple[str, str, list[int], Path, list[str]]]:
    """The sample: name, file, lines, the folder of a package that has the bug, the words of its audit."""
    bugs = [one.bug() for one in [one for one in read_patches() if one.must and not one.survives][::7]]
    for number, bug in enumerate(bugs):
        row = rows_of(bug)[0].key
        known = set((HOME / bug.file).read_text(encoding="utf-8").splitlines())
        lines = [at for at, line in enumerate(bug.text.splitlines(), 1) if line not in known] or [bug.line]
        yield bug.name, f"reference/{bug.file}", lines, planted_copy(folder / str(number), bug), [row]
    text, claims = PROGRAMS.read_text(encoding="utf-8"), run_path(str(PROGRAMS))["CLAIMS"]
    root = planted_copy(folder / "own", Bug("", "tape.py", 1, (HOME / "tape.py").read_text(), False, ""))
    shutil.copy(PROGRAMS, root)
    heads = [(at, one[1]) for at, line in enumerate(text.splitlines(), 1) if (one := HEAD.match(line))]
    for line in [at for at, line in enumerate(text.splitlines(), 1) if line.endswith("# bug")][::3]:
        name = max(one for one in heads if one[0] <= line)[1]
        yield name, PROGRAMS.name, [line], root, [f"wrong:{name}", "--epsilon", str(claims[name])]


def main() -> None:
    """One row a bug that is red."""
    keep, rows, away = figures.options(__doc__).write, list[tuple[object, ...]](), list[tuple[int, int]]()
    with tempfile.TemporaryDirectory() as folder:
        for name, file, lines, root, words in planted(Path(folder)):
            report = root / "report.json"
            report.unlink(missing_ok=True)
            code, _ = run_command(root, ["audit", *words, *EFFORT, "--output", str(report)])
            row = load(report)[0] if code == 1 else None
            spots = [spot for one in problems(row) if one.level is Level.ERROR for spot in one.spots] if row else []
            apart = [min(abs(one.line - at) for at in lines) if one.file.endswith(file) else FAR for one in spots]
            shown = ", ".join(dict.fromkeys(f"{Path(one.file).name}:{one.line}" for one in spots))
            away += [(apart[0] if apart else FAR, min(apart, default=FAR))] if code == 1 else []
            ends = ["-" if one == FAR else str(one) for one in away[-1]] if code == 1 else ["", ""]
            rows.append((name, row.verdict if row else f"not red: exit {code}", f"{file}:{lines[0]}", shown, *ends))
            figures.show(HEADER, rows[-1])
    first, nearest = (sum(both[place] <= NEAR for both in away) for place in (0, 1))
    note = f"Within {NEAR} lines of the bug: the first line in {first} of {len(away)}, any line in {nearest}."
    figures.finish("places", "Which line is named first", HEADER, rows, [note], keep)


if __name__ == "__main__":
    main()
