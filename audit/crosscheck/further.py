"""More runs of one algorithm, for the diagnosis alone: what many changes explain on the committed vectors, fewer do on
these.

The problems and schedules of vectors once more: with other noise of the same size, where other decisions are made; with
a hundredth of it, where whoever goes on with a query agrees and whoever does something else does not; with one
constant of the schedule changed, each in turn; and with all of them changed at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from dpassay.reference.catalogue import CASES
from dpassay.reference.laws.law import Law, query_of

from .adapter import Result
from .encode import encode
from .making import run_again
from .recording import RecordingTape, events_of
from .rounding import rounding

MOST = 6  # vectors that are run once more
SHARES = (1.0, 0.01)  # of the noise
VARIED = 1  # vectors whose constants are varied
FACTORS = (0.03, 0.3, 3.0, 30.0)
EXTREMES, STEPS = (0.03, 30.0), (-1, 1, 3)
OF_A_ROW = 3  # vectors of one row of the catalogue whose problems are taken once more
EVERY = "all constants"
DRAWS = 3  # schedules whose constants are all varied,
LARGEST = (3.0, 1.0, 0.3)  # by a factor of e^3 at most, of less where that makes no sense
LONGEST = 60  # events: nothing is seen in a longer run that is not seen in a shorter one
SEED, FURTHER_SEED = 20_000, 40_000  # further on than any committed one
Way = tuple[float, float]  # what is released: so many times the query, and so many times the noise
AS_DRAWN: Way = (1.0, 1.0)
Vector = dict[str, Any]
Pair = tuple[Vector, Mapping[str, Any]]  # a vector and what was asked for on it
Again = Callable[[Sequence[Vector]], Iterable[Result]]  # the implementation on more vectors, in their order


def asked_again(known: Sequence[Result], by_id: Mapping[str, Vector], again: Again | None = None) -> list[Pair]:
    """What the results of one algorithm say, and those on further vectors if it can be run again; the red ones first.

    Args:
        again: runs the implementation.
    """
    results = sorted(known, key=lambda one: one.outcome != "fail")
    found = [(by_id[one.id], one) for one in results]
    if again is not None:
        made = list(further(_spread(found)))
        found += zip(made, again(made), strict=True)
    kept = [(one, result) for one, result in found if result.outcome in ("pass", "fail") and one["expect"] == "run"]
    kept.sort(key=lambda pair: pair[1].outcome != "fail")
    return [(vector, result.answers) for vector, result in kept if result.answers]


def _spread(found: Sequence[tuple[Vector, Result]]) -> list[Vector]:
    """The red ones first, and among them one of each row of the catalogue, before the second ones."""
    seen: Counter[tuple[str, bool]] = Counter()
    ranked = []
    for vector, result in found:
        row = (vector["case"], result.outcome == "fail")
        ranked.append(((not row[1], seen[row]), vector))
        seen[row] += 1
    return [vector for _, vector in sorted(ranked, key=lambda one: one[0])]


def further(vectors: Sequence[Vector]) -> Iterator[Vector]:
    """Of the first vectors of one algorithm that are runs: with other noise, and with other constants."""
    runs = [one for one in vectors if one["expect"] == "run" and not one.get("own")]
    runs = [one for one in runs if any(case.key == one["case"] for case in CASES)]
    for number, vector in enumerate(runs[:MOST]):
        for share in SHARES:
            words, seed = f"noise times {share:g}", SEED + number
            yield from _made(vector, words, (1.0, share), seed)
            for name, schedule in _varied(vector["schedule"], "") if number < VARIED else ():
                yield from _made({**vector, "schedule": schedule}, f"{words}, {name}", (1.0, share), seed)
            for draw in range(DRAWS):
                yield from _first(
                    _made({**vector, "schedule": schedule}, f"{words}, {EVERY} {draw}", (1.0, share), seed)
                    for schedule in (
                        _all_varied(vector["schedule"], np.random.default_rng([seed, draw]), most) for most in LARGEST
                    )
                )


def varied(vectors: Sequence[Vector], ways: Sequence[Way], near: Container[str], most: int) -> Iterator[Vector]:
    """More of them, with no constant changed, with one, with all: the first few of every row of the catalogue, in turn.

    Args:
        vectors: of one algorithm.
        ways: what is released.
        near: names of constants to change first.
        most: vectors that are made with one of the other constants changed, and with none or all; twice as many with
            one of these.
    """
    runs = [one for one in vectors if one["expect"] == "run" and not one.get("own")]
    rows: dict[str, list[Vector]] = {}
    for one in runs:
        rows.setdefault(one["case"], []).append(one)
    known = [one for turn in zip_longest(*(row[:OF_A_ROW] for row in rows.values())) for one in turn if one is not None]
    for place in range(most if known else 0):
        draw, number = divmod(place, len(known))
        way = ways[(place + draw) % len(ways)]
        yield from _varied_once(known[number], way, FURTHER_SEED + 100 * draw + number, constants=draw > 0)
    told = [(number, vector["schedule"]) for number, vector in enumerate(known)]
    ones = [(number, *one) for number, schedule in told for one in _varied(schedule, "", EXTREMES)]
    counts = [(number, *one) for number, schedule in told for one in _varied(schedule, "", (), STEPS)]
    named = [one for one in (*ones, *counts) if _last_name(one[1]) in near]
    others = [one for one in ones if one not in named]
    rng = np.random.default_rng(FURTHER_SEED)
    for each, count in ((named, 2 * most), (others, most)):
        for place in sorted(rng.permutation(len(each) * len(ways))[:count].tolist()):
            (number, words, schedule), way = each[place // len(ways)], ways[place % len(ways)]
            seed = FURTHER_SEED - number - 1
            yield from _made({**known[number], "schedule": schedule}, f"{_told(way)}, {words}", way, seed)


def _told(way: Way) -> str:
    return f"queries times {way[0]:g}, noise times {way[1]:g}"


def _last_name(words: str) -> str:
    """Of a constant, as it is called when it is changed."""
    return words.partition(" ")[0].rpartition(".")[2]


def _varied_once(vector: Vector, way: Way, seed: int, *, constants: bool) -> list[Vector]:
    words = f"{_told(way)}, {seed}"
    if not constants:
        return list(_made(vector, words, way, seed))
    rng = [np.random.default_rng([seed, one]) for one in range(len(LARGEST))]
    schedules = [_all_varied(vector["schedule"], one, most) for one, most in zip(rng, LARGEST, strict=True)]
    return _first(_made({**vector, "schedule": schedule}, f"{words}, {EVERY}", way, seed) for schedule in schedules)


def _first(tried: Iterable[Iterator[Vector]]) -> list[Vector]:
    """What the first of these makes that makes anything."""
    return next(filter(None, map(list, tried)), [])


def _varied(
    told: Any, path: str, factors: Sequence[float] = FACTORS, steps: Sequence[int] = ()
) -> Iterator[tuple[str, Any]]:
    """A schedule with one number changed, each in turn: one that counts by ``steps``."""
    if isinstance(told, float):
        yield from ((f"{path} times {factor:g}", factor * told) for factor in factors if told)
    elif isinstance(told, int) and not isinstance(told, bool):
        yield from ((f"{path} plus {step}", told + step) for step in steps if told + step > 0)
    elif isinstance(told, dict):
        for name, entry in told.items():
            for words, other in _varied(entry, f"{path}.{name}" if path else name, factors, steps):
                yield words, {**told, name: other}


def _all_varied(told: Any, rng: np.random.Generator, most: float) -> Any:
    """A schedule with every number that is none that counts changed; what lies between 0 and 1 stays there."""
    if isinstance(told, float):
        factor = float(np.exp(rng.uniform(-most, most)))
        return told * factor / (1.0 - told + told * factor) if 0.0 < told < 1.0 else told * factor
    return {name: _all_varied(one, rng, most) for name, one in told.items()} if isinstance(told, dict) else told


def _made(vector: Vector, name: str, way: Way, seed: int) -> Iterator[Vector]:
    """The reference on the data of a vector; nothing where it does not run."""
    again = partial(run_again, next(case for case in CASES if case.key == vector["case"]).build().run)
    tape = RecordingTape(seed, _answers(way, seed))
    with suppress(ValueError, ArithmeticError):  # with what is refused, or makes no sense
        output = encode(again(vector, tape, None), "output")
        told = {**vector, "id": f"{vector['id']}, {name}", "output": output, "events": events_of(tape), "further": True}
        amounts, whole, single = rounding(again, told)
        for event, amount in zip(told["events"], amounts, strict=True):
            event.update({"rounding": amount} if amount else {})
        yield {**told, "rounding": whole, "float32": single}


def _answers(way: Way, seed: int) -> Callable[[str, Law, int], Any]:
    """A multiple of the query with a share of the noise where a law adds some; else as it comes.

    Raises:
        OverflowError: by the answer to a release that is far from the first.
    """
    rng = np.random.default_rng(seed)
    times, share = way

    def answer(label: str, law: Law, step: int) -> Any:
        if step >= LONGEST:
            raise OverflowError("too many releases")
        if way == AS_DRAWN or getattr(law, "query", None) is None:
            return None
        query, value = query_of(law), law.sample(rng)
        if np.shape(query) != np.shape(value):
            return None
        found = times * query + share * (np.asarray(value, dtype=float) - query)
        return found if np.ndim(value) else float(found)

    return answer
