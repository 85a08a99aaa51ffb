"""Rows of the audit table for `output_perturbation`: every algorithm on the pair that attains its stability bound."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference.case import Case, Facts, Instance, PrivacyClaim, Reading
from dpassay.reference.findings import Kind, declare
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.problems.bent_game import BentGame, BentGameSolver
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.solvers.early_stop import UndecayedPasses
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.solvers.protocol import Solution
from dpassay.reference.space import Space

from . import (
    algorithm1,
    algorithm2,
    algorithm3,
    algorithm4,
    algorithm5,
    algorithms4and5,
    space,
    strongly_concave,
    worst_case,
)
from .phases import Phases, phases

PAPER = "output_perturbation"
EPSILON, DELTA = 0.9, 1e-5  # the paper wants epsilon < 1 and delta < 1/n
N, PHASED_N, LAZY_N, MU = 256, 64, 32, 0.1
PLAN, PHASE = phases(PHASED_N, MU), 3  # the target's phase


def first(variant: str, reading: Reading) -> Instance:
    """Algorithm 1: worst pair, real data ("logistic"), or with a lazy solver.

    "early-stop": ten times the error that line 1 allows; "worst-solver": exactly that error, in the worst direction.
    """
    lazy = {"early-stop": 10.0, "worst-solver": 1.0}.get(variant)
    if lazy:
        pair, lipschitz = worst_case.for_early_stop(LAZY_N, 2, MU), 1.0
    elif variant == "logistic":
        pair = worst_case.for_logistic(MU)
        lipschitz = pair.here.lipschitz if reading == "printed" else pair.here.loss.lipschitz  # Lemma 3.5
    else:
        pair = worst_case.for_algorithm1(N, 2, MU)
        lipschitz = pair.here.lipschitz
    solver = UndecayedPasses(lazy) if lazy else None
    printed = algorithm1.printed(pair.here, EPSILON, DELTA, solver=solver, lipschitz=lipschitz)
    repaired = algorithm1.repaired(pair.here, EPSILON, DELTA, solver=solver, lipschitz=lipschitz)
    facts: Facts = {
        "n": pair.here.n,
        "d": pair.here.d,
        "mu": MU,
        "L": lipschitz,
        "stability bound 2L/(mu n)": 2 * lipschitz / (MU * pair.here.n),
        **_noise(*(s.noise.std("output", s.sensitivity) for s in (printed, repaired))),
    }
    return Instance(algorithm1.run, repaired if reading == "repaired" else printed, pair, facts=facts)


def second(reading: Reading) -> Instance:
    """Algorithm 2 on its worst pair."""
    return _on_phases(algorithm2, reading, _by_phase(worst_case.for_algorithm2, PHASED_N, 2, PLAN))


def third(variant: str, reading: Reading) -> Instance:
    """Algorithm 3: worst pair, or AUC maximisation on real data ("auc")."""
    real = variant == "auc"
    pair = worst_case.for_ranking(3 * MU) if real else worst_case.for_algorithm3(N, MU, 4 * MU)
    problem = pair.here
    lipschitz = problem.lipschitz if real and reading == "printed" else problem.loss.lipschitz  # Lemma 4.5
    printed = algorithm3.printed(problem, EPSILON, DELTA, solver=Exact(), lipschitz=lipschitz)
    repaired = algorithm3.repaired(problem, EPSILON, DELTA, solver=Exact(), lipschitz=lipschitz)
    x_std = repaired.noise.std("pair", repaired.sensitivity) / float(np.sqrt(repaired.mu_x))
    facts: Facts = {
        "n": problem.n,
        "mu_x": problem.strong_convexity,
        "mu_y": problem.strong_concavity,
        "L": lipschitz,
        "joint stability bound 2L/(n sqrt(mu))": 2 * lipschitz / (problem.n * np.sqrt(problem.modulus)),
        **_noise(printed.noise.std("x", printed.sensitivity), x_std),
    }
    others = () if real else (worst_case.for_algorithm3_apart(N, MU, 4 * MU),)
    return Instance(algorithm3.run, repaired if reading == "repaired" else printed, pair, facts=facts, others=others)


def half(block: str, reading: Reading) -> Instance:
    """Algorithm 4 ("x") or 5 ("y") on its worst pair, each with its half of the budget."""
    algorithm: Any = algorithm4 if block == "x" else algorithm5
    worst = worst_case.for_algorithm4 if block == "x" else worst_case.for_algorithm5
    return _on_phases(algorithm, reading, _by_phase(worst, PHASED_N, PLAN, MU), block, share=0.5, solver=Exact())


class _Games(BentGameSolver):
    """Solves the coupled games of the halves as well."""

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve to rounding."""
        return (super().__call__ if isinstance(problem.loss, BentGame) else Exact())(problem, target, rng)


def both(reading: Reading) -> Instance:
    """Algorithms 4 and 5 composed, on the pair that moves both; the others move one half in one phase."""
    pair, phase = worst_case.for_algorithms4and5(PHASED_N, PLAN, MU), worst_case.BOTH_PHASE
    printed = algorithms4and5.printed(pair.here, MU, EPSILON, DELTA, solver=_Games())
    repaired = algorithms4and5.repaired(pair.here, MU, EPSILON, DELTA, solver=_Games())
    stds = [s.noise.std(f"x/{phase}", s.x_half.sensitivities[phase - 1]) for s in (printed, repaired)]
    schedule = repaired if reading == "repaired" else printed
    halves = (worst_case.for_algorithm4, worst_case.for_algorithm5)
    others = tuple(one for half in halves for one in _by_phase(half, PHASED_N, PLAN, MU).values())
    return Instance(algorithms4and5.run, schedule, pair, facts=_phased(*stds), others=others)


def curved(variant: str, reading: Reading) -> Instance:
    """Section 4.3, with sigma_k as a standard deviation, or as the variance it is called ("as-variance")."""
    literal = variant == "as-variance"
    mu = 0.1 * MU if literal else MU  # a smaller mu makes sigma_k larger than 1
    pairs = _by_phase(worst_case.for_strongly_concave, PHASED_N, phases(PHASED_N, mu), 0.5)
    words: dict[str, Any] = {"phase": 1, "mu": mu, "as_printed": strongly_concave.as_variance} if literal else {}
    return _on_phases(strongly_concave, reading, pairs, solver=Exact(), **words)


def _on_phases(
    algorithm: Any, reading: Reading, pairs: dict[int, Pair[Any]], block: str = "x", *, phase: int = PHASE,
    mu: float = MU, share: float = 1.0, as_printed: Callable[..., Any] | None = None, **options: Any,
) -> Instance:  # fmt: skip
    """A phased algorithm on the pair of one phase, the others beside it; the repaired reading has a share of budget."""
    pair = pairs.pop(phase)
    printed = (as_printed or algorithm.printed)(pair.here, mu, EPSILON, DELTA, **options)
    repaired = algorithm.repaired(pair.here, mu, share * EPSILON, share * DELTA, **options)
    by_paper, exact = (s.noise.std(f"{block}/{phase}", s.sensitivities[phase - 1]) for s in (printed, repaired))
    schedule = repaired if reading == "repaired" else printed
    facts = _phased(by_paper, exact, mu)
    return Instance(algorithm.run, schedule, pair, facts=facts, others=tuple(pairs.values()))


def _by_phase(worst: Callable[..., Pair[Any]], *words: Any) -> dict[int, Pair[Any]]:
    """The worst pair of each phase; the plan of phases is among the words."""
    (plan,) = (word for word in words if isinstance(word, Phases))
    return {phase: worst(*words, phase) for phase in range(1, plan.count + 1)}


def _phased(printed: float, calibrated: float, mu: float = MU) -> Facts:
    return {"n": PHASED_N, "K": PLAN.count, "n_bar": PLAN.length, "mu": mu, **_noise(printed, calibrated)}


def _noise(printed: float, calibrated: float) -> Facts:
    """The paper's noise and the least that exact accounting asks for, at the target's phase."""
    return {
        "printed noise std": printed,
        "calibrated noise std": calibrated,
        "printed over calibrated": round(printed / calibrated, 3),
    }


WORST, PHASED, LAZY = (f"worst case, n = {n}" for n in (N, PHASED_N, LAZY_N))
REAL = f"breast cancer, first {worst_case.RECORDS} records, one replaced"
LINE_1, DATA_LINE_1 = Cite(PAPER, "Algorithm 1, line 1"), (algorithm1.DATA_L, algorithm1.UNPROJECTED)


class About(NamedTuple):
    """What the rows of an algorithm share, unless they say otherwise."""

    module: Any
    title: str
    place: str
    claim: str
    data: str = PHASED
    share: float = 1.0  # of the budget, that its claim is about


HALF = "Theorem 4.8 (half of the budget)"
ABOUT = (
    About(algorithm1, "Output perturbation, strongly convex", "Algorithm 1", "Theorem 3.4", WORST),
    About(algorithm2, "Phased output perturbation, convex", "Algorithm 2", "Theorem 3.7"),
    About(algorithm3, "Output perturbation, strongly-convex-strongly-concave", "Algorithm 3", "Theorem 4.4", WORST),
    About(algorithm4, "Phased output perturbation, convex-concave, primal half", "Algorithm 4", HALF, share=0.5),
    About(algorithm5, "Phased output perturbation, convex-concave, dual half", "Algorithm 5", HALF, share=0.5),
    About(algorithms4and5, "Algorithms 4 and 5 composed on one partition", "Algorithms 4 and 5", "Theorem 4.8"),
    About(strongly_concave, "Convex-strongly-concave variant of Algorithm 4", "Section 4.3", "Corollary 4.9"),
)
ALGORITHMS = {about.module.__name__.rpartition(".")[2]: about for about in ABOUT}


def _row(
    name: str,
    reading: Reading,
    build: Callable[[Reading], Instance],
    where: Callable[..., Space],
    *bounds: Any,
    budget: float = 1.0,
    **fields: Any,
) -> Case:
    """One row; `where` is made for the reading, this share of the budget, and `bounds`."""
    about = ALGORITHMS[name]
    kind, notes = ("completions", "COMPLETIONS") if reading == "printed" else ("repairs", "REPAIRS")
    shared = {
        "title": about.title,
        "cite": Cite(PAPER, about.place),
        "claim": PrivacyClaim(about.share * EPSILON, about.share * DELTA, Cite(PAPER, about.claim)),
        "data": about.data,
        "space": partial(where, reading, budget * EPSILON, budget * DELTA, *bounds),
        "quick": False,
        kind: getattr(about.module, notes),
    }
    return Case(**{"id": f"{PAPER}/{name}", "reading": reading, "build": partial(build, reading), **shared, **fields})


_lazy = partial(_row, "algorithm1", cite=LINE_1, data=LAZY)
_logistic = partial(
    _row, "algorithm1", variant="logistic", data=REAL, title="Output perturbation, logistic regression on real data"
)
_auc = partial(_row, "algorithm3", variant="auc", data=REAL, title="Output perturbation, AUC maximisation on real data")


CASES: tuple[Case, ...] = (
    _row("algorithm1", "printed", partial(first, ""), space.one_shot, MU, quick=True),
    _row("algorithm1", "repaired", partial(first, ""), space.one_shot, MU, quick=True),
    _lazy("printed", partial(first, "worst-solver"), space.lazy, MU, 1.0, variant="worst-solver",
          title="Output perturbation with the worst solver that line 1 allows",
          completions=(algorithm1.LOGS, *DATA_LINE_1)),
    _lazy("printed", partial(first, "early-stop"), space.lazy, MU, 10.0, variant="early-stop", quick=True,
          title="Output perturbation with a solver that stops early in silence",
          completions=(algorithm1.MISSED, *DATA_LINE_1),
          known="planted: the solver ends 10 L/(mu n) from the solution and says nothing; line 1 is not checked",
          declared=declare(Kind.VIOLATED, (Kind.SENSITIVITY_EXCEEDED, "output"))),
    _lazy("repaired", partial(first, "early-stop"), space.lazy, MU, 10.0, variant="early-stop",
          title="The same solver where its point is certified: one step of the certificate mends it",
          repairs=(*algorithm1.REPAIRS, algorithm1.DATA_L)),
    _logistic("printed", partial(first, "logistic"), space.logistic, MU, worst_case.RADIUS),
    _logistic("repaired", partial(first, "logistic"), space.logistic, MU, worst_case.RADIUS,
              repairs=(*algorithm1.REPAIRS, "L of the data part alone (Lemma 3.5)")),
    _row("algorithm2", "printed", second, space.phased, MU),
    _row("algorithm2", "repaired", second, space.phased, MU, quick=True),
    _row("algorithm3", "printed", partial(third, ""), space.saddle, MU, 4 * MU),
    _row("algorithm3", "repaired", partial(third, ""), space.saddle, MU, 4 * MU, quick=True),
    _auc("printed", partial(third, "auc"), space.auc, 3 * MU,
         completions=(algorithm1.LOGS, algorithm1.UNPROJECTED, algorithm3.FULL_L)),
    _auc("repaired", partial(third, "auc"), space.auc, 3 * MU, quick=True,
         repairs=(*algorithm3.REPAIRS, "L of the data part alone (Lemma 4.5)")),
    *(row for block, name in (("x", "algorithm4"), ("y", "algorithm5")) for row in (
        _row(name, "printed", partial(half, block), space.phased_game, MU, name),
        _row(name, "repaired", partial(half, block), space.phased_game, MU, name, budget=0.5),
    )),
    _row("algorithms4and5", "printed", both, space.phased_game, MU, "algorithms4and5"),
    _row("algorithms4and5", "repaired", both, space.phased_game, MU, "algorithms4and5"),
    _row("strongly_concave", "printed", partial(curved, ""), space.phased_game, MU, "strongly_concave"),
    _row("strongly_concave", "repaired", partial(curved, ""), space.phased_game, MU, "strongly_concave"),
    _row("strongly_concave", "printed", partial(curved, "as-variance"), space.literal_variance, 0.1 * MU,
         variant="as-variance", quick=True, title="Section 4.3 with the word variance at its word",
         completions=strongly_concave.LITERAL_COMPLETIONS,
         known="sigma_k is called a variance; taken so, the claim breaks where sigma_k is above 1.68",
         declared=declare(Kind.VIOLATED, Kind.OVER_BUDGET)),
)  # fmt: skip
