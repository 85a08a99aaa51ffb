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
KEYS = Effort(runs=50, pilot=50, examples=10)


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


def counted(rows, rng):
    keys, counts = np.unique(np.sign(rows[:, 0]), return_counts=True)
    return [(float(key), count + rng.laplace(scale=2.0)) for key, count in zip(keys, counts, strict=True)]


def histogram(rows, rng):
    """Right (Korolova et al. 2009): how many keys there are is private, and those that are rare are not told."""
    return {key: noisy for key, noisy in counted(rows, rng) if noisy > 1 + 2 * np.log(2e5)}


def its_keys(rows, rng):
    return [key for key, noisy in counted(rows, rng) if noisy > 1 + 2 * np.log(2e5)]


def every_key(rows, rng):
    return [key for key, noisy in counted(rows, rng) if noisy > -50]


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("right", "why"), [(histogram, "comparison told a part"), (its_keys, "drawn more often for one")]
)
def test_keys_that_are_counted_and_not_told_accuse_nobody(right, why):
    with pytest.raises(NotUnderstood, match=rf"test_thrown_away.py:\d+.*{why}.*dpassay blackbox"):
        assay(right, Space.matrix(n=(2,), d=(1,)), PrivacyClaim(1.0, 1e-5), effort=KEYS)


def test_keys_that_are_told_whatever_their_count_accuse():
    assert assay(every_key, Space.matrix(n=(2,), d=(1,)), PrivacyClaim(1.0, 1e-5), effort=KEYS).verdict.failed


@pytest.mark.slow  # runs are long: rejected values are searched for that are never accepted
def test_noise_kept_to_an_interval_is_not_accused_and_not_passed():
    with pytest.raises(NotUnderstood, match=r"resampled.py:\d+.*drawn and thrown away.*dpassay blackbox"):
        assay(r.in_range, SMALL, PrivacyClaim(3.0, 1e-5), effort=QUICK)


@pytest.mark.slow
def test_what_is_seen_breaks_the_claim_by_itself():
    found = assay(r.in_range, SMALL, PrivacyClaim(0.5, 1e-5), effort=QUICK)
    assert found.verdict.failed
    assert assay(r.in_range_with_attempts, SMALL, PrivacyClaim(3.0, 1e-5), effort=QUICK).verdict.failed
