"""The bound that may be looked at after every block: it holds at all looks together, and it grows."""

import numpy as np
import pytest

from dpassay.audit.evidence.sequence import STEPS, EpsilonSequence
from dpassay.reference.errors import BadInput


def test_it_grows_with_the_data_and_says_how_much_it_saw():
    rng, sequence, bounds = np.random.default_rng(0), EpsilonSequence(1e-5), []
    for _ in range(10):
        bound = sequence.update(rng.normal(size=2000), rng.normal(1.5, 1, 2000), rng)
        bounds.append(bound.epsilon)
    assert bounds == sorted(bounds) and bounds[-1] > bounds[0] > 0
    assert bounds[-1] > 2.0 and bound.runs == 40_000 and bound.evidence["blocks"] == 10


@pytest.mark.parametrize("sizes", [(2000, 100), (100, 2000)])
def test_blocks_of_unequal_sides(sizes):
    rng, sequence = np.random.default_rng(1), EpsilonSequence(0.0)
    for _ in range(5):
        sequence.update(rng.normal(size=sizes[0]), rng.normal(3, 1, sizes[1]), rng)
    assert sequence.epsilon > 2


def test_bad_input():
    with pytest.raises(BadInput, match="delta"):
        EpsilonSequence(1.0)
    with pytest.raises(BadInput, match="scores_p"):
        EpsilonSequence(0.0).update([], [1.0], np.random.default_rng(0))


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_what_refutes_is_a_wealth_of_one_over_the_level(confidence):
    """Ville's inequality asks for 1 / (1 - confidence), for every epsilon up to the bound."""
    sequence, enough = EpsilonSequence(1e-5, confidence), -np.log(1 - confidence)
    sequence.peaks[:4] = [enough + 1e-9, enough + 1e-9, enough - 1e-9, enough + 1e-9]
    assert sequence.epsilon == STEPS[1]
    sequence.peaks[0] = enough - 1e-9
    assert sequence.epsilon == 0.0
