"""Which line a red audit names, and how far from the planted bug: ``python tests/audit/programs/places.py``.

A sample, the same in every run: of the bugs of `tests/bugs` every seventh, and of `wrong.py` every third program. The
planted lines are those that the edit changes (where it deletes, its neighbours), or that are marked as the bug.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from runpy import run_path

from dpassay.audit.mutate.bugs import CHECKOUT, Bug, read_patches
from dpassay.audit.mutate.judge import _run, planted_copy
from dpassay.audit.mutate.lent import HOME
from dpassay.audit.mutate.rows import near, reaches, rows_of
from dpassay.audit.report.problems import Level, Spot, problems
from dpassay.audit.running.report_file import load

PROGRAMS = Path(__file__).with_name("wrong.py")
HEAD = re.compile(r"(?:def|class) (\w+)")
FAR = 10**9  # in another file
EFFORT = ["--examples", "40", "--runs", "60", "--pilot", "50", "--jobs", "1"]
NEAR = 3  # lines
Planted = tuple[str, str, list[int], Path, str]  # name, file, lines, folder of the package, algorithm


def changed(old: str, new: str) -> list[int]:
    """The lines of the new text that are not in the old one; where lines are gone, the ones beside them."""
    blocks = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False).get_opcodes()
    return [line for tag, _, _, a, b in blocks if tag != "equal" for line in (range(a + 1, b + 1) or (a, a + 1))]


def planted(folder: Path) -> Iterator[Planted]:
    """The sample, each bug in a copy of the package."""
    patches = [one for one in read_patches(CHECKOUT) if one.must and not one.survives]
    bugs = [one.bug() for one in patches[::7]]
    reach = reaches(near({bug.file for bug in bugs}))
    for number, bug in enumerate(bugs):
        rows = [bug.row] if bug.row else [one.key for one in rows_of(reach, bug.file, bug.line, 1)]
        lines = changed((HOME / bug.file).read_text(encoding="utf-8"), bug.text)
        yield bug.name, f"reference/{bug.file}", lines, planted_copy(folder / str(number), bug), rows[0]
    text = PROGRAMS.read_text(encoding="utf-8")
    root = planted_copy(folder / "own", Bug("", "tape.py", 1, (HOME / "tape.py").read_text(), False, ""))
    shutil.copy(PROGRAMS, root)
    heads = [(at, one[1]) for at, line in enumerate(text.splitlines()) if (one := HEAD.match(line))]
    marked = [at for at, line in enumerate(text.splitlines(), 1) if line.endswith("# bug")]
    for line in marked[::3]:
        yield max(one for one in heads if one[0] < line)[1], PROGRAMS.name, [line], root, ""


def named(report: Path) -> tuple[str, list[Spot]]:
    """The verdict of the only row, and the lines of its problems, the gravest first."""
    (row,) = load(report)
    return row.verdict, [spot for one in problems(row) if one.level is Level.ERROR for spot in one.spots]


def main() -> None:
    """One row a bug that is red."""
    print("| planted bug | planted at | named, the first line first | first | nearest |\n|---|---|---|---|---|")
    claims = run_path(str(PROGRAMS))["CLAIMS"]
    firsts, nearests = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, file, lines, root, row in planted(Path(folder)):
            report, words = root / "report.json", [row] if row else [f"wrong:{name}", "--epsilon", str(claims[name])]
            report.unlink(missing_ok=True)
            code, _ = _run(root, ["audit", *words, *EFFORT, "--output", str(report)])
            if code != 1:
                print(f"| {name} | {file}:{lines[0]} | not red: exit {code} | | |")
                continue
            verdict, spots = named(report)
            away = [min(abs(one.line - line) for line in lines) if one.file.endswith(file) else FAR for one in spots]
            firsts.append(away[0] if away else FAR)
            nearests.append(min(away, default=FAR))
            shown = ", ".join(dict.fromkeys(f"{Path(one.file).name}:{one.line}" for one in spots))
            cells = ("-" if one == FAR else str(one) for one in (firsts[-1], nearests[-1]))
            print(f"| {name} ({verdict}) | {file}:{lines[0]} | {shown} | {' | '.join(cells)} |")
    shares = (f"{sum(one <= NEAR for one in found)} of {len(found)}" for found in (firsts, nearests))
    print(f"| within {NEAR} lines | | | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
