"""What the test vectors do not show: one-line changes of the reference with which every committed vector stays green.

    python benchmarks/vector_holes.py [--quick] [--write]

Every change of the shared operators (`audit/mutate/operators.py`, `audit/mutate/slips.py`) is made in turn at each line
of the algorithm's own file that some vector runs, and the changed reference is run on the vectors until one differs.
What differs on none is a bug that an implementation may have and still pass, or no bug at all: a bound that is checked
and never reached, a number that nothing public depends on. The lines on which most of these stand are named; 100 % is
not to be had. `--quick`: two algorithms.
"""

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import audit_figures as figures

from dpassay.audit.crosscheck.evidence import RUN, Answered, Change, candidates
from dpassay.audit.crosscheck.reference_line import Watched, watched
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.mutate.lent import source
from dpassay.reference.catalogue import CASES

NOT_THE_LOOP = ("require", "raise", "tape.public", "tape.secret", "def ", "@")  # inputs to refuse, public draws
NAMED = 3
RUNS = {case.key: case.build().run for case in CASES}
Vector = dict[str, Any]


def own_files(algorithm: str) -> set[str]:
    """The files in which its rows' classes are."""
    runs = [RUNS[case.key] for case in CASES if case.id == algorithm]
    return {f"{run.__module__.removeprefix('dpassay.reference.').replace('.', '/')}.py" for run in runs}


def changes(algorithm: str, vectors: Sequence[Vector]) -> list[Change]:
    """Of the lines of its own file that any vector runs."""
    seen, files = Watched(), own_files(algorithm)
    for vector in vectors:
        found = watched(RUNS[vector["case"]], vector)
        for file in files & set(found.lines):
            seen.lines.setdefault(file, set()).update(found.lines[file])
        seen.kinds.update(found.kinds)
    every = candidates(seen, [])
    return [one for one in every if not any(word in _line(one) for word in NOT_THE_LOOP)]


def _line(one: Change) -> str:
    return source(one.file).splitlines()[one.site.line - 1]


def unseen(tried: Sequence[Change], vectors: Sequence[Vector]) -> list[Change]:
    """Those with which nothing differs; the vector that showed the last one is asked first."""
    order = [Answered(RUNS[vector["case"]], vector, vector, False) for vector in vectors]
    found = []
    for one in tried:
        for place, answered in enumerate(order):
            if answered.given_by(one) != RUN:
                order.insert(0, order.pop(place))
                break
        else:
            found.append(one)
    return found


def measure(quick: bool) -> None:
    """One row an algorithm."""
    warnings.simplefilter("ignore")  # of changed runs
    print(
        "| algorithm | vectors | changes | red | share | lines with the most that are not |\n|---|---|---|---|---|---|"
    )
    whole: Counter[str] = Counter()
    algorithms = sorted({case.id for case in CASES})
    for algorithm in ("baselines/dp_sgd", "dp_ftrl/dp_ftrl") if quick else algorithms:
        vectors = [one for one in load(algorithm) if one["expect"] == "run"]
        vectors.sort(key=lambda one: len(one["events"]))
        tried = changes(algorithm, vectors)
        left = unseen(tried, vectors)
        whole.update(changes=len(tried), red=len(tried) - len(left))
        lines = Counter((one.file.rpartition("/")[2], one.site.line) for one in left).most_common(NAMED)
        words = ", ".join(f"{file} {line} ({count})" for (file, line), count in lines)
        share = 1 - len(left) / max(1, len(tried))
        print(f"| {algorithm} | {len(vectors)} | {len(tried)} | {len(tried) - len(left)} | {share:.1%} | {words} |")
    print(f"| all | | {whole['changes']} | {whole['red']} | {whole['red'] / whole['changes']:.1%} | |")


if __name__ == "__main__":
    figures.keep_printed(__file__, __doc__ or "", measure)
