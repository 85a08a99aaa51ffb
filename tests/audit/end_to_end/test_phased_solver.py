"""Fragment (e), output_perturbation Algorithm 2: phases on disjoint blocks, a solver with inner randomness that stops
when it is accurate enough (an uncertain stopping time, never released)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.results import AssumedEstimate
from dpassay.reference.neighbours import Pair


@dataclass(frozen=True)
class Data:
    """f(x; a) = (x - a)^2 / 2 with |a| <= 1."""

    a: np.ndarray


PHASES, MU, STD = 3, 1.0, 1.5


def solve(tape, a, centre, mu, tolerance):
    """SAGA on mean (x - a_i)^2 / 2 + mu (x - centre)^2 / 2, until the gradient certifies the distance."""
    x, table = centre, centre - a
    while abs(np.mean(x - a) + mu * (x - centre)) > tolerance * (1 + mu):
        i = tape.secret("solver/index", lambda rng: int(rng.integers(len(a))))
        g = (x - a[i]) - table[i] + table.mean() + mu * (x - centre)
        table[i] = x - a[i]
        x = x - 0.3 / mu * g
    return x


def run(problem, tape, tolerance=1e-11):
    n, x = len(problem.a), 0.0
    block = n // PHASES
    for k in range(1, PHASES + 1):
        mu = MU * 2**k
        batch = tape.fresh(f"block/{k}", n, block, order="index")
        x = solve(tape, problem.a[batch.indices], x, mu, tolerance)
        stability = 2 / (block * (1 + mu))
        x = tape.gaussian(f"x/{k}", x, std=STD * stability, sensitivity=stability, batch=batch)
    return x


@pytest.fixture
def pair():
    a = np.full(9, -1.0)
    here = a.copy()
    here[4] = 1.0
    return Pair(Data(here), Data(a), 4)


def test_a_solver_that_stops_too_early_cannot_decide(pair):
    """What it returns then depends on its inner randomness: the likelihood is a stronger adversary's, and labelled."""
    bound, losses = audit_likelihood(
        LockstepSampler(lambda problem, tape: run(problem, tape, 1e-2), pair), 1e-3, runs=20, pilot=50
    )
    assert isinstance(bound, AssumedEstimate)
    assert "inner randomness" in losses.inexact
