"""What every fragment must do: run, replay bit for bit, give an exact loss, be accounted, be audited."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.audit.results import SoundBound
from dpassay.reference.accounting.cost import account
from dpassay.reference.replay import ReplayTape
from dpassay.reference.tape import record

DELTA = 1e-3


@pytest.fixture
def examine():
    """Run the four readings of one fragment; returns them for the fragment's own assertions."""

    def run_all(run, pair, runs=80, seed=1):
        transcript = record(lambda tape: run(pair.here, tape), seed)
        tape = ReplayTape(transcript)
        assert tape.close(run(pair.here, tape)) == []  # replay on the same data is the same run, bit for bit
        found = account(transcript)
        bound, losses = audit_likelihood(LockstepSampler(run, pair, checks=10), DELTA, runs=runs, pilot=60, seed=seed)
        accounted = found.epsilon(DELTA)
        assert isinstance(bound, SoundBound), losses.inexact
        assert bound.epsilon <= accounted, "a lower bound above the upper bound: one of them is wrong"
        weight = np.exp(losses.log_weight(np.log([0.1, 0.9])))
        # E_R[W] = 1 if the weights are exact; they are at most 10, so this is within four standard errors
        assert abs(np.mean(weight) - 1) < 4 * np.std(weight) / np.sqrt(runs) + 0.05
        return SimpleNamespace(transcript=transcript, losses=losses, account=found, accounted=accounted, bound=bound)

    return run_all
