"""Laws of known epsilon and one repetition of each measurement for `coverage_likelihood.py`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import coverage
import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import norm

from dpassay.audit.likelihood.bound import audit_likelihood, walk
from dpassay.audit.likelihood.pilot import make_plan
from dpassay.audit.likelihood.samplers import GaussianSampler, Sampler
from dpassay.audit.lockstep.tilting import Tilt
from dpassay.audit.sequential.processes import CurveProcess, MeanProcess, hockey_stick, until_refuted
from dpassay.audit.zoo import finite_laws as known
from dpassay.audit.zoo.laws import mixture_epsilon
from dpassay.reference.accounting.gdp import gdp_epsilon

DELTA, LEVEL, PILOT = 1e-5, 0.05, 400
SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
DRAWN = 10_000  # continuous laws are drawn run by run up to here
RATE, MU = 0.1, 2.0
CHUNK = 50_000  # runs of the sequential process at a time
STRIDE = 50  # and between two looks at what a bet could reach
DEAD = -25.0  # a bet with less log wealth comes back with probability below 1e-12: it is dropped


@dataclass(frozen=True)
class Law:
    """A pair of known epsilon: drawn run by run, as counts, or both."""

    name: str
    drawn: tuple[Sampler, float] | None = None  # and its epsilon at DELTA
    counted: known.FiniteSampler | None = None
    largest: int = SIZES[-1]

    def at(self, n: int) -> tuple[Sampler, float]:
        """What stands for the law with n runs, and its epsilon."""
        if self.drawn and (n <= DRAWN or not self.counted):
            return self.drawn
        assert self.counted
        return self.counted, self.counted.epsilon(DELTA)


class Misled:
    """A sampler that does the contrary of what the pilot asks for: every tilt is turned round."""

    def __init__(self, inner: Sampler):
        self._inner, self.has_hidden = inner, inner.has_hidden

    def swapped(self) -> Misled:
        return Misled(self._inner.swapped())

    def sample(self, tilts, shares, count, seed):
        return self._inner.sample([Tilt(-tilt.shift, -tilt.odds) for tilt in tilts], shares, count, seed)


def deaf(here: np.ndarray, there: np.ndarray) -> known.FiniteSampler:
    """A sampler that no tilt can reach."""
    return known.FiniteSampler(here, there, lambda tilt: here, lambda tilt: there)


def sampled_epsilon() -> float:
    """One sampled step: closed form with the target on D, numerical integral in the other direction."""

    def back(epsilon: float) -> float:
        def gap(x: float) -> float:
            mixed = (1 - RATE) * norm.pdf(x) + RATE * norm.pdf(x - MU)
            return max(0.0, float(norm.pdf(x) - math.exp(epsilon) * mixed))

        return float(quad(gap, -10, 1, epsabs=1e-12, limit=400)[0]) - DELTA

    other = float(brentq(back, 0.0, 1.0)) if back(0.0) > 0 else 0.0
    return max(mixture_epsilon(RATE, MU, DELTA), other)


def composed_epsilon(rate: float, mu: float, steps: int) -> float:
    """From below: the optimistic privacy loss distribution, so that no false claim hides in its grid."""
    grid = {"value_discretization_interval": 1e-4, "pessimistic_estimate": False, "use_connect_dots": False}
    one = pld.from_gaussian_mechanism(1 / mu, sampling_prob=rate, **grid)
    return float(one.self_compose(steps).get_epsilon_for_delta(DELTA))


@lru_cache(maxsize=1)
def laws() -> dict[str, Law]:
    """The five laws of the issue, two nulls at the boundary, and laws made to tempt the bets."""
    coin = (np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    edge = 2 * norm.ppf(0.5 + DELTA / 2)  # N(mu, 1) against N(0, 1) with delta(0) = DELTA
    rare = known.branches((1e-4, 1 - 1e-4), (known.response(8.0), known.response(0.5)))
    faint = known.branches((1.05e-5, 1 - 1.05e-5), (known.response(12.0), known.response(0.5)))
    below = known.branches((0.9e-5, 1 - 0.9e-5), (known.revealing(), known.response(1.0)))
    exactly = known.branches((DELTA, 1 - DELTA), (known.revealing(), coin))
    steps = (0.1, 1.0, 20)
    found = (
        Law("null", counted=known.FiniteSampler(*coin)),
        Law("randomised response", counted=known.FiniteSampler(*known.response(1.0))),
        Law("Laplace", (known.LaplaceSampler(1.0), 1 + 2 * math.log1p(-DELTA)), known.rounded_laplace(1.0)),
        Law("Gaussian", (GaussianSampler(1.0), gdp_epsilon(1.0, DELTA)), known.rounded_gaussian(1.0)),
        Law(
            "sampled Gaussian",
            (known.SampledGaussianSampler(RATE, MU, 1), sampled_epsilon()),
            known.rounded_sampled_gaussian(RATE, MU),
        ),
        Law("20 sampled steps", (known.SampledGaussianSampler(*steps), composed_epsilon(*steps)), largest=SIZES[1]),
        Law("Gaussian, delta(0) = delta", (GaussianSampler(edge), 0.0), known.rounded_gaussian(edge)),
        Law("reveals with probability delta, untilted", counted=deaf(*exactly)),
        Law("response, reveals with 0.9 delta", counted=known.FiniteSampler(*below)),
        Law("branch of 1e-4 at epsilon 8", counted=known.FiniteSampler(*rare)),
        Law("branch of 1e-4 at epsilon 8, untilted", counted=deaf(*rare)),
        Law("branch of 1.05 delta at epsilon 12", counted=known.FiniteSampler(*faint)),
        Law("Gaussian, tilts turned round", (Misled(GaussianSampler(1.0)), gdp_epsilon(1.0, DELTA)), largest=DRAWN),
    )
    return {law.name: law for law in found}


# -- one repetition -------------------------------------------------------------------------------------------
def bound(law: Law, n: int, seed: int) -> float:
    """The likelihood audit; of counts by the same plan and the same walk."""
    sampler, _ = law.at(n)
    if not isinstance(sampler, known.FiniteSampler):
        return audit_likelihood(sampler, DELTA, confidence=1 - LEVEL, runs=n, pilot=PILOT, seed=seed)[0].epsilon
    plan, _ = make_plan(sampler, DELTA, LEVEL, n, PILOT, seed)
    final = sampler.swapped() if plan.swapped else sampler
    losses, counts = final.merged(plan.tilts, plan.shares, n, (seed, 2))
    return walk(losses, plan, DELTA, LEVEL, counts)


@dataclass(frozen=True)
class Drawing:
    """Values of the sequential process under the plan of one pilot, as `dpassay sequential algorithm` makes them."""

    law: Law
    n: int

    def values(self, epsilon: float, count: int, seed: tuple[int, ...]) -> np.ndarray:
        """W (1 - exp(epsilon - L))_+ of fresh runs."""
        plan, final = plan_of(self.law.name, self.n)
        losses = final.sample(plan.tilts, plan.shares, count, seed)
        return hockey_stick(losses.loss, losses.log_weight(np.log(plan.shares)), epsilon)


@lru_cache(maxsize=4)
def plan_of(name: str, n: int):
    """A pilot of fixed seed, and the sampler in its direction."""
    sampler, _ = laws()[name].at(n)
    plan, _ = make_plan(sampler, DELTA, LEVEL, 1000, PILOT, 0)
    return plan, sampler.swapped() if plan.swapped else sampler


def largest_wealth(law: Law, n: int, seed: int) -> float:
    """Largest log wealth of the process on the exact claim, looked at after every run."""
    truth = law.at(n)[1]
    if n <= DRAWN:
        process = MeanProcess.of_losses(truth, DELTA)
        process.update(Drawing(law, n).values(truth, n, (seed, 41)))
        return process.best
    plan, final = plan_of(law.name, n)
    tables = final.table(plan.tilts, plan.shares)
    values = hockey_stick(tables[0].loss, tables[0].log_weight(np.log(plan.shares)), truth)
    return wealth_of_outcomes(values, tables[1], n, np.random.default_rng([seed, 43]))


def in_chunks(law: np.ndarray, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """n outcomes in random order, in chunks that grow: counts of the outcomes, then a permutation."""
    done, size = 0, 1000
    while done < n:
        size = min(2 * size, CHUNK, n - done)
        yield rng.permutation(np.repeat(np.arange(law.size), rng.multinomial(size, law)))
        done += size


def wealth_of_outcomes(values: np.ndarray, law: np.ndarray, n: int, rng: np.random.Generator) -> float:
    """`MeanProcess.best` after n runs (a multiple of STRIDE) with finitely many outcomes, if it refutes; else less.

    The mixture is at most its best bet, and a bet gains at most its largest step a run: the path is followed run by run
    only in chunks in which a bet could reach 1 / LEVEL.
    """
    process = MeanProcess.of_losses(0.0, DELTA)
    steps = np.log1p(process.bets[:, None] * (values / DELTA - 1))
    wealth, best = np.zeros(process.bets.size), 0.0
    for outcomes in in_chunks(law, n, rng):
        gains = steps[:, outcomes]
        strides = np.cumsum(gains.reshape(wealth.size, -1, STRIDE).sum(axis=2), axis=1)
        highest = np.maximum(0.0, strides[:, :-1].max(axis=1, initial=0.0)) + STRIDE * steps.max(axis=1)
        if np.any(wealth + highest >= -math.log(LEVEL)):
            path = wealth[:, None] + np.cumsum(gains, axis=1)
            best = max(best, float(logsumexp(path, axis=0).max() - math.log(process.bets.size)))
        wealth = wealth + strides[:, -1]
        steps, wealth = steps[wealth > DEAD], wealth[wealth > DEAD]
        if not wealth.size:
            break
    return best


def check_paths(repetitions: int = 150, n: int = 5000) -> None:
    """Short cuts of `wealth_of_outcomes` against the process itself on the same outcomes; raises if they differ."""
    law, values = np.array([0.5, 0.2, 0.2, 0.1]), np.array([0.0, 0.5, 1.2, 4.0])
    values *= DELTA / (values @ law)
    crossed = 0
    for k in range(repetitions):
        found = wealth_of_outcomes(values, law, n, np.random.default_rng(k))
        process = MeanProcess.of_losses(0.0, DELTA)
        process.update(values[np.concatenate(list(in_chunks(law, n, np.random.default_rng(k))))])
        if process.best >= -math.log(LEVEL):
            crossed += 1
            assert abs(found - process.best) < 1e-6, (k, found, process.best)
        else:
            assert found < -math.log(LEVEL), (k, found, process.best)
    assert crossed > 0, "no path refuted anything: nothing was checked"


def runs_to_refute(law: Law, n: int, seed: int) -> float:
    """Runs until a claim 5 % too small falls, looked at after every eighth run; infinite if n are not enough."""
    claim, block = 0.95 * law.at(n)[1], 0

    def draw(count: int) -> np.ndarray:
        nonlocal block
        block += 1
        return Drawing(law, n).values(claim, count, (seed, 47, block))

    process = MeanProcess.of_losses(claim, DELTA)
    result = until_refuted(process, draw, n, 1 - LEVEL, block=8)
    return float(result.runs) if process.best >= -math.log(LEVEL) else math.inf


@lru_cache(maxsize=1)
def score_laws() -> dict[str, coverage.Law]:
    """Scores with exact curves, as for the bounds of scores."""
    return {law.name: law for law in coverage.laws()}


def largest_curve_wealth(name: str, n: int, seed: int) -> float:
    """Largest log wealth of the sequential curve test on the exact curve: n scores a side in four blocks."""
    law, rng = score_laws()[name], np.random.default_rng([n, seed, 53])
    process = CurveProcess(law.claim.name)
    for _ in range(4):
        process.update(*law.draw(rng, n // 4), law.claim, rng)
    return process.best
