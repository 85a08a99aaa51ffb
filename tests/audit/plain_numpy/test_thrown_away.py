"""What code draws and throws away is no release that an accusation may rest on."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit import Effort, assay, on_tape
from dpassay.audit.plain_numpy.habits import Habits
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.audit.plain_numpy.thrown_away import recorded, thrown_away
from dpassay.reference import PrivacyClaim
from dpassay.reference.space import Space

_spec = importlib.util.spec_from_file_location("resampled", Path(__file__).with_name("resampled.py"))
r = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(r)
SMALL = Space.matrix(n=(1, 2), d=(1,))
QUICK = Effort(runs=100, pilot=100, examples=20)


def rejected(mechanism):
    """A run in which something was turned down, and how much of it is thrown away."""
    run = PlainMechanism(mechanism, Habits(prompt=True, read=True))
    transcripts = (recorded(run, np.ones((2, 1)), seed) for seed in range(100))
    found = next(one for one in transcripts if len(one.releases) > 2)
    return found, thrown_away(run, np.ones((2, 1)), found)


def test_what_is_turned_down_is_thrown_away():
    transcript, unseen = rejected(r.in_range)
    assert unseen == transcript.releases[:-1]


def test_what_is_counted_is_seen():
    assert rejected(r.in_range_with_attempts)[1] == []


def test_an_answer_that_is_told_is_seen():
    run = on_tape(lambda rows, rng: bool(rows.sum() + rng.laplace() > 0)).tried([])
    assert thrown_away(run, np.ones((2, 1)), recorded(run, np.ones((2, 1)), 0)) == []


@pytest.mark.slow  # runs are long: rejected values are searched for that are never accepted
def test_noise_kept_to_an_interval_is_not_accused_and_not_passed():
    with pytest.raises(NotUnderstood, match=r"resampled.py:\d+.*drawn and thrown away.*dpassay blackbox"):
        assay(r.in_range, SMALL, PrivacyClaim(3.0, 1e-5), effort=QUICK)


@pytest.mark.slow
def test_what_is_seen_breaks_the_claim_by_itself():
    found = assay(r.in_range, SMALL, PrivacyClaim(0.5, 1e-5), effort=QUICK)
    assert found.verdict.failed
    assert assay(r.in_range_with_attempts, SMALL, PrivacyClaim(3.0, 1e-5), effort=QUICK).verdict.failed
