"""The audit of plain NumPy code: one reading, one search, and what one pair of neighbours costs.

Nobody declares how far a query of plain code may move. Two releases may owe their largest movement to different pairs,
and no pair costs their sum: private least squares releases X'X and X'y, and no record moves both the most. So every run
of the search is accounted by how far its own pair moves each query. That is no upper bound: a certificate is.

The reading takes more for seen than people may see, and some draws for known. Where what was found may come of that
alone, the code is neither accused nor acquitted: the error names the line and what to do.
"""

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np

from dpassay.audit.evidence.assay import Assay
from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.lockstep.run import lockstep, scripted
from dpassay.audit.phases import time_is_up
from dpassay.audit.row import Effort
from dpassay.audit.search.ground import AllOf
from dpassay.audit.search.runner import Premises
from dpassay.audit.search.strategies import absent_row
from dpassay.audit.search.witness import Searched
from dpassay.audit.verdict import Verdict
from dpassay.reference import BadInput, Pair, PrivacyClaim
from dpassay.reference.arrays import Array
from dpassay.reference.equality import same
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.space import Sizes, Space
from dpassay.reference.tape import LiveTape, ScriptedTape, Tape
from dpassay.reference.transcript import Release

from .mechanism import PlainMechanism, recorded
from .noise_laws import law_of
from .places import WAY_OUT, Doubtful, NotUnderstood
from .randomness import FIXED

FOUND = "accounted is what the search found for one pair of neighbours: no upper bound"
_TRIAL_PAIRS = 6
_WORLDS = 4  # in which what counts as public has other values: of two coins one in two is the same
_TRIES = 3  # runs on a pair that look for a leak
_OFTEN = 12  # runs in which a coin may have to fall another way first
_TRIALS = 5  # runs that are looked at
Leaks = set[tuple[Kind, str]]


class OfOnePair(Premises):
    """Accounts each run by how far its own pair moves each query; nothing counts after an answer as rare as delta.

    Args:
        where: of the search; a given pair is taken as it is, whatever it lacks.
        mechanism: whose runs tell of which noisy numbers it takes the answer of a comparison.
    """

    measured = True
    many = 50
    early = 16  # some steps of a training
    cut = 2000  # the beginning of a training costs less than all of it, and nothing else says what all of it costs

    def __init__(self, claim: PrivacyClaim, where: Space | Pair[Any] | None, mechanism: PlainMechanism):
        super().__init__(claim, "replace-one" if isinstance(where, Pair) else claim.relation)
        self._compared = mechanism.noticed.compared  # filled by its runs
        self.rare: dict[tuple[Kind, str], str] = {}  # what was found after such an answer, and the answer's line

    def findings(self, run: ScriptedRun, by_rows: bool) -> list[Finding]:
        """As for all premises, on the transcript with this pair's movements."""
        twice = 2.0 if self._relation != "replace-one" and by_rows else 1.0  # the accountant takes half of it
        releases, transcript = run.transcript.releases, run.transcript
        if len(run.moves) == len(releases):  # else something left beside the releases, and that is found
            sizes = [
                twice * move if join is None else 2 * join
                for move, join in zip(run.moves, _of_one_side(releases, run.joins), strict=True)
            ]
            sizes = sizes if len(sizes) <= self.many else _few(sizes)
            priced = {id(one): replace(one, sensitivity=size) for one, size in zip(releases, sizes, strict=True)}
            events = [priced.get(id(one), one) for one in transcript.events]
            run = replace(run, transcript=replace(transcript, events=events))
        found = [one for one in super().findings(run, by_rows) if one.kind is not Kind.SENSITIVITY_EXCEEDED]
        leaks = [one for one in found if one.kind.leaks]
        rare = self._rare(run) if leaks else ""
        if rare:
            self.rare |= {(one.kind, one.label): rare for one in leaks}
        return [one for one in found if not one.kind.leaks] if rare else found

    def _rare(self, run: ScriptedRun) -> str:
        """The line of an answer that neither side gives with a probability above delta: a search dictates it."""
        for release, there in zip(run.transcript.releases, run.there, strict=False):  # shorter where a run broke off
            compared = any(line in release.label for line in self._compared)
            if _probability(release.law, there, release.value, compared) <= self._claim.delta:
                return release.label
        return ""


def _of_one_side(releases: list[Release], joins: list[tuple[float, float] | None]) -> list[float | None]:
    """In one batch one record moves all queries: of each batch the side whose record moves them more, all together."""
    batches: dict[tuple[int, ...], list[tuple[float, float]]] = {}
    for release, both in zip(releases, joins, strict=True):
        if both is not None:
            batches.setdefault(release.draws, []).append(both)
    norms = {draws: [math.hypot(*side) for side in zip(*found, strict=True)] for draws, found in batches.items()}
    return [
        None if both is None else both[norms[release.draws].index(max(norms[release.draws]))]
        for release, both in zip(releases, joins, strict=True)
    ]


def _few(moves: list[float]) -> list[float]:
    """Each by up to a tenth smaller, but for the largest: the account of many different ones takes seconds."""
    most = max(moves)
    steps = [math.ceil(math.log(move / most) / math.log(0.9) - 1e-9) if move > 0 else None for move in moves]
    return [0.0 if one is None else most * 0.9**one for one in steps]


def _probability(here: Law, there: Law, value: Any, compared: bool) -> float:
    """Of an answer, or of a compared number that lies as far from its query on its side; 1 for others."""
    one, other = here.outcomes(), there.outcomes()
    if one is not None and other is not None:
        return math.exp(max(one.log_density(value), other.log_density(value)))
    if not (compared and isinstance(here, Gaussian | Laplace) and type(here) is type(there) and np.size(value) == 1):
        return 1.0
    away = min(abs(float(np.ravel(value - law.query)[0])) / law.scale for law in (here, there))
    return float(law_of("normal" if isinstance(here, Gaussian) else "laplace").sf(away))


def assay_plain(
    plain: PlainMechanism, where: Space | Pair[Any], claim: PrivacyClaim, effort: Effort, audit: Callable[..., Assay]
) -> Assay:
    """The audit of the code as it is read; where noise is not understood, with that noise for known to everybody.

    Who knows more learns more: a pass is one for whoever does not know it, and anything else says nothing.

    Args:
        plain: the mechanism.
        where: its space, or a pair.
        claim: to be judged.
        effort: how hard to look.
        audit: of what runs on a tape: ``audit(run, where, claim, effort, premises=...)``.

    Raises:
        BadInput: it draws randomness of its own, or noise or a draw is used in a way that is not followed.
    """
    first: NotUnderstood | None = None
    while True:
        try:
            found = _as_read(plain, where, claim, effort, audit)
            break
        except NotUnderstood as error:
            first, lines = first or error, error.of_noise - plain.known
            if not lines or time_is_up():
                raise first from None
            plain = copy(plain)
            plain.known |= lines
    if first is not None and found.verdict.failed:
        raise first
    return found


def _as_read(
    plain: PlainMechanism, where: Space | Pair[Any], claim: PrivacyClaim, effort: Effort, audit: Callable[..., Assay]
) -> Assay:
    FIXED.clear()
    where, few = of_few_ways(plain, where, effort.seed) if isinstance(where, Space) else (where, "")
    mechanism = plain.tried(trial_pairs(where, effort.seed), effort.seed, claim.delta)
    while True:  # on which batches a release depends, trial runs may not have shown
        premises = OfOnePair(claim, where, mechanism)
        found = audit(mechanism, where, claim, effort, premises=premises)
        wrong = {one.label for one in found.findings if one.kind is Kind.WRONG_BATCH}
        witnesses, pairs = found.searched.witnesses, [where] if isinstance(where, Pair) else []
        if isinstance(where, Space):
            ground = AllOf(mechanism, where)
            pairs = [ground.setting(one.data).pair for one in witnesses if one.data.rows is not None]
        if wrong <= mechanism.sampled:
            wrong = _of_all_batches(mechanism, wrong - mechanism.several, found.searched, pairs)
            mechanism.several |= wrong
        mechanism.sampled |= wrong
        if not wrong:
            break
    leaks = {(one.kind, one.label) for one in found.findings if one.kind.leaks}
    if mechanism.noticed.refused and not any(kind is not Kind.CALL for kind, _ in leaks):
        raise mechanism.noticed.refused  # runs that end there: no leak where one side does, no pass where both do
    shown = {(one.finding.kind, one.finding.label) for one in witnesses}
    by_the_rare = found.verdict is Verdict.LEAKS and leaks <= premises.rare.keys() - shown
    if premises.rare and (by_the_rare or not found.verdict.failed):
        (kind, _), line = next(iter(premises.rare.items()))
        what = f"gives an answer of a probability of at most delta, and what follows it breaks the claim ({kind.value})"
        raise Doubtful("comparison", line, f"{what}: whether delta covers it is not known here; {WAY_OUT}")
    if found.verdict.failed and found.by != "outputs":  # outputs speak for themselves, however the code is read

        def of_pair(pair: Pair[Any]) -> Assay:
            return audit(mechanism, pair, claim, effort, premises=OfOnePair(claim, pair, mechanism))

        refuse_doubtful(mechanism, found, pairs, effort.seed, of_pair)
    fixed = f"a generator with a fixed seed is made at {', '.join(FIXED)}: everybody can draw its noise"
    seen = mechanism.noticed
    lines = sorted({*seen.public, *(line for line, chances in seen.picked.items() if len(chances) == 1)})
    told = f"realised takes what is drawn at {', '.join(lines[:3])} for known to the adversary" if lines else ""
    fixed, told = fixed if leaks and FIXED else "", told if found.realised else ""
    causes = (found.why, fixed) if seen.drawn else (fixed, found.why)  # beside other noise it may be a public start
    why = "; ".join(filter(None, (*causes, few, told, FOUND)))
    searched = replace(found.searched, note="; ".join(filter(None, (found.searched.note, few))))
    return replace(found, why=why, cause="" if seen.drawn else fixed, searched=searched, read_as=mechanism)


def _of_all_batches(run: PlainMechanism, lines: set[str], found: Searched, pairs: list[Pair[Any]]) -> set[str]:
    """Those of these releases that move with no record that is in none of the batches so far, in what was found."""
    of_all = copy(run)
    of_all.several |= lines
    for witness, pair in zip(found.witnesses, cycle(pairs), strict=False) if lines else ():
        again = scripted(of_all, pair, [witness.seed], witness.script, hidden=True)
        lines = lines - {one.label for one in again.findings if one.kind is Kind.WRONG_BATCH}
    return lines


def refuse_doubtful(
    run: PlainMechanism, found: Assay, pairs: Sequence[Pair[Any]], seed: int, audit: Callable[[Pair[Any]], Assay]
) -> None:
    """Refuse to accuse where all that was found, on these pairs, may come of what the code never said.

    Raises:
        Doubtful: naming the lines.
    """
    leaks = {(one.kind, one.label) for one in found.findings if one.kind.leaks}
    if not leaks:
        _of_numbers(run, pairs, seed)
    elif any(kind is not Kind.NOISE_SCALE for kind, _ in leaks):
        _of_leaks(run, leaks, pairs, seed, beyond=found.verdict is Verdict.VIOLATED)
    elif not any(one.verdict is Verdict.VIOLATED for one in (found, *map(audit, pairs[:3]))):
        what = "has a scale that follows the data, as with smooth sensitivity; what that costs is not known here"
        small = "there was no time to measure them" if time_is_up() else "they are small"
        lines = {line for _, line in leaks}
        n = " n is private here (with --relation zero-out it is public);" if any(one.removed for one in pairs) else ""
        raise _doubt("noise", lines, f"{what}; of losses on the pairs that were found, {small};{n}")


def _doubt(field: str, lines: Iterable[str], what: str) -> Doubtful:
    return Doubtful(field, ", ".join(sorted(lines)), f"{what} {WAY_OUT}")


def _of_numbers(run: PlainMechanism, pairs: Sequence[Pair[Any]], seed: int) -> None:
    """The releases add up to too much: are there more of them than anybody sees?"""
    among = [line for line, of_records in run.noticed.public.items() if of_records]
    if among:
        what = (
            "chooses among the records with replacement, by weights, one by one or in an order, which has no law here"
        )
        raise _doubt("draw", among, f"{what}, so nothing is amplified by it; draw with replace=False, or")
    if run.several:
        what = "depends on several secret batches, for which there is no law here, so nothing is amplified by them;"
        raise _doubt("release", run.several, f"{what} add up the records of one batch, or")
    coins = {line for line, seen in run.noticed.picked.items() if len(seen) == 1}
    for data in [data for pair in pairs for data in (pair.here, pair.there)] if coins else ():
        falls = Counter(one.label for one in recorded(run, data, seed).releases)
        coins = {line for line in coins if falls[line] and falls[line] % len(data) == 0}
    if coins:
        what = "falls once for each record, so a batch may be drawn by it: it counts as known, and amplifies nothing;"
        raise _doubt("draw", coins, f"{what} draw all at once, as `rng.random(len(rows)) < rate`, or")
    compared = run.noticed.compared
    for pair in pairs[:_TRIALS] if compared else ():
        runs = [recorded(run, pair.here, seed + number).releases for number in range(_OFTEN)]
        if len({sum(any(line in one.label for line in compared) for one in releases) for releases in runs}) > 1:
            what = "is compared, more often in some runs than in others, as by code that draws again"
            raise _doubt("noise", compared, f"{what}: all of it counts as seen, and then it costs too much;")


def _of_leaks(run: PlainMechanism, leaks: Leaks, pairs: Sequence[Pair[Any]], seed: int, beyond: bool) -> None:
    """Something leaves beside the releases: would a draw that counts as known, or noise drawn anew, have hidden it?"""
    draws = {*run.noticed.public, *run.noticed.alone}
    if not beyond:  # coins that are the same whatever the data are hide no loss of other releases
        draws |= {line for line, seen in run.noticed.picked.items() if len(seen) == 1}
    hidden: Leaks = {(Kind.PUBLIC_VALUE, line) for line in draws}
    for data in [data for pair in pairs for data in (pair.here, pair.there)] if draws else ():
        hidden |= _masked(run, data, seed)
    if hidden and leaks <= hidden and not run.noticed.shared_out:
        what = "is counted as known to the adversary, and then something tells neighbours apart; if it is secret, try"
        few = "few records, too (--space), where every way through the code is followed, or"
        raise _doubt("draw", draws, f"{what} {few}")
    if run.noticed.again and all(_numbers(run(pair.here, LiveTape(seed))) <= run.noticed.drawn for pair in pairs):
        what = "is added to data more than once, and the first sum counts as seen (objective perturbation is private"
        what += " at the exact minimiser only, which no run shows); draw it anew, or"
        raise _doubt("noise", run.noticed.again, what)
    added = copy(run)
    added.whole_numbers = True
    if leaks <= set().union(*(leaking(run, pair, seed) - leaking(added, pair, seed) for pair in pairs)):
        lines = {one.label for pair in pairs for one in recorded(run, pair.here, seed).releases}
        what = "is released before more data are added to the sum: add them before the noise, or"
        raise _doubt("noise", lines, what)
    ends = {label for kind, label in leaks if kind in (Kind.CALL, Kind.EARLY_END)}
    if ends and all(kind in (Kind.CALL, Kind.EARLY_END, Kind.OUTPUT) for kind, _ in leaks):
        both = [(one.here, one.there) for one in pairs] + [(one.there, one.here) for one in pairs]
        tried = [_agree(run, *data, seed + number) for data in both for number in range(_TRIALS)]
        if all(agree for agree, _ in tried) and not all(as_often for _, as_often in tried):  # not dictated
            what = "is drawn more often for one of two neighbours than for the other, but their outputs agree;"
            raise _doubt("noise", ends, what)


def _masked(run: PlainMechanism, data: Any, seed: int) -> Leaks:
    """What differs between runs on the same data with other values of what counts as public: that may hide it."""

    def in_a_world(both: Any, tape: Tape) -> Any:
        return run(both[0], tape, both[1])

    same_values, *others = (
        leaking(in_a_world, Pair((data, 0), (data, world), 0), seed, _OFTEN) for world in range(_WORLDS)
    )
    return set().union(*others) - same_values


def _numbers(output: Any) -> int:
    """How many numbers an output holds."""
    if isinstance(output, dict):
        return sum(map(_numbers, output.values()))
    return sum(map(_numbers, output)) if isinstance(output, list | tuple) else int(np.size(output))


def _agree(run: PlainMechanism, one: Any, other: Any, seed: int) -> tuple[bool, bool]:
    """Given the values released on the one data as far as they go: are output and number on the other the same?"""
    transcript = recorded(run, one, seed)
    left = list(transcript.releases)

    def answer(label: str, law: Law, step: int) -> Any:
        return left.pop(0).value if left and left[0].label == label else None

    tape = ScriptedTape(answer, seed)
    try:
        agree = same(run(other, tape), transcript.output)
    except Exception:  # code of others, or values that it cannot have
        return False, False
    return agree, len(tape.transcript.releases) == len(transcript.releases)


def leaking(run: Any, pair: Pair[Any], seed: int, tries: int = _TRIES) -> set[tuple[Kind, str]]:
    """Kind and label of what a few runs on the pair show beside the releases."""
    found: set[tuple[Kind, str]] = set()
    for number in range(tries):
        with contextlib.suppress(Exception):  # as in the trial runs
            seen = lockstep(run, pair, [seed, number], check=False).findings
            found |= {(one.kind, one.label) for one in seen if one.kind.leaks}
    return found


def trial_pairs(where: Space | Pair[Any], seed: int) -> list[Pair[Any]]:
    """A few pairs of the space, the target in another place each time; a given pair is the only one."""
    if isinstance(where, Pair):
        return [where]
    rng, found = np.random.default_rng([seed, 43]), []
    for number, size in enumerate(rng.choice(np.array(AllOf(trial_pairs, where).combinations), _TRIAL_PAIRS)):
        rows, n = random_rows(where, size, size["n"] + 1, rng), size["n"]
        there = rows[:-1].copy()
        there[number % n] = rows[-1] if where.relation == "replace-one" else absent_row(where, len(there[0]))
        found.append(Pair(where.data(rows[:-1], size), where.data(there, size), number % n, "trial", where.removes))
    return found


def of_few_ways(run: PlainMechanism, where: Space, seed: int) -> tuple[Space, str]:
    """The smallest sizes of the space, and a word on it, where every way through the code is followed only there."""
    longest = max(map(len, where.sizes.values()))
    if longest == 1 or run.finite_on(trial_pairs(where, seed)):
        return where, ""
    for most in (2, 1) if longest > 2 else (1,):
        part = replace(where, sizes={name: sorted(values)[:most] for name, values in where.sizes.items()})
        with contextlib.suppress(BadInput):  # no such sizes fit
            if run.finite_on(trial_pairs(part, seed)):
                tried = ", ".join(f"{name} {' or '.join(map(str, values))}" for name, values in part.sizes.items())
                return part, f"only neighbours of {tried} were tried: there every way through the code is followed"
    return where, ""


def random_rows(space: Space, sizes: Sizes, count: int, rng: np.random.Generator) -> Array:
    """Rows that the space allows, shape (count, columns)."""
    width = space.rows.columns(sizes) - bool(space.rows.labels)
    if space.rows.box is not None:
        rows = rng.uniform(*space.rows.box, size=(count, width))
    else:
        rows = rng.normal(size=(count, width))
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows *= (3.0 if space.rows.bound is None else space.rows.bound) / np.maximum(length, math.ulp(1.0))
    if not space.rows.labels:
        return rows
    labels = rng.choice(np.asarray(space.rows.labels, dtype=float), size=(count, 1))
    return np.hstack([rows, labels])
