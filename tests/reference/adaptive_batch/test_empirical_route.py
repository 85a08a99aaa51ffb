"""The route of Appendix C of adaptive_batch, and the reproduction's report."""

from dataclasses import replace

import numpy as np
import pytest

from dpassay.reference.accounting.cost import account
from dpassay.reference.adaptive_batch.empirical_route import calibrated, run
from dpassay.reference.adaptive_batch.theorems import Constants
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.saddles import ChainOfSaddles, sample_landscape
from dpassay.reference.tape import LiveTape


def test_empirical_route_finds_the_end_of_the_chain_within_budget():
    problem = sample_landscape(ChainOfSaddles(2), 3000, np.random.default_rng(0), 0.1, 0.05)
    c = Constants(3000, 2, 1.0, 1e-5, *problem.constants, initial_gap=3.0)
    s = calibrated(c, steps=200)
    tape = LiveTape(0)
    result = run(problem, s, tape)
    assert account(tape.transcript).epsilon(1e-5) == pytest.approx(1.0, rel=3e-6)
    assert problem.value(result.x) < -1.9
    with pytest.raises(BadInput, match="Appendix C says nothing"):
        calibrated(replace(c, n=2, epsilon=0.01))
