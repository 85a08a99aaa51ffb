"""The rows of the audit table: findings where a defect is known, none elsewhere, accounted at most claimed."""

import pytest

from dpassay.reference.lockstep import lockstep
from dpassay.reference.second_order_erm.cases import CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_findings_and_accounting_agree_with_what_is_known(case):
    instance = case.build()
    found = [lockstep(instance.run, instance.pair, [7, k]).findings for k in range(3 if case.quick else 1)]
    assert all(bool(one) == bool(case.known) for one in found)
    if case.reading == "repaired":
        assert instance.accounted().epsilon(case.claim.delta) <= case.claim.epsilon


def test_the_leak_costs_what_the_closed_form_says():
    """On the edge pair: 2 Phi((f(w0; D') - f(w0; D)) / (Delta_f sigma_f)) - 1, thousands of times the claimed delta."""
    case = next(case for case in CASES if case.key == "second_order_erm/opt@printed")
    facts = case.build().facts
    pair, worst = facts["delta of eq. (6), this pair, any epsilon"], facts["delta of eq. (6), any pair"]
    assert 0.9 * worst < pair < worst
    assert pair > 5_000 * case.claim.delta
