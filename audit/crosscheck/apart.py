"""Where several changes of the reference explain every vector: vectors on which they part, to ask the other one about.

The problems of vectors with other constants and other noise, less and far more than a schedule asks for, so that what
is decided by exact values parts from what is decided by released ones, and from what is always decided alike. The
reference is run with each change; the few vectors that tell the most of them apart are run by the other implementation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from .agreeing import Data, agree
from .causes import Causes, Known, explains, run_of
from .cost import length
from .further import AS_DRAWN, Again, Pair, Vector, Way, varied
from .kinds import Kind
from .mutants import Mutant, answers, line_of

WAYS: tuple[Way, ...] = (AS_DRAWN, (1.0, 10.0), (30.0, 0.001), (1.0, 100.0), (-30.0, 0.001), (1.0, 0.001))
OF_EACH, ALL = 3, 12  # changes of one kind, and of all kinds, that vectors are chosen by
POOL, LEAST, KINDS = 24, 4, 4  # vectors of a kind, at most and at least; of one kind there are twice as many
CHOSEN, TWICE = 6, 4  # that are asked about, and up to where pairs are told twice
NAME = re.compile(r"\w+")
BUDGET, MADE = 30_000_000, 10  # calls of functions in all runs together, and runs that one more vector takes by itself
MORE = 6  # are asked about at random, as what is right may be none of these changes


def told_apart(causes: Causes, known: Known, again: Again, float32: bool) -> tuple[Causes, list[Pair]]:
    """Those of the changes that do the same on further vectors too, which were chosen to tell them apart; with these.

    Returns:
        No change where none does the same there: then there is something else to be found.
    """
    shown = _some_of_each(causes.found)
    run = run_of(known[0][0])
    if run is None or len({one.change.kind for one in shown}) < 2:
        return causes, []
    near = {name for one in shown for name in NAME.findall(line_of(one))}
    vectors = [dict(vector) for vector, _ in known if not vector.get("further")]
    many = BUDGET // (length(run, vectors[0]) * (len(shown) + MADE))
    pool = list(varied(vectors, WAYS, near, min(POOL, max(LEAST, many // KINDS))))
    made = [[answers(run, vector, one) for one in shown] for vector in pool]
    telling = list(_telling(shown, pool, made, float32))
    others = [place for place in np.random.default_rng(len(pool)).permutation(len(pool)) if place not in telling]
    chosen = [pool[place] for place in (*telling, *others[:MORE])]
    results = zip(chosen, again(chosen), strict=True)
    asked: list[Pair] = [
        ({**vector, "asked": True}, result.answers)
        for vector, result in results
        if result.outcome in ("pass", "fail") and result.answers
    ]
    kept = [one for one in causes.found if all(explains(run, *pair, one, float32) for pair in asked)]
    return Causes(kept, bool(kept) and causes.whole, causes.full, bool(kept) and bool(asked)), asked


def _some_of_each(found: Sequence[Mutant]) -> list[Mutant]:
    """The first one of every kind, then the second one."""
    counts: Counter[Kind] = Counter()
    ranked = []
    for place, one in enumerate(found):
        ranked.append((counts[one.change.kind], place))
        counts[one.change.kind] += 1
    return [found[place] for number, place in sorted(ranked) if number < OF_EACH][:ALL]


def _telling(
    shown: Sequence[Mutant], pool: Sequence[Vector], made: Sequence[Sequence[Data | None]], float32: bool
) -> Iterator[int]:
    """One vector after the other that tells the most pairs apart that none before it did, those of two kinds first."""
    pairs = list(combinations(range(len(shown)), 2))
    parted = [
        {(one, other) for one, other in pairs if not _same(vector, row[one], row[other], float32)}
        for vector, row in zip(pool, made, strict=True)
    ]
    left, places = set(pairs), set(range(len(pool)))
    for number in range(CHOSEN):
        worth = [(sum(_kinds(shown, *pair) for pair in parted[place] & left), -place) for place in places]
        most, place = max(worth, default=(0, 0))
        if most == 0 and number < TWICE and left != set(pairs):  # once more: what is right may be none of these
            left = set(pairs)
            most, place = max(((len(parted[one]), -one) for one in places), default=(0, 0))
        if most == 0:
            return
        left -= parted[-place]
        places.remove(-place)
        yield -place


def _kinds(shown: Sequence[Mutant], one: int, other: int) -> int:
    """Two changes of two kinds matter more than two of one kind."""
    return 1 if shown[one].change.kind is shown[other].change.kind else len(shown)


def _same(vector: Vector, one: Data | None, other: Data | None, float32: bool) -> bool:
    """Nothing is known of what does not run."""
    return one is None or other is None or agree(vector, one, other, float32)
