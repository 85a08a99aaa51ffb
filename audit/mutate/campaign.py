"""Many source bugs, two at a time: which the command catches, in a table with every survivor named."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from joblib import Parallel, delayed

import dpassay.reference.catalogue as catalogue

from .bugs import Bug, Patch, generated
from .judge import Judged, judge
from .rows import near, reaches, rows_of

TRIED = 4  # times as many rows may be tried where a bug changes nothing on the first
WRONG = ("missed", "accused", "too slow", "crashed")


def choose(patches: Sequence[Patch], only: str, sample: int, seed: int) -> list[Bug]:
    """The bugs whose name contains ``only``; of the generated ones at most ``sample``, evenly over the kinds."""
    written = [patch.bug() for patch in patches if only in patch.name]
    made = [bug for bug in generated() if only in bug.name]
    if 0 <= sample < len(made):
        rng = np.random.default_rng([seed, 41])
        kinds: dict[str, list[Bug]] = defaultdict(list)
        for number in rng.permutation(len(made)):
            kinds[made[number].name.split(":")[2]].append(made[number])
        rounds = [bug for turn in range(len(made)) for bugs in kinds.values() for bug in bugs[turn : turn + 1]]
        made = sorted(rounds[:sample], key=lambda bug: bug.name)
    return [*written, *made]


def run(bugs: Sequence[Bug], jobs: int, rows: int, seed: int) -> Iterator[Judged]:
    """Judge every bug, in order as they are done; each runs the command in a process of its own."""
    reach = reaches(near({bug.file for bug in bugs if not bug.row}))
    work = [
        (bug, catalogue.find(bug.row) if bug.row else rows_of(reach, bug.file, bug.line, TRIED * rows)) for bug in bugs
    ]
    yield from Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
        delayed(judge)(bug, chosen, seed, rows) for bug, chosen in work
    )


def summary(judged: Sequence[Judged]) -> dict[str, int]:
    """How many got which answer."""
    return dict(sorted(Counter(one.answer for one in judged).items()))


def rate(judged: Sequence[Judged]) -> float:
    """Share of the bugs that must be caught, and that change something, whose run ended with exit code 1."""
    due = [one for one in judged if one.must and one.answer in ("caught", "missed", "too slow", "crashed")]
    return sum(one.answer == "caught" for one in due) / len(due) if due else 1.0
