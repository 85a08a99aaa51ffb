"""The rows of the audit table: order of claimed, accounted, realised; planted and literal defects are seen."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.reference.gdp import gdp_epsilon
from dpassay.reference.lockstep import lockstep
from dpassay.reference.output_perturbation.cases import CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_each_row_is_ordered_or_known_to_be_broken(case):
    """Exact, no statistics: realised is the closed form of the pair's own Gaussian shift."""
    instance = case.build()
    seen = lockstep(instance.run, instance.pair, (1,))
    stds = {release.label: release.law.std for release in instance.longest_transcript().releases}
    mu = np.sqrt(sum((movement.moved / stds[label]) ** 2 for label, movement in seen.movements.items()))
    realised, accounted = gdp_epsilon(mu, case.claim.delta), instance.accounted().epsilon(case.claim.delta)
    if case.known:
        assert realised > 1.5 * case.claim.epsilon
        return
    assert not seen.findings
    assert realised <= accounted * (1 + 1e-9)
    assert accounted <= case.claim.epsilon * (1 + 1e-9)
    if case.reading == "repaired":
        assert accounted > 0.99 * case.claim.epsilon
    if case.reading == "repaired" and "worst case" in case.data:
        assert realised > (0.96 if "4and5" in case.id else 0.97) * case.claim.epsilon
    if case.variant == "worst-solver":  # all that the printed sensitivity allows is attained
        assert realised > 0.999 * accounted


def test_quick_rows_are_few():
    assert sum(case.quick for case in CASES) == 7
