"""What the test vectors do not show: small edits of the reference with which every committed vector stays green.

    python benchmarks/vector_holes.py [--quick] [--write]

Every edit that the diagnosis knows (a sign, a factor, a term, an index, a condition, a clipping, ...) is made in turn
at each place of the algorithm's own file that some vector runs, and the changed reference is run on the vectors until
one differs. What differs on none is a bug that an implementation may have and still pass, or no bug at all: a
transposed vector, a bound that is checked and never reached, a number that nothing public depends on. The lines on
which most of these stand are named; 100 % is not to be had. `--quick`: two algorithms.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import keep

from dpassay.audit.crosscheck.agreeing import agree
from dpassay.audit.crosscheck.causes import run_of
from dpassay.audit.crosscheck.cost import patience
from dpassay.audit.crosscheck.mutants import Mutant, answers, line_of, mutants, seen_by, systematic
from dpassay.audit.crosscheck.reached import Reached
from dpassay.audit.crosscheck.storage import load
from dpassay.reference.catalogue import CASES

NOT_THE_LOOP = ("require", "raise", "tape.public", "tape.secret", "def ", "@")  # inputs to refuse, public draws
NAMED = 3
Vector = dict[str, Any]


def own_files(algorithm: str) -> set[str]:
    """The files in which its rows' classes are."""
    runs = [case.build().run for case in CASES if case.id == algorithm]
    return {f"{run.__module__.removeprefix('dpassay.reference.').replace('.', '/')}.py" for run in runs}


def edits(algorithm: str, vectors: Sequence[Vector]) -> list[Mutant]:
    """Of the lines of its own file that any vector runs."""
    seen, files = Reached(), own_files(algorithm)
    for vector, run in ((vector, run_of(vector)) for vector in vectors):
        for file, lines in seen_by(run, vector, None).lines.items() if run is not None else ():
            seen.lines.setdefault(file, set()).update(lines)
    every = dict.fromkeys([*mutants(seen), *systematic(seen)])
    return [one for one in every if one.file in files and not any(word in line_of(one) for word in NOT_THE_LOOP)]


def unseen(tried: Sequence[Mutant], vectors: Sequence[Vector]) -> list[Mutant]:
    """Those with which nothing differs; the vector that showed the last one is asked first."""
    order = [(vector, run, patience(run, vector)) for vector in vectors if (run := run_of(vector)) is not None]
    found = []
    for one in tried:
        for place, (vector, run, seconds) in enumerate(order):
            made = answers(run, vector, one, seconds=seconds)
            if made is None or not agree(vector, made, vector, False):
                order.insert(0, order.pop(place))
                break
        else:
            found.append(one)
    return found


def measure(quick: bool) -> None:
    """One row an algorithm."""
    warnings.simplefilter("ignore")  # of changed runs
    print("| algorithm | vectors | edits | red | share | lines with the most that are not |\n|---|---|---|---|---|---|")
    whole: Counter[str] = Counter()
    algorithms = sorted({case.id for case in CASES})
    for algorithm in ("baselines/dp_sgd", "dp_ftrl/dp_ftrl") if quick else algorithms:
        vectors = [one for one in load(algorithm) if one["expect"] == "run"]
        vectors.sort(key=lambda one: len(one["events"]))
        tried = edits(algorithm, vectors)
        left = unseen(tried, vectors)
        whole.update(edits=len(tried), red=len(tried) - len(left))
        lines = Counter((one.file.rpartition("/")[2], one.change.line) for one in left).most_common(NAMED)
        words = ", ".join(f"{file} {line} ({count})" for (file, line), count in lines)
        share = 1 - len(left) / max(1, len(tried))
        print(f"| {algorithm} | {len(vectors)} | {len(tried)} | {len(tried) - len(left)} | {share:.1%} | {words} |")
    print(f"| all | | {whole['edits']} | {whole['red']} | {whole['red'] / whole['edits']:.1%} | |")


if __name__ == "__main__":
    keep.main(__file__, __doc__ or "", measure)
