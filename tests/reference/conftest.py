"""What a row of the catalogue must show on its own pair, whatever the paper."""

import math

import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.findings import Kind


@pytest.fixture
def is_as_declared():
    """Repaired or baseline: within the claim, no finding. Printed with a known defect: over the claim, or a finding."""

    def judge(case):
        instance = case.build()
        spent = instance.accounted().epsilon(case.claim.delta)
        result = lockstep(instance.mechanism, instance.pair, [0])
        if case.reading in ("repaired", "baseline"):
            assert spent <= case.claim.epsilon
            assert not result.findings and result.complete
            assert case.repairs or case.reading == "baseline"
        elif case.known:
            assert spent > case.claim.epsilon or result.findings
        else:
            assert not result.findings
        assert case.completions
        assert not result.inexact

    return judge


@pytest.fixture
def is_bare():
    """A release without noise is found under its label, and nothing bounds what it shows."""

    def judge(case, label):
        instance = case.build()
        account = instance.accounted()
        assert account.epsilon(1e-5) == math.inf and label in account.gap
        results = [lockstep(instance.mechanism, instance.pair, [seed]) for seed in range(8)]
        shown = [
            result.loss == math.inf
            for result in results
            for finding in result.findings
            if finding.kind is Kind.BARE_RELEASE and finding.label == label
        ]
        assert shown and all(shown)  # not in every run: a refresh may have dropped the record before

    return judge
