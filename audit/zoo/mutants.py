"""Does the auditor catch planted bugs? Every mutant of catalogue cases against replay, likelihood, black box.

A mutant whose epsilon on the pair is known exactly and exceeds the claim by 10 % or more must be caught by at least one
of them, and so must a mutant from which data leave outside the accounting; a mutant within its claim must pass all
three.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.audit.blackbox.detect import audit_outputs
from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.lockstep.run import lockstep, needs
from dpassay.audit.mutate.planted import Mutation, mutated
from dpassay.audit.results import SoundBound, Verdict
from dpassay.reference.accounting.cost import account
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.case import Case, Instance
from dpassay.reference.catalogue import find
from dpassay.reference.errors import require
from dpassay.reference.guarantee import from_account
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.replay import ReplayTape
from dpassay.reference.tape import LiveTape, record
from dpassay.reference.transcript import Release, Transcript

from .bugs import SAFE, clipping_mutations, mutations

MUST_CATCH = 1.1  # times the claim
Planned = tuple[Case, Instance, Mutation, bool]  # a bug in a case; True: judged by what the accountant proves
CASES = (
    "baselines/dp_sgd:full-batch@baseline",
    "output_perturbation/algorithm1@repaired",
    "output_perturbation/algorithm2@repaired",
    "output_perturbation/strongly_concave@repaired",
    "dro/single_sample@repaired",
)  # their pairs attain the accounted epsilon, so the mutants' epsilons on the pair are exact
ATTAINED = ("minimax_sosp/dp_rgda", "second_order_erm/dp_gd")  # likewise; the claim is what the pair itself costs
STRUCTURAL = (
    "second_order_erm/opt",
    "second_order_erm/opt_ls",
    "output_perturbation/algorithm3",
    "output_perturbation/algorithm5",
    "dro/double_spider",
    "dro/recursive_spider",
    "adaptive_batch/stochastic_spider",
)  # they stop early or their pairs show less than is accounted: only bugs that no claim covers, and safe changes


@dataclass(frozen=True)
class Effort:
    """How hard each method tries."""

    replays: int = 3
    runs: int = 400  # likelihood; the pilot has 100 more a candidate
    outputs: int = 1000  # black box, a side; 0 switches it off
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """One mutant: what it costs on the pair, and who saw it."""

    case: str
    mutation: str
    claimed: float
    epsilon: float | None  # on the pair, at the claim's delta; None: data leave outside the accounting
    exact: bool  # or the accountant's upper bound (where runs differ, or the pair does not attain it)
    replay: str  # the finding, or empty
    likelihood: float | None  # the sound lower bound; None when replay ends the run
    black_box: float | None  # p-value
    seconds: float

    @property
    def caught_by(self) -> tuple[str, ...]:
        """The methods that object: replay to what the accounting does not cover, the others to the claimed number."""
        seen = {
            "replay": bool(self.replay),
            "likelihood": self.likelihood is not None and self.likelihood > self.claimed,
            "black box": self.black_box is not None and self.black_box <= 0.05,
        }
        return tuple(name for name, caught in seen.items() if caught)

    @property
    def must_be_caught(self) -> bool:
        """Exceeds its claim by 10 % or more, for certain, or is covered by none."""
        return self.epsilon is None or (self.exact and self.epsilon >= MUST_CATCH * self.claimed)

    @property
    def safe(self) -> bool:
        """Within its claim (up to the rounding of the accountant)."""
        return self.epsilon is not None and self.epsilon <= self.claimed * (1 + 1e-6)

    @property
    def right(self) -> bool:
        """Caught if it must be, quiet if it is safe; in between both answers are fine."""
        return bool(self.caught_by) if self.must_be_caught else not (self.safe and self.caught_by)


def short_dp_sgd() -> tuple[Case, list[Mutation]]:
    """Ten steps of DP-SGD with batches of 10 in 100; record 0 has ten times the clipped length, or is like all others.

    On D' no query depends on its batch, clipped or not: the sampled pair that is accounted is the pair itself.
    """
    problem = LinearLosses(-np.ones((100, 1)))
    schedule = dp_sgd.with_multiplier(10, 0.1, 1.0, 4.0, 10)
    here = problem.replace(0, 10 * np.ones(1))
    instance = Instance(dp_sgd.run, schedule, Pair(here, problem, 0, "record 0 against all others, or like them"))
    known = find("baselines/dp_sgd:fixed-size@baseline")[0]
    shown = instance.accounted().one_direction(known.claim.delta)
    claim = replace(known.claim, epsilon=math.ceil(1000 * (shown or 0.0)) / 1000)
    case = replace(known, variant="short, fixed-size", claim=claim, build=lambda: instance)
    return case, clipping_mutations(schedule)


def runs_alike(instance: Instance) -> bool:
    """Does every run release as much of what the pair moves, moved as far, with the same noise?

    Two ordinary runs and the longest one are compared: if they agree, `pair_epsilon` is exact.
    """
    longest = instance.longest_transcript()
    replayed = ReplayTape(longest)
    instance.mechanism(instance.pair.there, replayed)
    both = zip(longest.releases, replayed.transcript.releases, strict=True)
    moving = {one.label for one, other in both if _query(one) != _query(other)}
    ways: list[Any] = []
    for seed in range(2):
        moved = lockstep(instance.mechanism, instance.pair, [17, seed], check=False).movements
        ways.append({label: round(movement.moved, 9) for label, movement in moved.items() if movement.moved > 1e-9})
        moving |= ways[-1].keys()
    spent = [
        [(one.label, one.law.scale) for one in transcript.releases if one.label in moving]
        for transcript in (record_of(instance, 0), record_of(instance, 1), longest)
    ]
    return ways[0] == ways[1] and spent[0] == spent[1] == spent[2]


def _query(release: Release) -> list[float] | None:
    query = release.law.query
    return None if query is None else np.round(np.ravel(query), 9).tolist()


def pair_epsilon(instance: Instance, mutation: Mutation, delta: float) -> float:
    """Epsilon of the mutant on the pair: the accountant on the noise really drawn and the distance really moved.

    Exact for algorithms whose `runs_alike`; for others see `accounted_epsilon`.
    """
    if mutation.unbounded:
        return math.inf
    moved: dict[str, float] = {}
    for seed in range(2):
        run = lockstep(mutated(instance.mechanism, mutation), instance.pair, [17, seed], check=False)
        for label, movement in run.movements.items():
            moved[label] = max(moved.get(label, 0.0), movement.moved)
    tape = LiveTape(0)
    mutated(instance.mechanism, mutation, moved)(instance.pair.here, tape)
    cost = account(tape.transcript)
    return cost.one_direction(delta) or cost.epsilon(delta)


def accounted_epsilon(instance: Instance, mutation: Mutation, delta: float) -> float:
    """What the accountant proves of a mutant whose releases depend on the run, at the declared sensitivities."""
    if mutation.unbounded:
        return math.inf
    return instance.with_mechanism(mutated(instance.mechanism, mutation)).accounted().epsilon(delta)


def outputs_of(run: Run[Any], instance: Instance, effort: Effort) -> list[list[list[Any]]]:
    """All released values of fresh runs on D and on D'."""

    def released(problem: Any, side: int, number: int) -> list[Any]:
        tape = LiveTape(np.random.SeedSequence([effort.seed, 31, side, number]))
        run(problem, tape)
        return [release.value for release in tape.transcript.releases]

    sides = enumerate((instance.pair.here, instance.pair.there))
    return [[released(problem, side, number) for number in range(effort.outputs)] for side, problem in sides]


def _replay(run: Run[Any], instance: Instance, effort: Effort) -> str:
    for seed in range(effort.replays):
        result = lockstep(run, instance.pair, [effort.seed, 23, seed])
        if result.findings:
            return str(result.findings[0])
        if math.isinf(result.loss):
            return "infinite loss"
    return ""


def assess(case: Case, instance: Instance, mutation: Mutation, effort: Effort, structural: bool = False) -> Outcome:
    """Plant one bug and let the three methods look."""
    start = time.perf_counter()
    plain = instance.longest_transcript()
    delta, claimed = case.claim.delta, case.claim.epsilon
    run = mutated(instance.mechanism, mutation)
    finding = _replay(run, instance, effort)
    realised = None
    if not finding:
        what = needs(run, instance.pair.here)
        sampler = LockstepSampler(run, instance.pair, what=what, checks=2)
        bound, _ = audit_likelihood(
            sampler, delta, claimed=claimed, runs=effort.runs, pilot=100, seed=effort.seed, confidence=0.99
        )
        realised = bound.epsilon if isinstance(bound, SoundBound) else None
    p_value = None
    if effort.outputs:
        sides = outputs_of(run, instance, effort)
        curve = from_account(account(plain), case.key)
        rng = np.random.default_rng([effort.seed, 29])
        result = audit_outputs(sides[0], sides[1], curve, rng, confidence=0.99)
        p_value = result.p_value if result.verdict is Verdict.VIOLATED else 1.0
    cost = accounted_epsilon if structural else pair_epsilon
    epsilon = None if mutation.unaccounted else cost(instance, mutation, delta)
    exact, seconds = mutation.unbounded or not structural, time.perf_counter() - start
    return Outcome(case.key, mutation.name, claimed, epsilon, exact, finding, realised, p_value, seconds)


def first_repaired(name: str) -> Case:
    """The first repaired case of an algorithm."""
    return next(case for case in find(name) if case.reading == "repaired")


def with_pair_claim(case: Case) -> Case:
    """The same case, claiming no more than its own pair costs (rounded up to 0.001): bugs cannot hide in slack."""
    cost = pair_epsilon(case.build(), Mutation("unchanged"), case.claim.delta)
    return replace(case, claim=replace(case.claim, epsilon=math.ceil(1000 * cost) / 1000))


def silenced(instance: Instance, transcript: Transcript) -> int:
    """Number of the Gaussian release whose query the pair moves most, relative to its claimed sensitivity."""
    movements = lockstep(instance.mechanism, instance.pair, [13], check=False).movements
    candidates = [
        (movements[release.label].share, -number)
        for number, release in enumerate(transcript.releases)
        if release.law.is_normal and release.label in movements
    ]
    require(bool(candidates), "algorithm", "no Gaussian release", "mutations change Gaussian noise")
    return -max(candidates)[1]


def planted(case: Case, instance: Instance, extra: Sequence[Mutation] = (), structural: bool = False) -> list[Mutation]:
    """The mutations of one case; `structural`: those that no claim covers, and the safe ones."""
    plain = instance.longest_transcript()
    moving = silenced(instance, record_of(instance, 0))
    listed = [*mutations(len(plain.releases), moving, plain.draws[0] if plain.draws else None), *extra]
    return [one for one in listed if not structural or one.unbounded or one.unaccounted or one.name in SAFE]


def record_of(instance: Instance, seed: int) -> Transcript:
    """The transcript of an ordinary run (which may end before the longest one)."""
    return record(lambda tape: instance.mechanism(instance.pair.here, tape), seed)


def suite() -> Iterator[tuple[Case, list[Mutation], bool]]:
    """Every case that bugs are planted in by default: (case, its own mutations, structural ones only)."""
    for name in CASES:
        yield find(name)[0], [], False
    for name in ATTAINED:
        yield with_pair_claim(first_repaired(name)), [], False
    yield *short_dp_sgd(), False
    for name in STRUCTURAL:
        yield first_repaired(name), [], True


def plan(cases: Sequence[Case] = (), only: str = "") -> list[Planned]:
    """All mutants whose mutation's name contains `only`; without cases, those of `suite`.

    Cases that are given get the mutants of which the epsilon is known: the structural ones unless their `runs_alike`.
    """
    named = ((case, list[Mutation](), not runs_alike(case.build())) for case in cases)
    found = []
    for case, extra, structural in named if cases else suite():
        instance = case.build()
        found += [(case, instance, one, structural) for one in planted(case, instance, extra, structural)]
    return [one for one in found if only in one[2].name]


def run_planned(mutants: Sequence[Planned], effort: Effort | None = None) -> Iterator[Outcome]:
    """One outcome at a time."""
    for case, instance, mutation, structural in mutants:
        yield assess(case, instance, mutation, effort or Effort(), structural)
