"""Plain code whose reading shows more than anybody sees: noise that is used again, answers as rare as delta."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.audit import Effort, assay
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.plain_numpy.places import NotUnderstood
from dpassay.audit.plain_numpy.reused import MANY, judged_where_noise_is_reused
from dpassay.reference import Pair, PrivacyClaim
from dpassay.reference.findings import Finding, Kind
from dpassay.reference.tape import LiveTape

DELTA = 1e-5
CLAIM = PrivacyClaim(1.0, DELTA)
QUICK = Effort(runs=100, pilot=100, examples=20)
PAIR = Pair(np.array([[0.5], [0.5]]), np.array([[-0.5], [0.5]]), 0)


def descent(rows, rng, steps=3, sigma=8.0):
    """Descent on a perturbed objective: the same noise in every gradient."""
    noise, point, seen = rng.normal(scale=sigma, size=rows.shape[1]), np.zeros(rows.shape[1]), []
    for _ in range(steps):
        point = point - 0.2 * (np.tanh(point - rows).sum(axis=0) + point + noise)
        seen.append(point)
    return seen


def last_point(rows, rng):
    return descent(rows, rng)[-1]


def last_point_of_little_noise(rows, rng):
    return descent(rows, rng, sigma=0.1)[-1]


def all_points(rows, rng):
    return descent(rows, rng)


def minimiser(rows, rng):
    return descent(rows, rng, steps=MANY + 1)[-1]


def last_point_and_a_count(rows, rng):
    return descent(rows, rng)[-1], int((rows > 0).sum())


def test_noise_that_is_used_again_unseen_accuses_nobody():
    said = r"test_reused_and_unlikely.py:\d+.*more than once.*10,000 outputs refute nothing.*add noise to the minimiser"
    with pytest.raises(NotUnderstood, match=said):
        assay(last_point, PAIR, CLAIM, effort=QUICK)


def test_a_minimiser_is_refused_before_it_is_run_thousands_of_times():
    with pytest.raises(
        NotUnderstood, match=f"is added to data {MANY + 1} times in one run.*add noise to the minimiser"
    ):
        assay(minimiser, PAIR, CLAIM, effort=QUICK)


@pytest.mark.some(1)
@pytest.mark.parametrize("mechanism", [last_point_of_little_noise, all_points, last_point_and_a_count])
def test_noise_that_is_used_again_hides_no_fault(mechanism):
    assert assay(mechanism, PAIR, CLAIM, effort=QUICK).verdict.failed


def test_what_else_leaks_or_nothing_is_not_judged_by_outputs():
    run, other = PlainMechanism(last_point), Finding(Kind.CALL, "elsewhere", 0, "differs")
    run(PAIR.here, LiveTape(0))
    assert run.reused
    for findings in ([], [other]):
        assert judged_where_noise_is_reused(run, findings, [PAIR], CLAIM, QUICK) is None


def mode(rows, rng, delta=DELTA):
    """The majority, if a noisy lead is large enough: with one record more or less it passes with probability delta."""
    positive = int((rows > 0).sum())
    lead = abs(2 * positive - len(rows)) / 2
    if lead + rng.laplace() > 1 + math.log(1 / (2 * delta)):
        return positive * 2 > len(rows)
    return None


def mode_of_too_low_a_threshold(rows, rng):
    return mode(rows, rng, 1e-2)


def mode_tried_often(rows, rng):
    """Each try passes with less than delta, all of them together with more."""
    return [mode(rows, rng) for _ in range(8)]


ONE = Pair(np.array([[0.5]]), np.array([[-0.5]]), 0)


def test_what_follows_an_answer_as_rare_as_delta_accuses_nobody():
    found = assay(mode, ONE, CLAIM, effort=QUICK)
    assert not found.verdict.failed and "delta covers it" in found.why


@pytest.mark.more
def test_what_follows_a_rare_answer_that_is_more_probable_than_delta_does():
    assert assay(mode_of_too_low_a_threshold, ONE, CLAIM, effort=QUICK).verdict.failed


@pytest.mark.more
def test_where_rare_answers_add_up_to_more_than_delta_nothing_is_said():
    with pytest.raises(NotUnderstood, match=r"add up to .* in one run, more than delta"):
        assay(mode_tried_often, ONE, PrivacyClaim(20.0, DELTA), effort=QUICK)
