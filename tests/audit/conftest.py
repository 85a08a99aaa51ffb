"""What tests of several rooms share."""

import pytest

from dpassay.audit.scores import power


@pytest.fixture
def brief_power(monkeypatch):
    """Two simulated samples in place of forty beside an inconclusive verdict: for tests of something else."""
    monkeypatch.setattr(power, "REPETITIONS", 2)
