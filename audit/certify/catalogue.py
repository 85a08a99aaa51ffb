"""Certificates of the catalogue: a row's own run, on records of which only their domain is known."""

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from dpassay.audit.lockstep.script import ALONG, Choice, dictated
from dpassay.audit.search.coverage import reason_for
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import Instance, PrivacyClaim
from dpassay.reference.problems.saddle_games import sharp_stability
from dpassay.reference.solvers.protocol import Certificate as Checked
from dpassay.reference.solvers.protocol import Solution
from dpassay.reference.tape import ScriptedTape
from dpassay.reference.transcript import Note, Release, Transcript

from .certificate import Certificate, ended
from .derivation import Open, axioms
from .draws import Ledger, Limits
from .facts import INF, Norms, Records, reachable
from .generators import Draws
from .patched import kept_numbers, patched
from .tape import Answer, CertifyTape
from .value import Value, private
from .ways import Way, Ways, held, place, said

_SECONDS = 300.0  # of this process, far beyond the slowest row, whose runs are counted below
_LONG = 4_000  # calls of the tape, in all runs on chosen released values
_TRIED = 60  # runs on chosen released values
_FORCED = 20  # runs in which one decision is forced
_HOWS = ("drawn", "drawn", "norm", "norm", "norm", "zero", "query", "opposite", "huge")
LONGEST = "no run costs more than the longest one that the row names and those that were followed"
DRAWN = "no run costs more than the ones that were followed"
PUBLIC = "a decision on numbers that were the same whatever was released is the schedule's"
ROWS = "records lie in the domain that the problem states"


def certify_instance(
    instance: Instance,
    claim: PrivacyClaim,
    transcript: Transcript | None = None,
    unreached: Mapping[str, str] = MappingProxyType({}),
) -> Certificate:
    """An upper bound on what any two neighbours of the size of a row can show, under its schedule.

    Args:
        instance: the row's; of its data the domain counts, which the problem states in ``RECORDS``.
        claim: delta and the neighbour relation.
        transcript: of the run whose released values are followed; default: the longest one.
        unreached: decisions that the row's own schedule settles, and why (``Case.unreached``).

    Returns:
        A :class:`Certificate`, open where something private decides, leaves, or goes through what has no rule.

    Raises:
        Nothing: what the code raises is a reason to stay open.
    """
    here = instance.pair.here
    n = len(here) if isinstance(here, np.ndarray) else int(here.n)

    ledgers: list[Ledger] = []

    def runs() -> list[Ledger]:
        for pair in instance.others:
            abstract(pair.here, pair.there)
        sides = (here, instance.pair.there)
        gone = claim.relation != "replace-one" and any(_without(one, instance.pair.target) for one in sides)
        problem = abstract(*sides, absent=gone)
        limits = Limits(time.process_time() + _SECONDS, INF)
        followed = _Followed(instance, problem, n, claim.relation, limits, unreached)
        ledgers.extend(followed.all_ways(transcript or instance.longest_run()[0]))
        return ledgers

    found = ended(runs, claim.relation, claim.delta, f"n = {n}, as in the row", picked=False)
    if found.epsilon is not None and found.bounded and len(ledgers) > 1:
        first = ended(lambda: ledgers[:1], claim.relation, claim.delta).epsilon or 0.0
        if found.epsilon > first * (1 + 1e-6):
            why = f"a run costs {first:.3g} and another {found.epsilon:.3g}: what runs cost follows released values"
            found = dataclasses.replace(found, epsilon=None, open=why)
    released = transcript is not None and any(isinstance(event, Release) for event in transcript.events)
    if found.epsilon is not None and not found.releases and released:  # a program of one's own, in another process
        found = dataclasses.replace(found, epsilon=None, open="the run releases outside of the code that was followed")
    return dataclasses.replace(found, axioms=(*found.axioms, ROWS, LONGEST if instance.longest else DRAWN))


@dataclasses.dataclass
class _Followed:
    """Runs of a row on its abstract records, until both ways out of every decision were taken in one of them."""

    instance: Instance
    problem: Any
    n: int
    relation: Relation
    limits: Limits
    unreached: Mapping[str, str]

    def __post_init__(self) -> None:
        self._ways, self._ledgers = Ways(), list[Ledger]()
        self._tried = Ways(self.instance.schedule, self.instance.pair.here, self.instance.run)

    def all_ways(self, longest: Transcript) -> list[Ledger]:
        """The longest run, runs on chosen released values that go new ways, and runs in which a decision is forced.

        Raises:
            Open: what a run raises, or a way that no run took, though it is not the schedule that decides.
        """
        self._ledgers.append(self._follow(longest))
        for transcript in self._chosen(longest):
            self._ledgers.append(self._follow(transcript))
        for _ in range(_FORCED if len(longest.events) <= _LONG else 0):
            missed = self._missed()
            if not any(self._forced(longest, way) for way in missed):
                break
        if missed := self._missed():
            raise Open(said(missed))
        taken = axioms.get()
        assert taken is not None
        for way in self._ways.missed():
            taken[PUBLIC if self._tried.public(way) else f"{place(way)}: {self._reason(way)}"] = None
        _at_worst(self._ledgers)
        return self._ledgers

    def _missed(self) -> list[Way]:
        return [way for way in self._ways.missed() if not self._tried.public(way) and not self._reason(way)]

    def _reason(self, way: Way) -> str:
        return reason_for(place(way), self.unreached)

    def _follow(self, transcript: Transcript, force: Way | None = None) -> Ledger:
        ledger, instance = Ledger(self.n, 0, self.relation, plain=True, limits=self.limits), self.instance
        tape = CertifyTape(ledger, replayed(transcript))
        with patched(Draws(ledger)), kept_numbers(instance.run), self._ways.watched(force):
            output = instance.run(self.problem, _with_unknown_solver(instance.schedule), tape)
        ledger.left(output)
        return ledger

    def _forced(self, longest: Transcript, way: Way) -> bool:
        """Whether a way was taken in a run that ended well. What it released counts where no other run did the like."""
        before, known = set(self._ways.taken), {one.kind for ledger in self._ledgers for one in ledger.releases}
        try:
            ledger = self._follow(longest, way)
        except Open:
            raise
        except Exception:  # the values contradict the decision
            self._ways.taken = before
            return False
        if not {one.kind for one in ledger.releases} <= known:
            self._ledgers.append(ledger)
        return len(self._ways.taken) > len(before)

    def _chosen(self, longest: Transcript) -> Iterator[Transcript]:
        """Runs on the row's own data: two whose values are drawn, and others that take a way for the first time.

        Where runs are long, there are few or none.
        """
        calls = len(longest.events)
        for number in range(_TRIED):
            if calls > _LONG:
                return
            known = len(self._tried.taken)
            tape = ScriptedTape(_released_values(number, 2 * len(longest.events) + 20), number)
            try:
                with self._tried.watched(compared=True):
                    self.instance.mechanism(self.instance.pair.here, tape)
            except Exception:  # values that no law draws, or with which it goes on and on
                continue
            finally:
                calls += len(tape.transcript.events)
            if number < 2 or len(self._tried.taken) > known:
                yield tape.transcript
            if not self._missed():
                return


def _at_worst(ledgers: list[Ledger]) -> None:
    """Where a release moves by more than it declares, all count as if they did: other ways may have more of them."""
    shares = [one.moves / one.declared for ledger in ledgers for one in ledger.releases if one.declared]
    worst = max(shares, default=0.0)
    if worst > 1 + 1e-9:
        for ledger in ledgers:
            ledger.releases = [
                dataclasses.replace(one, counted=max(one.counted, worst * (one.declared or 0.0)))
                for one in ledger.releases
            ]


def _released_values(number: int, most: int) -> Callable[[str, Any, int], Any]:
    """What a run gets for at most so many releases: drawn in two runs, else of one kind for a while, of any size."""
    rng = np.random.default_rng(number)
    chosen: dict[str, Choice] = {}

    def answer(label: str, law: Any, step: int) -> Any:
        if step > most:
            raise RuntimeError
        if number < 2:
            return None
        if law.is_finite:
            return dictated(Choice("index", index=int(rng.integers(-1, 4))), law, None, rng)
        if label not in chosen or rng.random() < 0.2:
            size, along = 10.0 ** rng.uniform(-6, 4) * rng.choice((-1, 1)), rng.choice([*ALONG])
            chosen[label] = Choice(rng.choice(_HOWS), size, along)
        return dictated(chosen[label], law, None, rng)

    return answer


def replayed(transcript: Transcript) -> Answer:
    """What was released and drawn under a label, in that order; then nothing."""
    kept: dict[str, list[Any]] = {}
    for event in transcript.events:
        if isinstance(event, Release | Note):
            kept.setdefault(event.label, []).append(event.value)
    following = {label: iter(values) for label, values in kept.items()}
    return lambda label: next(following.get(label, iter(())), None)


def states_records(problem: Any) -> bool:
    """Does it say what its records are?"""
    if isinstance(problem, np.ndarray) or _domains(problem):
        return True
    return dataclasses.is_dataclass(problem) and any(map(states_records, vars(problem).values()))


def _without(problem: Any, target: int) -> bool:
    """Is there nothing but zeros in the place of this record?"""
    if isinstance(problem, np.ndarray):
        return not np.any(problem[target])
    parts = [one for one in vars(problem).values() if not isinstance(one, np.ndarray) and states_records(one)]
    return all(_without(one, target) for one in (*parts, *(getattr(problem, name) for name in _domains(problem))))


def abstract(problem: Any, *others: Any, absent: bool = False) -> Any:
    """The problem with records of which only their domain is known; its constructor, which reads them, is passed over.

    ``absent``: a record that is not there is one of zeros, and one of two neighbours lacks it.

    Raises:
        Open: something differs from the ``others``, its neighbours, of which the problem does not say that it is part
            of the records.
    """
    if isinstance(problem, np.ndarray):
        return _records(problem, None, problem, absent)
    kind, domains, found = type(problem).__name__, _domains(problem), object.__new__(type(problem))
    for name, one in vars(problem).items():
        if name in domains or isinstance(getattr(type(problem), name, None), cached_property):
            continue
        of_others = [getattr(other, name) for other in others]
        if _domains(one) or (dataclasses.is_dataclass(one) and not isinstance(one, type)):
            found.__dict__[name] = abstract(one, *of_others, absent=absent)
        elif all(one is other or np.array_equal(one, other) for other in of_others):
            found.__dict__[name] = one
        else:
            raise Open(f"{kind}.{name} differs between neighbours, and {kind}.RECORDS states no domain for it")
    for name, domain in domains.items():
        found.__dict__[name] = _records(getattr(problem, name), domain, problem, absent)
    return found


def _domains(one: Any) -> Any:
    return getattr(one, "RECORDS", {}) if not isinstance(one, type) else {}


def _records(array: Any, domain: Any, problem: Any, absent: bool) -> Value:
    shape = np.shape(array)
    if not shape:  # a number of one record
        return Value((), None, Records())
    low, high, two = -INF, INF, INF
    if isinstance(domain, tuple):
        low, high = domain
    elif domain is not None:
        two = float(getattr(problem, domain) if isinstance(domain, str) else domain)
    return Value(shape, -len(shape), Records(np.arange(shape[0])), Norms(two=two), low=low, high=high, vanishes=absent)


def _with_unknown_solver(schedule: Any) -> Any:
    """Solvers are not followed: what is known of their points is what `certify` of the reference's protocol shows."""
    if not dataclasses.is_dataclass(schedule) or isinstance(schedule, type):
        return schedule
    changed = {
        one.name: unknown if one.name == "solver" else _with_unknown_solver(getattr(schedule, one.name))
        for one in dataclasses.fields(schedule)
        if one.name == "solver" or dataclasses.is_dataclass(getattr(schedule, one.name))
    }
    return dataclasses.replace(schedule, **changed) if "solver" in changed or "x_half" in changed else schedule


# -- points of solvers: nothing is followed inside of one, and what is known is that it is near the solution
ACCURACY = "the solver reaches its accuracy on all data; each run checks it (solvers/protocol.py, certify)"
STABLE = {
    0: "leans on output_perturbation, Lemma 3.3: exact solutions of neighbours are at most 2 L / (mu n) apart",
    1: "leans on output_perturbation, Lemmas 4.3 and 4.5: how far the saddle points of neighbours are apart",
}
LIPSCHITZ = "gradients of a record's own part of the loss are at most `lipschitz` long (Assumptions 3.1 and 4.1)"


def unknown(problem: Any, target: float, rng: Any) -> Solution:
    """In place of a solver: a point of which nothing is known, not even how far it moves."""
    own = [one for one in vars(problem.loss).values() if isinstance(one, Value)]
    apart = [one for key, one in vars(problem).items() if key != "loss"]
    if any(map(private, reachable([apart, target], held))):
        raise Open("a solver's problem depends on private data beside its records")
    point = Point((problem.d + problem.d_y,), None, own[0].records if own else Records())
    point.cause = "nothing bounds how far the point of a solver moves whose accuracy is not checked"
    return Solution(point, Checked(INF, target), 0)  # type: ignore[arg-type]


class Point(Value):
    """Of a solver; its blocks, and the whole in the metric of the moduli, move less than the whole does."""

    blocks: tuple[Any, float, float, float, int] | None = None  # root of weights; whole in their metric, x, y; d

    def near_solution(self, problem: Any, target: float) -> "Point":
        """Within ``target`` of the solution in the weighted distance: by stability, and by the error on both sides."""
        lipschitz, n = problem.loss.lipschitz, problem.n
        mu_x, mu_y = problem.strong_convexity, problem.strong_concavity
        whole = 2 * lipschitz / (n * math.sqrt(problem.modulus)) + 2 * target
        x = 2 * lipschitz / (n * mu_x) if not problem.d_y else sharp_stability(lipschitz, n, mu_x, mu_y)
        x, y = x + 2 * target / math.sqrt(mu_x), INF
        if problem.d_y:
            y = sharp_stability(lipschitz, n, mu_y, mu_x) + 2 * target / math.sqrt(mu_y)
        move = Norms(two=min(whole / math.sqrt(problem.modulus), float(np.hypot(x, y)) if problem.d_y else x))
        found = Point(self._shape, None, self.records, move=move)
        for axiom in (ACCURACY, STABLE[int(problem.d_y > 0)], LIPSCHITZ):
            self.assumed(axiom)
        found.blocks = np.sqrt(problem.weights), whole, x, y, problem.d
        return found

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if self.blocks is not None and isinstance(key, slice) and isinstance(found, Value):
            d, length = self.blocks[4], self._shape[0]
            if range(length)[key] in (range(d), range(d, length)):
                bound = self.blocks[2 if key.start in (None, 0) else 3]
                return found.like(move=found.move.both(Norms(two=bound)))
        return found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        found = super().__array_ufunc__(ufunc, method, *inputs, **options)
        other = next((one for one in inputs if one is not self), None)
        same = self.blocks is not None and other is not None and np.array_equal(other, self.blocks[0])
        if ufunc is np.multiply and self.blocks is not None and same:
            return found.like(move=found.move.both(Norms(two=self.blocks[1])))
        return found
