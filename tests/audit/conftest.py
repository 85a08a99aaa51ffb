"""What tests of several rooms share."""

import pytest

from dpassay.audit.running import store
from dpassay.audit.scores import power


@pytest.fixture(scope="session", autouse=True)
def _no_power_cut():
    """Stores do not wait for the disk: what a kill leaves is the same, and only a power cut could tell."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_SYNC", False)
        yield


@pytest.fixture
def brief_power(monkeypatch):
    """Two simulated samples in place of forty beside an inconclusive verdict: for tests of something else."""
    monkeypatch.setattr(power, "REPETITIONS", 2)
