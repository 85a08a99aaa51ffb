"""Which kind it is, where the numbers say one thing and changes of the reference another, or many do the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .causes import OTHERS, Causes, Known
from .conditions import Turned
from .differences import SCALES, Difference, Part, compare
from .kinds import Kind
from .mutants import Mutant, line_of
from .reading import is_zero, nearly_one, one_off, other_returned, remembers, same_twice
from .shown import Seen, Shown

FIRM = (Kind.LAW, Kind.BATCH, Kind.CLAIM, Kind.SHAPE, Kind.SENSITIVITY, Kind.NOISE_SCALE, Kind.UN_NOISED,
        Kind.SIGN)  # fmt: skip
CALLS = (Part.CALL, Part.COUNT)
CHANCE = {Kind.FACTOR, Kind.BRANCH}  # what may lead to the same calls, or the same scales, by chance
LEADS = {Kind.INDEX_SHIFT, Kind.UN_NOISED}  # to another call, even where not every vector is explained
NOISE = re.compile("std|sigma|noise|scale|rho|multiplier|sensitivity")  # lines that are about noise
SPECIFIC = (Kind.UN_NOISED, Kind.NO_CLIP, Kind.CLIP_ORDER, Kind.CLIP_NORM, Kind.CLIP_BOUND, Kind.BATCH, Kind.SIGN,
            Kind.MISSING_TERM, Kind.INDEX_SHIFT, Kind.CALLS, Kind.BRANCH, Kind.FACTOR)  # fmt: skip
OF_CALLS = (Kind.UN_NOISED, Kind.BATCH, Kind.CALLS, Kind.BRANCH, Kind.SIGN, Kind.INDEX_SHIFT)  # what makes others
CONSTANT = (Turned.NEVER, Turned.ALWAYS)
MANY = 4  # vectors that differ
NOISES = {*SCALES, "threshold_scale"}
DECLARED = {*NOISES, "sensitivity"}
OF_NOISE = {*CHANCE, Kind.NOISE_SCALE, Kind.SENSITIVITY, Kind.UN_NOISED}
CLIPS = {Kind.CLIP_NORM, Kind.CLIP_ORDER, Kind.CLIP_BOUND, Kind.NO_CLIP}


@dataclass(frozen=True)
class Evidence:
    """What is known of a difference.

    Args:
        said: what the numbers show, the most telling first.
        causes: changes of the reference that do the same.
        calls_alone: every vector that differs parts at which call comes next, and at no number.
        names: of all fields that differ anywhere.
        queries: a vector parts at a query.
        clipped: where a sensitivity differs, the query does as well or not, as rows are that are clipped or not.
        steady: every vector that differs shows the same ratio first.
        output_alone: nothing but the output differs on any vector.
        other_releases: as many draws are made wherever the runs went on to their ends, and other releases.
        many: so many vectors differ that a change does not explain all of them by chance.
    """

    said: Sequence[Shown]
    causes: Causes
    calls_alone: bool
    names: frozenset[str]
    queries: bool
    clipped: bool
    steady: bool
    output_alone: bool
    other_releases: bool
    many: bool


def evidence(said: Sequence[Shown], causes: Causes, known: Known, float32: bool) -> Evidence:
    """Of vectors with their answers, the one that is explained first."""
    every = [list(compare(one, {"output": None, **given}, float32=float32)) for one, given in known[: OTHERS + 1]]
    red = [found for found in every if found]
    ratios = {f"{one.ratio:.6g}" for one, *_ in red if one.ratio is not None and one.name in SCALES}
    names = frozenset(one.name for found in red for one in found)
    queries = causes.whole and any(_at_a_query(found) for found in red[1:])
    moved = {_moved(found, one) for found in red for one in found if one.name == "sensitivity"}
    output = all(one.part is Part.OUTPUT for found in red for one in found)
    other = _other_releases([pair for pair, found in zip(known, every, strict=False) if found])
    alone, parted, steady, many = calls_alone(red), len(moved) > 1, len(ratios) <= 1, len(red) >= MANY
    return Evidence(said, causes, alone, names, queries, parted, steady, output, other, many)


def _other_releases(red: Known) -> bool:
    """Steps too many or too few make other draws as well; where as many are made, the releases are others."""
    ended = [(vector["events"], given["events"]) for vector, given in red if given.get("output") is not None]
    counts = [[Counter((one["event"], one["label"]) for one in events) for events in pair] for pair in ended]
    draws = [[{key: many for key, many in each.items() if key[0] == "draw"} for each in pair] for pair in counts]
    return bool(ended) and all(one == other and one for one, other in draws) and all(a != b for a, b in counts)


def _moved(found: Sequence[Difference], declared: Difference) -> bool:
    """Does the query differ that a sensitivity is declared for?"""
    return any(one.step == declared.step and one.name in ("query", "queries") for one in found)


def calls_alone(red: Sequence[Sequence[Difference]]) -> bool:
    """Does every vector that differs part at which call comes next, and at no number?"""
    return all(found[0].part in CALLS for found in red)


def _at_a_query(found: Sequence[Difference]) -> bool:
    return any(one.name in ("query", "queries") for one in found if one.step == found[0].step)


def decided(known: Evidence) -> tuple[Kind, str, Mutant | None]:
    """Kind, what shows it, and one change that does the same."""
    found = _decided(known)
    if found[0] is Kind.FACTOR and known.calls_alone and known.causes.whole:
        return Kind.BRANCH, *found[1:]  # no query moves by it: what is asked for next does
    if found[0] is Kind.UNKNOWN and known.output_alone:
        return Kind.OUTPUT, "another value is returned", None
    if found[0] is Kind.CALLS and known.said and known.said[0].seen is Seen.DRAW_LEFT_OUT:
        return Kind.BATCH, *found[1:]
    if found[0] is Kind.SENSITIVITY and known.said and known.said[0].seen is Seen.NOISE_FOLLOWS:
        return Kind.NOISE_SCALE, *found[1:]  # it is more than declared: the noise is another one
    found_all = known.causes.found if known.causes.whole else []
    returned = [one for one in found_all if other_returned(one) and not _used_by_all(one)]
    named = found[0] in (Kind.INDEX_SHIFT, Kind.BRANCH) and not any(map(one_off, found_all))
    if known.output_alone and named:
        longer = bool(known.said) and known.said[0].kind is Kind.OUTPUT  # or shorter
        told = str(known.said[0]) if longer else "another value is returned"
        return Kind.OUTPUT, told, returned[0] if returned else found[2]
    return found


def _decided(known: Evidence) -> tuple[Kind, str, Mutant | None]:
    said, causes = known.said, known.causes
    if same_twice(causes.found):  # people take a name for another one; nobody multiplies by zero
        causes = replace(causes, found=[one for one in causes.found if not is_zero(one)])
    first, detail = (said[0].kind, str(said[0])) if said else (Kind.UNKNOWN, "")
    kinds = {one.change.kind for one in causes.found}
    if causes.told and causes.full and len(kinds) == 1:
        kind = causes.found[0].change.kind
        return kind, detail if first in (kind, Kind.CALLS) else "", min(causes.found, key=_plain)
    if known.calls_alone and causes.whole:
        best = min(causes.found, key=_of_calls)
        if best.change.kind is Kind.UN_NOISED and not causes.told:  # that never decides otherwise is a guess among many
            best = next((one for one in causes.found if one.change.name in CONSTANT), best)
        other = known.other_releases and best.change.kind is Kind.INDEX_SHIFT and not causes.full
        return Kind.CALLS if other else best.change.kind, detail, best
    if first in (Kind.SENSITIVITY, Kind.NOISE_SCALE) and known.names <= DECLARED:
        if causes.full and kinds == {Kind.UN_NOISED}:  # a scale that follows an exact value says what that is
            return Kind.UN_NOISED, detail, min(causes.found, key=_plain)
        return _of_noise(known)
    if first is Kind.SENSITIVITY and known.clipped and not causes.whole:
        return Kind.CLIP_BOUND, detail, None
    if first is Kind.PRECISION and kinds <= CHANCE and all(map(nearly_one, causes.found)):
        return first, detail, None
    for shown in said:
        kind = shown.kind
        if kind is Kind.FACTOR and causes.whole and kinds - {Kind.FACTOR} and not shown.sizes:
            continue  # of no size that the vector has
        if kind is Kind.INDEX_SHIFT and causes.whole and Kind.BATCH in kinds:
            continue  # the query of another step, because it is of the records of another step
        same = [one for one in causes.found if one.change.kind is kind]
        if same:
            return kind, str(shown), min(same, key=_plain)
    if said and (not causes.found or (first in (*FIRM, Kind.CALLS) and not _follows(first, known))):
        return first, detail, _elsewhere(causes)
    if causes.found:
        likely = [one for one in causes.found if one.change.kind in LEADS] if first is Kind.CALLS else []
        likely = likely or causes.found
        common = Counter(one.change.kind for one in likely)
        best = min(likely, key=lambda one: (_used_by_all(one), _odd(one), *_rank(one, common), remembers(one)))
        return best.change.kind, detail if first is Kind.CALLS else "", best
    return Kind.UNKNOWN, "", None


def _odd(one: Mutant) -> bool:
    """Is something zero at some times only? Nobody does that; a name that is zero then is more likely."""
    return bool(one.when) and is_zero(one)


def _rank(one: Mutant, common: Counter[Kind]) -> tuple[int, int]:
    """The more specific kind first, then the one of which there are more."""
    return -_weight(one.change.kind), -common[one.change.kind]


def _plain(one: Mutant) -> tuple[bool, bool]:
    """What everything uses comes last, and what needs more than its text."""
    return _used_by_all(one), remembers(one)


def _of_calls(one: Mutant) -> tuple[float, bool, bool]:
    """What leads to other calls is a decision or a line before it is a number that a decision looks at."""
    kind, negated = one.change.kind, one.change.name == Turned.NEGATED
    order: float = OF_CALLS.index(kind) if kind in OF_CALLS and not negated else len(OF_CALLS) + (kind is Kind.FACTOR)
    counted = kind is Kind.INDEX_SHIFT and "%" in line_of(one)  # of steps: when it is time again
    order = OF_CALLS.index(Kind.BRANCH) - 0.5 if counted else order
    return order, one.change.name not in CONSTANT, _used_by_all(one)


def _of_noise(known: Evidence) -> tuple[Kind, str, Mutant | None]:
    """Nothing but noise scales and sensitivities differs on any vector: it is about them, whatever line does it."""
    kind = Kind.NOISE_SCALE if known.names & NOISES else Kind.SENSITIVITY
    words = [str(one) for one in known.said if one.kind in (kind, Kind.SENSITIVITY)]
    return kind, words[0] if words else "", _elsewhere(known.causes)


def _elsewhere(causes: Causes) -> Mutant | None:
    """A change that explains every vector, where not everything uses it."""
    near = [one for one in causes.found if not _used_by_all(one)] if causes.whole else []
    return near[0] if near else None


def _follows(first: Kind, known: Evidence) -> bool:
    """Is what the numbers show first only what follows from a change that explains every vector, or most of them?"""
    causes = known.causes
    others = {one.change.kind for one in causes.found} - CHANCE
    if first is Kind.BATCH:  # what is not added up is not declared either
        return causes.full and known.queries and bool(others) and Kind.BATCH not in others
    if first is Kind.CALLS:  # another call, and then nothing: a factor that leads there is too little to go by
        enough = bool(others) or known.queries or (causes.full and known.many)
        return bool(others & LEADS) or (causes.whole and enough)
    if not causes.whole:
        return False
    if first is Kind.SENSITIVITY:  # a factor of what is declared, and of nothing else
        return known.queries or bool(others - {Kind.CLIP_BOUND})
    if first is Kind.NOISE_SCALE:
        elsewhere = {one.change.kind for one in causes.found if not NOISE.search(line_of(one))} - CHANCE
        if causes.full and not known.names <= DECLARED and not {one.change.kind for one in causes.found} & OF_NOISE:
            return True  # it explains more than scales
        return known.queries or (not known.steady and bool(elsewhere - {Kind.INDEX_SHIFT}))
    return False


def also_named(kind: Kind, mutant: Mutant, causes: Causes) -> tuple[str, ...]:
    """The simplest change of each of two other kinds, elsewhere than in what everything uses."""
    others: dict[Kind, Mutant] = {}
    for one in causes.found:
        if one.change.kind not in (kind, mutant.change.kind) and not _used_by_all(one):
            others.setdefault(one.change.kind, one)
    ranked = sorted(others, key=lambda one: -_weight(one))[:2]
    return tuple(f"{one.value}: {others[one]}" for one in ranked)


def _used_by_all(mutant: Mutant) -> bool:
    """Functions that everything uses are the last that a second implementation has wrong, but for its clipping."""
    shared = any(file.startswith("blocks/") or "/" not in file for file, _ in mutant.sites)
    return shared and mutant.change.kind not in CLIPS


def _weight(kind: Kind) -> int:
    """The more specific a kind is, the less likely it explains the numbers by chance."""
    return len(SPECIFIC) - SPECIFIC.index(kind) if kind in SPECIFIC else 0
